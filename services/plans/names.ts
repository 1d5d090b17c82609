/**
 * Names, labels and keys of the objects Swiss keeps in the cluster (contract, section 1). They are exact:
 * clusters that already carry them must work unchanged.
 */
import { createHash } from 'node:crypto'

export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by'
export const MANAGED_BY = 'swiss'
/** Carried by a plan while its release is being uninstalled. */
export const PHASE_LABEL = 'swiss.modelsphere.dev/phase'
export const UNINSTALLING = 'uninstalling'
/** Carried by the ConfigMap that marks an uninstall beside the plan. */
export const TRACKING_LABEL = 'swiss.modelsphere.dev/tracking'
export const TRACKING_UNINSTALL = 'uninstall'

export const MANAGED_BY_SELECTOR = `${MANAGED_BY_LABEL}=${MANAGED_BY}`
export const PHASE_SELECTOR = `${PHASE_LABEL}=${UNINSTALLING}`
export const TRACKING_SELECTOR = `${TRACKING_LABEL}=${TRACKING_UNINSTALL}`

/** `metadata.name` of most kinds is a DNS subdomain of at most this many characters. */
export const MAX_NAME = 253
/** A label value has at most this many characters. */
export const MAX_LABEL = 63

const PLAN_PREFIX = 'swiss-plan-'
const AUTOSCALE_PREFIX = 'swiss-autoscale-'
const LOCK_PREFIX = 'swiss-lock-'
const MARK_PREFIX = 'swiss-uninstall-'
const ARCHIVE_PREFIX = 'swiss.plan.v1.'

/** The ConfigMap that holds a release's plan. */
export const planName = (release: string): string => boundedName(PLAN_PREFIX + release)
/** The ConfigMap that holds its autoscaling policy and last decision. */
export const autoscaleName = (release: string): string => boundedName(AUTOSCALE_PREFIX + release)
/** The Lease that is its lock. */
export const lockName = (release: string): string => boundedName(LOCK_PREFIX + release)
/** The ConfigMap that marks an uninstall which no plan can carry. */
export const markName = (release: string): string => boundedName(MARK_PREFIX + release)
/** The Secret that keeps the plan of one revision. */
export const archiveName = (release: string, revision: number | string): string =>
  boundedName(`${ARCHIVE_PREFIX}${release}.v${revision}`)

/**
 * The release in a plan's name; null when the object is no plan. A name that had to be cut does not tell:
 * then the content does (`trimPlan`).
 */
export const releaseOfPlan = (name: string): string | null => rest(name, PLAN_PREFIX)
/** The release in a mark's name; null when it is no mark. See `releaseOfPlan` for names that were cut. */
export const releaseOfMark = (name: string): string | null => rest(name, MARK_PREFIX)
/** The release in a lock's name; null when it is no release's lock. See `releaseOfPlan` for names that were cut. */
export const releaseOfLock = (name: string): string | null => rest(name, LOCK_PREFIX)
/** The release in an autoscale ConfigMap's name; null when it is none. One that had to be cut does not tell. */
export const releaseOfAutoscale = (name: string): string | null => rest(name, AUTOSCALE_PREFIX)
/** True when the name of an object may have been cut, so that its content has the last word. */
export const mayBeCut = (name: string): boolean => name.length === MAX_NAME

function rest(name: string, prefix: string): string | null {
  return name.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length) : null
}

/** The name as it is, or cut to 253 characters and ending in `-` and 8 hex digits of its SHA-256. */
export const boundedName = (name: string): string => bounded(name, MAX_NAME)

/** The label value as it is, or cut to 63 characters and ending in `-` and 8 hex digits of its SHA-256. */
export const boundedLabel = (value: string): string => bounded(value, MAX_LABEL)

/** Two long texts with the same start stay different. */
function bounded(text: string, limit: number): string {
  if (text.length <= limit) return text
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  // `a.-1234` would be no DNS subdomain: no part of one begins with a dash.
  const head = text.slice(0, limit - hash.length - 1).replace(/\.(-*)$/, '-$1')
  return `${head}-${hash}`
}
