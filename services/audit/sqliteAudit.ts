import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { AuditStore } from './auditStore.ts'
import type { AuditLog } from './run.ts'
import { SqliteStore } from './sqliteStore.ts'
import { sqliteFailures } from './sqliteTrouble.ts'
import { StoredAudit } from './storedAudit.ts'

export interface SqliteAuditOptions {
  /** The file; its folder has to exist. */
  path: string
  clock: Clock
  logger: Logger
  /** How the file is opened; a test puts failures in between. */
  openStore?: (path: string) => Promise<AuditStore>
}

/**
 * The audit log in a SQLite file. Several gateways of one machine may use one file, but whether the others do
 * is not known here, so the log counts as this process's alone.
 */
export function sqliteAudit({
  path,
  clock,
  logger,
  openStore = SqliteStore.open,
}: SqliteAuditOptions): AuditLog {
  return new StoredAudit({
    shared: false,
    openStore: () => openStore(path),
    failures: sqliteFailures,
    about: { path },
    clock,
    logger,
  })
}
