/** From raw Pods and Nodes to the little of them that is kept. */
import type { KubeObject } from '../cluster/kinds.ts'
import type { NodeFacts, PodFacts } from './facts.ts'
import { podGpus, type ResourceContainer } from './gpus.ts'

const INSTANCE_LABEL = 'app.kubernetes.io/instance'
const APP_LABEL = 'app'
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'

/** Shared by the many pods that have none. */
const NONE: readonly string[] = Object.freeze([])

interface Condition {
  type?: string
  status?: string
}
interface ContainerState {
  waiting?: { reason?: string; message?: string }
}
interface ContainerStatus {
  restartCount?: number
  state?: ContainerState
}
interface PodSpec {
  nodeName?: string
  terminationGracePeriodSeconds?: number
  containers?: ResourceContainer[] | null
  initContainers?: ResourceContainer[] | null
  volumes?: { persistentVolumeClaim?: { claimName?: string } }[] | null
}
interface PodStatus {
  phase?: string
  message?: string
  conditions?: Condition[] | null
  containerStatuses?: ContainerStatus[] | null
  initContainerStatuses?: ContainerStatus[] | null
}

/** Trims a Pod; null when it carries neither of the labels that tell a release. */
export function trimPod(raw: KubeObject): PodFacts | null {
  const { metadata } = raw
  const instance = metadata.labels?.[INSTANCE_LABEL] || null
  const app = metadata.labels?.[APP_LABEL] || null
  if ((instance === null && app === null) || metadata.namespace === undefined) return null
  const spec = (raw.spec ?? {}) as PodSpec
  const status = (raw.status ?? {}) as PodStatus
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    phase: status.phase || null,
    ready: isReady(status.conditions),
    restarts: (status.containerStatuses ?? []).reduce((sum, one) => sum + (one.restartCount ?? 0), 0),
    node: spec.nodeName || null,
    gpus: podGpus(spec.containers ?? [], spec.initContainers ?? []),
    message: status.message || waitingReason(status),
    createdAt: metadata.creationTimestamp ?? null,
    deletionTimestamp: metadata.deletionTimestamp ?? null,
    deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds ?? null,
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? null,
    mirror: metadata.annotations?.[MIRROR_ANNOTATION] !== undefined,
    finalizers: metadata.finalizers?.length ? metadata.finalizers : NONE,
    instance,
    app,
    claims: claims(spec),
  }
}

/** Trims a Node. */
export function trimNode(raw: KubeObject): NodeFacts {
  const status = (raw.status ?? {}) as { conditions?: Condition[] | null }
  return { name: raw.metadata.name, ready: isReady(status.conditions) }
}

function isReady(conditions: Condition[] | null | undefined): boolean {
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

/** Why a container does not start, that of an init container first: `CrashLoopBackOff`, `ImagePullBackOff` … */
function waitingReason(status: PodStatus): string | null {
  for (const one of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
    const reason = one.state?.waiting?.reason
    // What every pod says on its way up tells nobody anything.
    if (reason && reason !== 'ContainerCreating' && reason !== 'PodInitializing') return reason
  }
  return null
}

function claims(spec: PodSpec): readonly string[] {
  const names = (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim?.claimName ? [persistentVolumeClaim.claimName] : [],
  )
  return names.length > 0 ? names : NONE
}
