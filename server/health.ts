import type { AuditLog } from '../services/audit/run.ts'
import type { LeaderElector } from '../services/cluster/leaderElection.ts'
import type { ClusterCaches } from '../services/deployments/caches.ts'
import type { DeploymentLister } from '../services/deployments/lister.ts'
import type { Health } from './http.ts'

/** What `/healthz` and `/readyz` say: each cache with its state, the age of its last event, its last error. */
export function readiness(of: {
  caches: ClusterCaches
  view: DeploymentLister
  elector: LeaderElector
  audit: AuditLog
  /** The gateway's own clock, ms. */
  now: () => number
}): Health {
  const { caches, view, elector, audit, now } = of
  return {
    live: true,
    ready: view.ready,
    report: {
      caches: caches.status().map((status) => ({
        kind: status.kind,
        namespace: status.namespace ?? null,
        labelSelector: status.labelSelector ?? null,
        state: status.state,
        synced: status.synced,
        lastEventAgeSeconds:
          status.lastEventAt === null ? null : Math.max(0, Math.round((now() - status.lastEventAt) / 1000)),
        lastError: status.lastError,
      })),
      leader: elector.leader,
      leaderError: elector.lastError,
      audit: audit.warning(),
    },
  }
}
