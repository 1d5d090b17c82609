/** Everything about one release, beyond its row, as plain data. Times are RFC 3339 in UTC. */
import type { RunAction } from '../audit/run.ts'
import type { Chart, Deletion, DeploymentPhase, PlanSource, ReleaseRef, Row } from '../deployments/row.ts'
import type { PodFacts } from '../pods/counting.ts'

export interface HelmDetail {
  revision: number | null
  status: string | null
  updatedAt: string | null
}

export interface PlanStatusDetail {
  phase: DeploymentPhase
  action: RunAction | null
  revision: number | null
  startedAt: string | null
  updatedAt: string | null
  error: string | null
  note: string | null
  forced: boolean | null
  actor: string | null
}

export interface ConditionDetail {
  type: string
  status: string
  reason: string | null
  message: string | null
  lastTransitionTime: string | null
}

export interface LLMServiceDetail {
  phase: DeploymentPhase
  /** `status.phase` as the operator wrote it. */
  operatorPhase: string | null
  message: string | null
  revision: number | null
  conditions: ConditionDetail[]
  deletion: Deletion | null
  finalizers: string[]
}

export interface PlanDetail {
  hash: string | null
  engine: string | null
  profile: string | null
  chart: Chart | null
  source: PlanSource | null
  /** Non-empty value layers in the order in which they are merged. */
  layers: { name: string; values: unknown }[]
  /** The layers merged. */
  values: unknown
}

export interface ReleaseDetail extends ReleaseRef {
  row: Row | null
  /** helm has it, or the LLMService is there. */
  exists: boolean
  helm: HelmDetail | null
  planStatus: PlanStatusDetail | null
  llmService: LLMServiceDetail | null
  /** Matching pods by name. */
  pods: PodFacts[]
  /** That of the plan ConfigMap; null where there is none or it cannot be read (then a warning says why). */
  plan: PlanDetail | null
  warnings: string[]
}

export interface RevisionDetail {
  revision: number
  current: boolean
  chart: Chart | null
  source: PlanSource | null
  planHash: string | null
  plan: PlanDetail | null
}

export interface ReleaseDetails {
  /** From the caches; null only where nothing of that name exists. */
  get(ref: ReleaseRef): ReleaseDetail | null
  /** The chart in helm's newest record: one live read, only when it is asked for. Throws KubeError. */
  helmChart(ref: ReleaseRef): Promise<Chart | null>
  /** The plan that its LLMService is; null when there is none any more: one live read. Throws KubeError. */
  servicePlan(ref: ReleaseRef): Promise<PlanDetail | null>
  /** The live revision and the archived ones, newest first: one live read. Throws KubeError. */
  revisions(ref: ReleaseRef): Promise<RevisionDetail[]>
}

export interface ClusterInfo {
  name: string | null
  kubernetesVersion: string | null
  gatewayVersion: string
  helmVersion: string | null
  readOnly: boolean
  llmServicesServed: boolean
  warnings: string[]
  /** Identity of the gateway that runs the loops. */
  leader: string | null
}
