import type { Run } from '../audit/run.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import type { RefusalOf } from '../releases/outcome.ts'
import type { Slo, SloChange } from './slo.ts'

export type SloUnavailable = RefusalOf<'SloUnavailable'>

/** Null when the SLO service has no thresholds for the release. */
export type SloReading = { kind: 'Slo'; slo: Slo | null } | SloUnavailable

export interface SetSloRequest extends ReleaseRef, SloChange {}

export type SetSloRefusal = RefusalOf<
  'ReleaseNotFound' | 'SloUnavailable' | 'InvalidInput' | 'Forbidden' | 'ReadOnly' | 'ClusterUnavailable'
>

export interface SloWritten {
  kind: 'SetSlo'
  /** Read anew; null when there are none, or they could not be read again. */
  slo: Slo | null
  run: Run
}

export type SetSloOutcome = SloWritten | SetSloRefusal

/** The thresholds of releases. Nothing here throws for what the cluster or the SLO service answers. */
export interface SloThresholds {
  read(ref: ReleaseRef): Promise<SloReading>
  set(request: SetSloRequest, actor: { name: string }): Promise<SetSloOutcome>
  /** Back to the defaults. */
  reset(ref: ReleaseRef, actor: { name: string }): Promise<SetSloOutcome>
}
