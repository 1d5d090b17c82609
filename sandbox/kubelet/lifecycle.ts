import type { KubeObject } from '../api/types.ts'

/** On a pod: seconds it takes to end, once it is asked to. 8 when absent; never longer than its grace. */
const stopSecondsAnnotation = 'sandbox.swiss/stop-seconds'
/** On a pod: it stays Pending. The value says why. */
const stayPendingAnnotation = 'sandbox.swiss/stay-pending'
/** On a pod that does not restart: seconds until it has Succeeded. 3 when absent. */
const runSecondsAnnotation = 'sandbox.swiss/run-seconds'

/** How long things take, in milliseconds. */
export interface Pace {
  /** From having a node to Running, and from there to Ready. */
  startMs: number
  /** From the request to stop to the end, for pods without the annotation. */
  stopMs: number
  /** From Running to Succeeded, for pods that do not restart. */
  runMs: number
}

export const usualPace: Pace = { startMs: 500, stopMs: 8_000, runMs: 3_000 }

/** What the kubelet remembers of a pod. Times are milliseconds since the epoch. */
export interface PodMemory {
  /** When it was first seen as it is now: waiting on its node, Running but not Ready. */
  since: number
  stage: string
  /** When it was asked to stop; absent while it is not, or when nobody saw it happen. */
  stopSeen?: number
}

export type PodStep =
  | { do: 'nothing' }
  | { do: 'schedule' }
  | { do: 'wait'; ms: number }
  | { do: 'run' }
  | { do: 'becomeReady' }
  | { do: 'succeed' }
  | { do: 'end' }

const nothing: PodStep = { do: 'nothing' }

/**
 * The next thing to do for one pod.
 *
 * @param nodeReady whether its node exists and its Ready condition is True; a pod of any other node is left alone
 * @param memory updated here: what this kubelet has seen of the pod
 * @param now milliseconds since the epoch
 */
export function nextStep(
  pod: KubeObject,
  nodeReady: boolean,
  memory: PodMemory,
  now: number,
  pace: Pace,
): PodStep {
  const { deletionTimestamp, annotations = {} } = pod.metadata
  const { nodeName, restartPolicy } = (pod.spec ?? {}) as { nodeName?: string; restartPolicy?: string }
  const stage = stageOf(pod)
  if (memory.stage !== stage) {
    if (stage === 'stopping' && memory.stage !== '') memory.stopSeen = now
    memory.stage = stage
    memory.since = now
  }
  if (!nodeName) {
    const stays = deletionTimestamp !== undefined || annotations[stayPendingAnnotation] !== undefined
    return stays || stage !== 'unplaced' ? nothing : { do: 'schedule' }
  }
  if (!nodeReady) return nothing
  const after = (ms: number, since: number, step: PodStep): PodStep =>
    now >= since + ms ? step : { do: 'wait', ms: since + ms - now }

  if (deletionTimestamp !== undefined) {
    if (isFinished(pod)) return { do: 'end' }
    const grace = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000
    const stop = Math.min(milliseconds(annotations[stopSecondsAnnotation], pace.stopMs), grace)
    return after(stop, memory.stopSeen ?? Date.parse(deletionTimestamp) - grace, { do: 'end' })
  }
  if (stage === 'waiting') return after(pace.startMs, memory.since, { do: 'run' })
  if (stage === 'unready') return after(pace.startMs, memory.since, { do: 'becomeReady' })
  if (stage === 'ready' && restartPolicy !== undefined && restartPolicy !== 'Always') {
    return after(milliseconds(annotations[runSecondsAnnotation], pace.runMs), memory.since, { do: 'succeed' })
  }
  return nothing
}

export const newMemory = (): PodMemory => ({ since: 0, stage: '' })

export const phaseOf = (pod: KubeObject) => (pod.status as { phase?: string } | undefined)?.phase ?? 'Pending'

export const isFinished = (pod: KubeObject) => phaseOf(pod) === 'Succeeded' || phaseOf(pod) === 'Failed'

export function isReady(object: KubeObject): boolean {
  const { conditions = [] } = (object.status ?? {}) as { conditions?: { type: string; status: string }[] }
  return conditions.some((it) => it.type === 'Ready' && it.status === 'True')
}

function stageOf(pod: KubeObject): string {
  if (pod.metadata.deletionTimestamp !== undefined) return 'stopping'
  if (isFinished(pod)) return 'finished'
  if (phaseOf(pod) === 'Pending') {
    return (pod.spec as { nodeName?: string } | undefined)?.nodeName ? 'waiting' : 'unplaced'
  }
  return isReady(pod) ? 'ready' : 'unready'
}

function milliseconds(annotation: string | undefined, otherwise: number): number {
  const seconds = Number(annotation)
  return annotation === undefined || !(seconds >= 0) ? otherwise : seconds * 1000
}
