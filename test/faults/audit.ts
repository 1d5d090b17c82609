/** The audit store that all gateways share, as one life of one gateway writes to it. */
import type { AuditLog } from '../../services/audit/run.ts'

/** What a process that is dead says is not heard. */
export function lifeAudit(shared: AuditLog, alive: () => boolean): AuditLog {
  return {
    ...shared,
    start: (run) => {
      if (alive()) shared.start(run)
    },
    finish: (run, end) => {
      if (alive()) shared.finish(run, end)
    },
    close: async () => {},
  }
}
