import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { AuditStore } from './auditStore.ts'
import { PostgresStore, type PostgresStoreOptions } from './postgresStore.ts'
import { postgresFailures } from './postgresTrouble.ts'
import type { AuditLog } from './run.ts'
import { StoredAudit } from './storedAudit.ts'

export interface PostgresAuditOptions {
  /** `postgres://user:password@host:port/database`; never said anywhere. */
  url: string
  clock: Clock
  logger: Logger
  /** How the database is opened; a test puts failures in between. */
  openStore?: (options: PostgresStoreOptions) => Promise<AuditStore>
}

/** The audit log in a PostgreSQL database, one for all gateways of a cluster. It need not be there at the start. */
export function postgresAudit(options: PostgresAuditOptions): AuditLog {
  const { url, clock, logger, openStore = PostgresStore.open } = options
  return new StoredAudit({
    shared: true,
    openStore: (onLost) => openStore({ url, clock, onLost }),
    failures: postgresFailures,
    about: { store: 'PostgreSQL' },
    clock,
    logger,
  })
}
