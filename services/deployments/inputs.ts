import type { AutoscaleObject } from '../autoscale/autoscale.ts'
import type { HelmRecord } from '../helm/records.ts'
import type { PlanObject } from '../plans/planObject.ts'
import type { NodeState, PodFacts } from '../pods/counting.ts'
import type { LLMServiceObject } from './llmService.ts'
import type { LockFacts } from './lockFacts.ts'
import type { DeletionBlocker, LeftBehind, ReleaseRef } from './row.ts'

/** What this gateway knows of an uninstall beyond the objects in the cluster. */
export interface Progress {
  /** helm runs for it in this process. */
  helmRunning: boolean
  /** Failing look-ups and clean-ups, and what helm left undone. */
  blockers: readonly DeletionBlocker[]
  /** Claims that its pods mounted and objects that helm said it keeps. */
  leftBehind: readonly LeftBehind[]
}

/** Everything a row is made of, as plain data. */
export interface ReleaseInputs {
  ref: ReleaseRef
  plan: PlanObject | null
  /** The ConfigMap that carries the mark of an uninstall where the plan cannot. */
  mark: PlanObject | null
  helm: readonly HelmRecord[]
  llmService: LLMServiceObject | null
  /** Pods that carry one of the release's labels, by name. */
  pods: readonly PodFacts[]
  nodeState: (name: string) => NodeState
  lock: LockFacts | null
  autoscale: AutoscaleObject | null
  progress: Progress | null
}
