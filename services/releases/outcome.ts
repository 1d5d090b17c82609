/** What a mutation can come to: one value per member of the result union. */
import type { Run } from '../audit/run.ts'
import type { Permission } from '../auth/actor.ts'
import type { Row } from '../deployments/row.ts'

export interface InputIssue {
  path: string[]
  message: string
}

export type Refusal =
  | { kind: 'ReleaseNotFound'; message: string; namespace: string; name: string }
  | { kind: 'ApplyInProgress'; message: string; holder: string | null; since: string | null }
  | {
      kind: 'PreconditionFailed'
      message: string
      expectedRevision: number | null
      currentRevision: number | null
      expectedUid: string | null
      currentUid: string | null
    }
  | { kind: 'Conflict'; message: string }
  | { kind: 'HelmFailed'; message: string; output: string; exitCode: number | null; run: Run | null }
  | { kind: 'Forbidden'; message: string; permission: Permission }
  | { kind: 'RateLimited'; message: string; retryAfterSeconds: number }
  | { kind: 'ReadOnly'; message: string }
  | { kind: 'ClusterUnavailable'; message: string; retryable: boolean }
  | { kind: 'InvalidInput'; message: string; issues: InputIssue[] }
  /** The row as it stands, with its deletion; null while the view does not show the uninstall yet. */
  | { kind: 'ReleaseUninstalling'; message: string; row: Row | null }
  | { kind: 'PlanNotFound'; message: string; planHash: string }
  | { kind: 'RevisionNotFound'; message: string; revision: number }
  | { kind: 'ExternalRelease'; message: string }
  | { kind: 'ScalerEnabled'; message: string }
  | { kind: 'SloUnavailable'; message: string; retryable: boolean }

/** The refusals of one kind, or of some. */
export type RefusalOf<Kind extends Refusal['kind']> = Extract<Refusal, { kind: Kind }>

/** What an uninstall can be refused with. */
export type UninstallRefusal = RefusalOf<
  | 'ReleaseNotFound'
  | 'ApplyInProgress'
  | 'PreconditionFailed'
  | 'Conflict'
  | 'HelmFailed'
  | 'Forbidden'
  | 'RateLimited'
  | 'ReadOnly'
  | 'ClusterUnavailable'
  | 'InvalidInput'
>

/** An uninstall that failed: helm ended with an error, or could not be brought to an end. */
export interface UninstallFailure {
  /** One sentence for status.yaml and the run; bounded. */
  error: string
  /** What helm printed; bounded. */
  output: string
  /** Null when helm had no exit code (it was killed). */
  exitCode: number | null
}

export interface UninstallAccepted {
  kind: 'Uninstall'
  namespace: string
  name: string
  alreadyInProgress: boolean
  output: string
  /** The row as the view has it now; null for an untracked release, or once it is gone. */
  row: Row | null
  run: Run | null
  /** Feed position just before the mark's own event; a resolver makes a cursor of it. */
  position: number
}

export type UninstallOutcome = UninstallAccepted | UninstallRefusal

export interface UninstallRequest {
  namespace: string
  name: string
  expectedRevision: number | null
  expectedUid: string | null
  note: string | null
  waitFor: 'ACCEPTED' | 'HELM' | 'GONE'
  timeoutSeconds: number
}

/** An accepted change of a release. */
export interface Applied {
  kind: 'Apply'
  namespace: string
  name: string
  /** False when nothing differed from what runs: nothing was written. */
  changed: boolean
  /** As the view has it now; null when there is none. */
  revision: number | null
  /** What helm printed. */
  output: string
  row: Row | null
  run: Run
  /** Feed position just before the change's own first event; a resolver makes a cursor of it. */
  position: number
}

/** What a change can be refused with. */
export type ApplyRefusal = Exclude<Refusal, { kind: 'SloUnavailable' }>

/** What every write of a release can be refused with, before it is looked at what is to be written. */
export type EntryRefusal = RefusalOf<
  'ReadOnly' | 'ReleaseNotFound' | 'ApplyInProgress' | 'ReleaseUninstalling' | 'ClusterUnavailable'
>

export type ApplyOutcome = Applied | ApplyRefusal

export interface ApplyPlanRequest {
  namespace: string
  name: string
  planHash: string
  expectedRevision: number | null
  note: string | null
  /** Lets helm take over fields that others own; helm 4 only. */
  forceConflicts: boolean
}

export interface RollbackRequest {
  namespace: string
  name: string
  toRevision: number
  expectedRevision: number | null
  note: string | null
}
