import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { orderedJson } from '../api/json.ts'
import type { KubeObject } from '../api/types.ts'
import type { Values } from '../charts/values.ts'

export const group = 'serving.modelsphere.dev'
export const finalizer = `${group}/finalizer`
/** On a ControllerRevision: the LLMService whose past it holds. */
export const serviceLabel = `${group}/llmservice`

export interface ServiceSpec {
  chart?: { name?: string; repo?: string; version?: string }
  /** Merged in this order. */
  layers?: { name?: string; values?: Values }[]
  model?: { name?: string; version?: string; variant?: string; hf?: string; engine?: string }
  suspend?: boolean
}

export type Stage = 'RouteSettling' | 'HelmUninstalling' | 'PodsTerminating' | 'Finalizing'

/** `Completed`: no pod was left. `TimedOut`: some were when the deadline came. */
export type Outcome = 'Completed' | 'Forced' | 'TimedOut' | 'Orphaned'

/** `status.deletion`. Times are RFC 3339; what is not known yet is absent. */
export interface Deletion {
  stage: Stage
  startedAt: string
  /** When pods are no longer waited for. */
  deadline?: string
  outcome?: Outcome
  podsRemaining?: number
  pods?: { name: string; phase: string; node?: string; message: string }[]
  message?: string
  forceDeleted?: boolean
}

export interface HistoryEntry {
  revision: number
  hash: string
  appliedAt: string
  controllerRevision: string
  annotations: Record<string, string>
  action: string
}

export interface Condition {
  type: string
  status: 'True' | 'False'
  reason: string
  message: string
  lastTransitionTime: string
}

export interface ServiceStatus {
  phase?: 'Pending' | 'Applying' | 'Applied' | 'Failed' | 'Deleting'
  message?: string
  observedGeneration?: number
  conditions?: Condition[]
  chart?: { name: string; version?: string }
  appliedHash?: string
  /** Of the revision that could not be applied, while the phase is Failed. */
  failedHash?: string
  helm?: { revision: number; status: string }
  /** Newest first. */
  history?: HistoryEntry[]
  deletion?: Deletion
}

/** An LLMService as the API server has it; its schema keeps whatever people write, so every field may be absent. */
export interface LlmService extends KubeObject {
  spec?: ServiceSpec
  status?: ServiceStatus
}

export const specOf = (service: LlmService): ServiceSpec => service.spec ?? {}

/** The spec without what says nothing about the workload. */
export function appliedSpec(service: LlmService): Omit<ServiceSpec, 'suspend'> {
  const { suspend: _suspend, ...rest } = specOf(service)
  return rest
}

/** SHA-256 in hex, whatever the order of keys. */
const hashOf = (value: unknown) => createHash('sha256').update(orderedJson(value)).digest('hex')

const swissPrefix = 'swiss.modelsphere.dev/'

/** The annotations that belong to a revision: those that Swiss writes. */
export const planAnnotations = ({ metadata: { annotations = {} } }: LlmService) =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith(swissPrefix)))

export const planAnnotation = (service: LlmService, key: string) =>
  service.metadata.annotations?.[`${swissPrefix}${key}`]

/** What `status.appliedHash` says of this spec: the plan's hash when Swiss has written it, else the spec's. */
export const appliedHash = (service: LlmService) =>
  planAnnotation(service, 'plan-hash') ?? hashOf(appliedSpec(service))

/** Stands for what a revision is of: the spec and the annotations that Swiss has written with it. */
export const revisionHash = (service: LlmService) => hashOf([appliedSpec(service), planAnnotations(service)])

/**
 * True when nothing is left to do for it as it stands. A change of the spec, suspending and resuming make a new
 * generation; a change of the annotations is seen by what has been done with them.
 */
export function isSettled(service: LlmService): boolean {
  const { metadata, spec, status } = service
  return (
    metadata.deletionTimestamp === undefined &&
    metadata.finalizers?.includes(finalizer) === true &&
    spec?.suspend !== true &&
    status?.observedGeneration === metadata.generation &&
    ((status?.phase === 'Applied' &&
      isDeepStrictEqual(status.history?.[0]?.annotations ?? {}, planAnnotations(service))) ||
      (status?.phase === 'Failed' && status.failedHash === revisionHash(service)))
  )
}
