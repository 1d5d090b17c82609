import type { AuditLog, Run, RunEnd, RunPage } from './run.ts'

/** What is written, in the order in which it was said. */
export type AuditEntry = { kind: 'start'; run: Run } | { kind: 'finish'; run: Run; end: RunEnd }

/** An open store of runs. Every method throws when the store fails; `StoredAudit` deals with that. */
export interface AuditStore {
  /** False when what is written here would be lost, or the store has gone: it is then opened again. */
  isCurrent(): Promise<boolean>
  /** Writes all entries or none. Of several writers, in whatever process, exactly one closes a run. */
  write(entries: readonly AuditEntry[]): Promise<void>
  /** Runs that are still open, oldest first. */
  open(): Promise<Run[]>
  get(id: string): Promise<Run | null>
  page(args: Parameters<AuditLog['page']>[0]): Promise<RunPage>
  close(): Promise<void>
}

/** What the failures of one kind of store mean. */
export interface StoreFailures {
  /** In words for users: no path, no address, no name and no password. */
  trouble(error: unknown): string
  /** For the gateway's own log; no password either. */
  detail(error: unknown): string
  /** Another writer is in the way: no trouble, as long as it does not last. */
  isBusy(error: unknown): boolean
  /** The store is well, but does not take this entry or this question. */
  isEntryAtFault(error: unknown): boolean
}
