import { type ScalingFacts, scalingOfLayers } from '../autoscale/scaling.ts'
import type { KubeObject } from '../cluster/kinds.ts'
import { isPlanMap, type PlanMap, type PlanValue } from '../plans/scalars.ts'
import type { Deletion, DeploymentPhase } from './row.ts'
import { readTime } from './time.ts'

/** Annotations that Swiss writes on an LLMService; one that has none of them is external. */
const ANNOTATION_PREFIX = 'swiss.modelsphere.dev/'
/** Carried by the ControllerRevisions of an LLMService: its name. */
export const SERVICE_LABEL = 'serving.modelsphere.dev/llmservice'

/** An LLMService as the cache keeps it: metadata without managed fields, and the parts of spec and status that a row shows. */
export interface LLMServiceObject extends KubeObject {
  /** What its values say about scaling it. */
  scaling?: ScalingFacts
  spec?: {
    chart?: { name?: string; repo?: string; version?: string }
    model?: { name?: string; version?: string; variant?: string; hf?: string; engine?: string }
  }
  status?: {
    phase?: string
    message?: string
    observedGeneration?: number
    conditions?: {
      type?: string
      status?: string
      reason?: string
      message?: string
      lastTransitionTime?: string
    }[]
    helm?: { revision?: number; status?: string }
    history?: {
      revision?: number
      appliedAt?: string
      hash?: string
      action?: string
      controllerRevision?: string
    }[]
    deletion?: OperatorDeletion | null
  }
}

interface OperatorDeletion {
  stage?: string
  outcome?: string
  podsRemaining?: number
  deadline?: string
  startedAt?: string
  message?: string
  forceDeleted?: boolean
  pods?: { name?: string; phase?: string; node?: string; message?: string }[] | null
}

/** Keeps what rows and details use; value layers, the largest part, stay outside the cache. */
export function trimLLMService(raw: KubeObject): LLMServiceObject {
  const { spec, status } = raw as LLMServiceObject
  const { chart, model } = spec ?? {}
  return {
    metadata: raw.metadata,
    spec: { ...(chart ? { chart } : {}), ...(model ? { model } : {}) },
    scaling: scalingOfLayers(layersOf(raw)),
    ...(status ? { status } : {}),
  }
}

function layersOf({ spec }: KubeObject): { name: string; values: PlanMap }[] {
  const { layers } = Object(spec) as { layers?: unknown }
  if (!Array.isArray(layers)) return []
  return layers.flatMap((layer) => {
    const { name, values } = Object(layer) as { name?: unknown; values?: PlanValue }
    return isPlanMap(values) ? [{ name: String(name), values }] : []
  })
}

/** True while it is being taken away, whoever asked for that. */
export function isDeleting(service: LLMServiceObject): boolean {
  return service.metadata.deletionTimestamp !== undefined || service.status?.phase === 'Deleting'
}

/** Section 2 of the contract: no phase yet reads as being applied; a word we do not know is UNKNOWN. */
export function llmServicePhase(service: LLMServiceObject): DeploymentPhase {
  if (isDeleting(service)) return 'UNINSTALLING'
  switch (service.status?.phase) {
    case undefined:
    case '':
    case 'Pending':
    case 'Applying':
      return 'APPLYING'
    case 'Applied':
      return 'APPLIED'
    case 'Failed':
      return 'FAILED'
    default:
      return 'UNKNOWN'
  }
}

export function isExternal(service: LLMServiceObject): boolean {
  return !Object.keys(service.metadata.annotations ?? {}).some((key) => key.startsWith(ANNOTATION_PREFIX))
}

/** Newest of its condition and history times; null when it has none. */
export function llmServiceUpdatedAt(service: LLMServiceObject): string | null {
  const times = [
    ...(service.status?.conditions ?? []).map((condition) => readTime(condition.lastTransitionTime)),
    ...(service.status?.history ?? []).map((entry) => readTime(entry.appliedAt)),
  ]
  // One form and one width, so that the newest is the greatest as text.
  return times.reduce((newest, time) => ((time ?? '') > (newest ?? '') ? time : newest), null)
}

/** `status.deletion` passed through field by field; what the operator does not say stays null. */
export function operatorDeletion(service: LLMServiceObject): Deletion {
  const said = service.status?.deletion ?? {}
  return {
    stage: said.stage ?? null,
    outcome: said.outcome ?? null,
    podsRemaining: said.podsRemaining ?? null,
    pods:
      said.pods?.map((pod) => ({
        name: pod.name ?? '',
        phase: pod.phase ?? null,
        node: pod.node ?? null,
        gpus: null,
        message: pod.message ?? null,
        counts: null,
        reason: null,
        deletionTimestamp: null,
        ignoredAt: null,
      })) ?? null,
    startedAt: readTime(said.startedAt),
    deadline: readTime(said.deadline),
    message: said.message ?? null,
    forceDeleted: said.forceDeleted ?? null,
    requestedBy: null,
    note: null,
    blockers: (service.metadata.finalizers ?? []).map((name) => ({
      kind: 'FINALIZER',
      name,
      message: `the finalizer ${name} is still set; its operator takes it off when the teardown is done`,
      since: service.metadata.deletionTimestamp ?? null,
    })),
    leftBehind: [],
  }
}
