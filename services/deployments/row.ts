/**
 * One row of the list: a release with its live phase, as plain data. Everything that shows a release (the
 * list, the detail, an event) shows this value, so they cannot disagree. Times are RFC 3339 strings in UTC.
 */
import type { Autoscale } from '../autoscale/autoscale.ts'
import type { CanaryRelationship } from '../canary/relationship.ts'
import type { CountedPod } from '../pods/counting.ts'

export type { CanaryState } from '../canary/relationship.ts'

export type Backend = 'HELM' | 'LLMSERVICE'
export type DeploymentPhase = 'APPLYING' | 'APPLIED' | 'FAILED' | 'UNINSTALLING' | 'UNKNOWN'
/** A phase, or GONE, which only an event can say. */
export type EventPhase = DeploymentPhase | 'GONE'
export type GoneCause = 'UNINSTALLED' | 'PLAN_REMOVED' | 'RECREATED'

/** Names a release; `namespace/name` is its key in every map. */
export interface ReleaseRef {
  namespace: string
  name: string
}

/** The key of a release in maps and indexes. A namespace has no slash, so keys cannot collide. */
export const releaseKey = (ref: ReleaseRef): string => `${ref.namespace}/${ref.name}`

export interface Chart {
  name: string
  version: string | null
  repo: string | null
}

export interface PlanSource {
  catalog: string | null
  catalogName: string | null
  ref: string | null
  model: string | null
  version: string | null
  variant: string | null
  hf: string | null
  engine: string | null
}

export type DriftKind =
  | 'UNREADABLE'
  | 'PLAN_WITHOUT_RELEASE'
  | 'LAST_UNINSTALL_FAILED'
  | 'LAST_APPLY_FAILED'
  | 'APPLY_UNFINISHED'
  | 'CATALOG_MOVED'
  | 'CLEANUP_UNFINISHED'
  | 'UNINSTALL_IN_PROGRESS'

export interface Drift {
  kind: DriftKind
  message: string
}

export interface PodCounts {
  total: number
  ready: number
  terminating: number
  /** Pods that hold an uninstall back (0 while nothing is uninstalled). */
  counting: number
  /** GPUs of the pods that exist; while uninstalling, of those that count. */
  gpus: number
}

export type DeletionBlockerKind = 'POD' | 'FINALIZER' | 'HELM' | 'LOOKUP_FAILED' | 'CLEANUP_FAILED'

/** What holds a deletion back right now. */
export interface DeletionBlocker {
  kind: DeletionBlockerKind
  name: string
  message: string
  since: string | null
}

/** What nobody will delete. */
export interface LeftBehind {
  kind: string
  name: string
  reason: string
}

/** A pod of a deletion: our own count for a helm release, the operator's words for an LLMService. */
export interface DeletionPod {
  name: string
  phase: string | null
  node: string | null
  gpus: number | null
  message: string | null
  counts: boolean | null
  reason: CountedPod['reason'] | null
  deletionTimestamp: string | null
  ignoredAt: string | null
}

export interface Deletion {
  /** helm: MARKED, HELM_UNINSTALL, PODS_TERMINATING, CLEANUP; LLMService: the operator's own word. */
  stage: string | null
  outcome: string | null
  podsRemaining: number | null
  pods: DeletionPod[] | null
  startedAt: string | null
  deadline: string | null
  message: string | null
  forceDeleted: boolean | null
  requestedBy: string | null
  note: string | null
  blockers: DeletionBlocker[]
  leftBehind: LeftBehind[]
}

/** What was done to a release last. */
export interface LastOperation {
  action: 'INSTALL' | 'APPLY' | 'ROLLBACK' | 'UNINSTALL' | 'AUTOSCALE'
  outcome: 'STARTED' | 'SUCCEEDED' | 'FAILED'
  error: string | null
  at: string | null
  actor: string | null
}

export interface Row {
  namespace: string
  name: string
  /** uid of the LLMService, or of the plan ConfigMap; null only for a row whose object has just been taken away. */
  uid: string | null
  backend: Backend
  phase: DeploymentPhase
  phaseReason: string | null
  /** Null when there is none; never 0. */
  revision: number | null
  helmStatus: string | null
  chart: Chart | null
  source: PlanSource | null
  updatedAt: string | null
  /** From status.yaml or the LLMService; null where they do not say. */
  lastOperation: LastOperation | null
  drift: Drift | null
  external: boolean
  cleanupPending: boolean
  /** As of the moment the row was derived; `present(row, now)` makes them true for another moment. */
  pods: PodCounts
  /** Set while the release is being uninstalled. */
  deletion: Deletion | null
  /** Null for helm releases. */
  canary: CanaryRelationship | null
  /** Null for a release without an autoscale policy. */
  autoscale: Autoscale | null
}
