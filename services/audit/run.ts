import type { Backend } from '../deployments/row.ts'

export type RunAction =
  | 'INSTALL'
  | 'APPLY'
  | 'ROLLBACK'
  | 'UNINSTALL'
  | 'AUTOSCALE'
  | 'SET_AUTOSCALE'
  | 'SET_SLO'
  | 'RESET_SLO'
export type RunOutcome = 'STARTED' | 'SUCCEEDED' | 'FAILED'

/** One line of the audit log: an accepted mutation that changed something. Times are RFC 3339 in UTC. */
export interface Run {
  id: string
  namespace: string
  name: string
  backend: Backend
  action: RunAction
  outcome: RunOutcome
  actor: string | null
  note: string | null
  planHash: string | null
  revision: number | null
  changed: boolean
  /** Bounded text. */
  error: string | null
  /** Bounded text. */
  output: string | null
  startedAt: string
  endedAt: string | null
  /** uid of the object whose end closes an open run (the plan, the mark or the LLMService); not shown. */
  objectUid: string | null
}

export interface RunFilter {
  namespace?: string | undefined
  name?: string | undefined
  actions?: readonly RunAction[] | undefined
  outcomes?: readonly RunOutcome[] | undefined
  actors?: readonly string[] | undefined
  backends?: readonly Backend[] | undefined
  /** RFC 3339; startedAt at or after. */
  since?: string | undefined
  /** RFC 3339; startedAt before. */
  until?: string | undefined
}

/** The final word on a run. */
export interface RunEnd {
  outcome: 'SUCCEEDED' | 'FAILED'
  error: string | null
  output: string | null
  endedAt: string
}

export interface RunPage {
  /** Newest first. `cursor` is opaque. */
  edges: { cursor: string; run: Run }[]
  hasNextPage: boolean
  hasPreviousPage: boolean
  /** False when the store cannot be reached: an empty log, not an error. */
  available: boolean
}

/**
 * The audit log. Losing it loses history only, so nothing here throws: what cannot be written is kept in
 * memory and written when the store is back, and `warning()` says so meanwhile.
 */
export interface AuditLog {
  /** True when the gateways of a cluster can all write to it: what another has recorded is seen here too. */
  readonly shared: boolean
  /** Opens a run, or finds it open already (by id): one STARTED row. */
  start(run: Run): void
  /** Closes the run of that id, exactly once: a run that is closed stays as it is. Makes the row if `run` was lost. */
  finish(run: Run, end: RunEnd): void
  /** Runs that are still open, oldest first. */
  open(): Promise<Run[]>
  /** The run of that id, or null. */
  get(id: string): Promise<Run | null>
  page(args: { first: number; after?: string | undefined; filter?: RunFilter | undefined }): Promise<RunPage>
  /** Names what is wrong with the store, or null. */
  warning(): string | null
  /** Resolves when all that was said so far is in the store (or the store is away). */
  flush(): Promise<void>
  close(): Promise<void>
}
