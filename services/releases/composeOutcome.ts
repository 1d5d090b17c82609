/** What composing is asked for, and what it comes to. */
import type { PlanDifference } from '../plans/compose.ts'
import type { Shadowed } from '../plans/shadowed.ts'
import type { PlanDetail } from './detailTypes.ts'
import type { RefusalOf } from './outcome.ts'

/** As the caller sent it: JSON inputs are not looked at yet. What is absent is null. */
export interface ComposeRequest {
  namespace: string
  name: string | null
  fromRelease: string | null
  plan: unknown
  planYaml: string | null
  reuseSource: boolean
  form: unknown
  formYaml: string | null
  edits: unknown
  editsYaml: string | null
  chartVersion: string | null
}

export interface ComposedOutcome {
  kind: 'Composed'
  plan: PlanDetail
  shadowed: Shadowed[]
  changes: PlanDifference[]
  warnings: string[]
}

export type ComposeRefusal = RefusalOf<
  'ReleaseNotFound' | 'InvalidInput' | 'Forbidden' | 'ReadOnly' | 'ClusterUnavailable'
>

export type ComposeOutcome = ComposedOutcome | ComposeRefusal
