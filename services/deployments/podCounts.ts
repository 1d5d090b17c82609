import { type CountedPod, countPod, type NodeState, type PodFacts, type PodReason } from '../pods/counting.ts'
import type { DeletionBlocker, DeletionPod, LeftBehind, PodCounts } from './row.ts'

export interface JudgedPod {
  pod: PodFacts
  verdict: CountedPod
}

/** Applies the rule of the contract (section 4) to each pod of a release. `now` in milliseconds. */
export function judgePods(
  pods: readonly PodFacts[],
  nodeState: (name: string) => NodeState,
  now: number,
): JudgedPod[] {
  return pods.map((pod) => ({
    pod,
    verdict: countPod(pod, pod.node === null ? 'UNREADABLE' : nodeState(pod.node), now),
  }))
}

export function podCounts(judged: readonly JudgedPod[], uninstalling: boolean): PodCounts {
  const counts: PodCounts = { total: judged.length, ready: 0, terminating: 0, counting: 0, gpus: 0 }
  for (const { pod, verdict } of judged) {
    if (pod.ready) counts.ready++
    if (pod.deletionTimestamp !== null) counts.terminating++
    const finished = verdict.reason === 'FINISHED'
    if (uninstalling && verdict.counts) counts.counting++
    if (uninstalling ? verdict.counts : !finished) counts.gpus += pod.gpus
  }
  return counts
}

const isoTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

export function deletionPods(judged: readonly JudgedPod[]): DeletionPod[] {
  return judged.map(({ pod, verdict }) => ({
    name: pod.name,
    phase: pod.phase,
    node: pod.node,
    gpus: pod.gpus,
    message: pod.message,
    counts: verdict.counts,
    reason: verdict.reason,
    deletionTimestamp: pod.deletionTimestamp,
    ignoredAt: isoTime(verdict.ignoredAt),
  }))
}

const HOLDING: Record<PodReason, string> = {
  RUNNING: 'has not been told to go yet',
  WITHIN_GRACE: 'is terminating within its grace period',
  TERMINATING: 'is still terminating after its grace period',
  FINISHED: 'has finished',
  MIRROR: 'is the mirror of a static pod',
  NODE_LOST: 'is on a node that is lost, and its grace period is over',
  PAST_DEADLINE: 'is still there five minutes after its grace period',
}

/** The pods that hold the uninstall back, and the finalizers that hold those pods. */
export function podBlockers(judged: readonly JudgedPod[]): DeletionBlocker[] {
  return judged.flatMap(({ pod, verdict }) => {
    if (!verdict.counts) return []
    const since = pod.deletionTimestamp
    const blockers: DeletionBlocker[] = [
      { kind: 'POD', name: pod.name, message: `pod ${pod.name} ${HOLDING[verdict.reason]}`, since },
    ]
    if (since !== null) {
      for (const finalizer of pod.finalizers) {
        blockers.push({
          kind: 'FINALIZER',
          name: finalizer,
          message: `pod ${pod.name} is held by the finalizer ${finalizer}`,
          since,
        })
      }
    }
    return blockers
  })
}

/** Pods that exist and no longer count: nobody will delete them for this uninstall. */
export function podsLeftBehind(judged: readonly JudgedPod[]): LeftBehind[] {
  return judged
    .filter(({ verdict }) => !verdict.counts)
    .map(({ pod, verdict }) => ({
      kind: 'Pod',
      name: pod.name,
      reason: `${HOLDING[verdict.reason]}`,
    }))
}
