/** helm's own storage, read only: one Secret per revision of a release (contract, 1.4). */
import type { KubeObject } from '../cluster/kinds.ts'

/** A revision in helm's storage, as far as its labels tell. */
export interface HelmRecord {
  namespace: string
  release: string
  revision: number
  /** As helm labels it: `deployed`, `failed`, `pending-upgrade`, `uninstalling`, `superseded` … */
  status: string
  uid: string
  /** RFC 3339 in UTC; null when no label says it. */
  modifiedAt: string | null
}

export interface HelmState {
  /** The newest record says something other than `uninstalled`. */
  exists: boolean
  newest: HelmRecord | null
  records: readonly HelmRecord[]
}

/** The name of the Secret that holds a revision. */
export const recordName = (release: string, revision: number): string =>
  `sh.helm.release.v1.${release}.v${revision}`

/** Trims the metadata of a Secret; null when it is no record of helm's. */
export function trimHelmRecord(raw: KubeObject): HelmRecord | null {
  const { name, namespace, uid, labels, creationTimestamp } = raw.metadata
  const release = labels?.name
  const version = labels?.version ?? ''
  if (labels?.owner !== 'helm' || !release || namespace === undefined) return null
  if (!/^[1-9]\d{0,8}$/.test(version)) return null
  const revision = Number(version)
  // Anybody may put those labels on a Secret; the name is helm's own key.
  if (name !== recordName(release, revision)) return null
  const modifiedAt = unixTime(labels.modifiedAt) ?? unixTime(labels.createdAt) ?? creationTimestamp ?? null
  return { namespace, release, revision, status: labels.status ?? 'unknown', uid, modifiedAt }
}

/** The record of the highest revision; null when there is none. */
export function newest(records: readonly HelmRecord[]): HelmRecord | null {
  let found: HelmRecord | null = null
  for (const record of records) if (found === null || record.revision > found.revision) found = record
  return found
}

/** Whether helm has a release, of which these are all records. */
export function helmState(records: readonly HelmRecord[]): HelmState {
  const record = newest(records)
  return { exists: record !== null && record.status !== 'uninstalled', newest: record, records }
}

/** helm labels its records with seconds since the epoch. */
function unixTime(seconds: string | undefined): string | null {
  return seconds !== undefined && /^\d{1,11}$/.test(seconds)
    ? new Date(Number(seconds) * 1000).toISOString()
    : null
}
