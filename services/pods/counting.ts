/**
 * Which pods hold an uninstall back: the rule of the contract (section 4) as one pure function, which also
 * says why.
 */

import type { PodFacts } from './facts.ts'

export type { NodeFacts, PodFacts } from './facts.ts'
export { trimNode, trimPod } from './trim.ts'

/** What is known of a pod's node. UNREADABLE is neither missing nor not ready. */
export type NodeState = 'READY' | 'NOT_READY' | 'MISSING' | 'UNREADABLE'

export type PodReason =
  | 'RUNNING'
  | 'FINISHED'
  | 'MIRROR'
  | 'WITHIN_GRACE'
  | 'NODE_LOST'
  | 'PAST_DEADLINE'
  | 'TERMINATING'

export interface CountedPod {
  counts: boolean
  reason: PodReason
  /** Milliseconds since the epoch: the last moment at which it still counts as its node now stands; null when time alone ends nothing. */
  ignoredAt: number | null
}

/** Seconds of grace where neither the deletion nor the pod's spec names any (Kubernetes' default). */
const DEFAULT_GRACE_SECONDS = 30
/** Milliseconds after the grace period at which a pod stops counting, whatever its node. */
const DEADLINE_MS = 5 * 60_000

/**
 * Whether a pod of a release holds its uninstall back, and why (contract, section 4).
 *
 * @param node what is known of `pod.node`; not looked at for a pod that has none, since such a pod is not on
 *   a missing node
 * @param now milliseconds since the epoch, by the API server's clock
 */
export function countPod(pod: PodFacts, node: NodeState, now: number): CountedPod {
  // A mirror comes back within seconds of its deletion, and hooks leave finished pods behind for good.
  if (pod.mirror) return { counts: false, reason: 'MIRROR', ignoredAt: null }
  if (pod.phase === 'Succeeded' || pod.phase === 'Failed') {
    return { counts: false, reason: 'FINISHED', ignoredAt: null }
  }
  if (pod.deletionTimestamp === null) return { counts: true, reason: 'RUNNING', ignoredAt: null }

  const graceEnds = Date.parse(pod.deletionTimestamp) + graceSeconds(pod) * 1000
  // Not a time: no clock can say that it is over.
  if (Number.isNaN(graceEnds)) return { counts: true, reason: 'TERMINATING', ignoredAt: null }
  const nodeLost = pod.node !== null && (node === 'NOT_READY' || node === 'MISSING')
  const ignoredAt = nodeLost ? graceEnds : graceEnds + DEADLINE_MS
  if (now <= graceEnds) return { counts: true, reason: 'WITHIN_GRACE', ignoredAt }
  if (nodeLost) return { counts: false, reason: 'NODE_LOST', ignoredAt }
  if (now > ignoredAt) return { counts: false, reason: 'PAST_DEADLINE', ignoredAt }
  return { counts: true, reason: 'TERMINATING', ignoredAt }
}

function graceSeconds(pod: PodFacts): number {
  return pod.deletionGracePeriodSeconds ?? pod.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS
}

const MAX_LABEL = 63

/**
 * The label values by which a release's pods are known: `app.kubernetes.io/instance` and `app`, cut as
 * charts cut them (`trunc 63`, then no dash at the end). Null where no pod can carry one.
 *
 * @param chart name of the chart; null when nobody knows it, and the instance label decides alone
 */
export function matchingLabels(
  release: string,
  chart: string | null,
): { instance: string | null; app: string | null } {
  return {
    // Charts do not cut this one: helm's names end at 53 characters. A longer one fits no label.
    instance: release.length <= MAX_LABEL ? release : null,
    app: chart === null ? null : `${release}-${chart}`.slice(0, MAX_LABEL).replace(/-+$/, ''),
  }
}
