import type { KubeObject } from '../api/types.ts'

type Status = 'True' | 'False'

interface Container {
  name: string
  image?: string
}

const containersOf = (pod: KubeObject) => ((pod.spec ?? {}) as { containers?: Container[] }).containers ?? []

/** Conditions of a pod on its node; PodScheduled since `at`. */
export function podConditions(ready: Status, at: string, reason?: string) {
  return [
    { type: 'Initialized', status: 'True', lastProbeTime: null, lastTransitionTime: at },
    ...['Ready', 'ContainersReady'].map((type) => ({
      type,
      status: ready,
      lastProbeTime: null,
      lastTransitionTime: at,
      ...(reason ? { reason } : {}),
    })),
    { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: at },
  ]
}

/** A condition that says why no node takes the pod. */
export const unschedulable = (at: string, message: string) => [
  {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: at,
    reason: 'Unschedulable',
    message,
  },
]

/** Status of a pod whose containers run. `at` is RFC 3339 with whole seconds. */
export function runningStatus(pod: KubeObject, ready: boolean, podIP: string, at: string) {
  return {
    phase: 'Running',
    conditions: podConditions(ready ? 'True' : 'False', at, ready ? undefined : 'ContainersNotReady'),
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: at,
    containerStatuses: containersOf(pod).map(({ name, image }) => ({
      name,
      state: { running: { startedAt: at } },
      lastState: {},
      ready,
      restartCount: 0,
      image: image ?? '',
      imageID: '',
      started: true,
    })),
  }
}

/** Status of a pod whose containers have ended well. */
export function succeededStatus(pod: KubeObject, at: string) {
  const startedAt = (pod.status as { startTime?: string } | undefined)?.startTime ?? at
  return {
    phase: 'Succeeded',
    conditions: podConditions('False', at, 'PodCompleted'),
    containerStatuses: containersOf(pod).map(({ name, image }) => ({
      name,
      state: { terminated: { exitCode: 0, reason: 'Completed', startedAt, finishedAt: at } },
      lastState: {},
      ready: false,
      restartCount: 0,
      image: image ?? '',
      imageID: '',
      started: false,
    })),
  }
}
