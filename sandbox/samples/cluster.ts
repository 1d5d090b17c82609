import type { KubeObject } from '../api/types.ts'

export const daysAgo = (now: number, days: number) => timestamp(now - days * 86_400_000)

/** RFC 3339 with whole seconds, as Kubernetes writes metadata times. */
export const timestamp = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`

export function namespace(name: string, now: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name }, creationTimestamp: daysAgo(now, 60) },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }
}

interface NodeOptions {
  gpus: number
  gpuProduct: string
  /** Since when nothing has been heard of it, in milliseconds since the epoch. */
  lostSince?: number
}

/** A node with GPUs; a lost one has Ready `Unknown`, as the node controller leaves it. */
export function node(name: string, now: number, { gpus, gpuProduct, lostSince }: NodeOptions): KubeObject {
  const resources = { cpu: '192', memory: '2014Gi', pods: '110', 'nvidia.com/gpu': String(gpus) }
  const since = lostSince === undefined ? daysAgo(now, 30) : timestamp(lostSince)
  const ready =
    lostSince === undefined
      ? { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }
  const unreachable = { key: 'node.kubernetes.io/unreachable', timeAdded: since }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'nvidia.com/gpu.product': gpuProduct,
      },
      creationTimestamp: daysAgo(now, 30),
    },
    spec:
      lostSince === undefined
        ? {}
        : { taints: ['NoSchedule', 'NoExecute'].map((effect) => ({ ...unreachable, effect })) },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: 'Ready', ...ready, lastHeartbeatTime: since, lastTransitionTime: since }],
      nodeInfo: { architecture: 'amd64', operatingSystem: 'linux', kubeletVersion: 'v1.36.3' },
    },
  }
}
