import type { AuditLog } from '../services/audit/run.ts'
import type { Actor } from '../services/auth/actor.ts'
import type { DeploymentLister } from '../services/deployments/lister.ts'
import type {
  AutoscaleSet,
  SetAutoscaleRefusal,
  SetAutoscaleRequest,
} from '../services/releases/autoscaleSetter.ts'
import type { ComposeOutcome, ComposeRequest } from '../services/releases/composeOutcome.ts'
import type { ClusterInfo, ReleaseDetails } from '../services/releases/detailTypes.ts'
import type {
  ApplyOutcome,
  ApplyPlanRequest,
  RollbackRequest,
  UninstallOutcome,
  UninstallRequest,
} from '../services/releases/outcome.ts'
import type { SloThresholds } from '../services/slo/sloOutcome.ts'
import type { Feed } from '../subscriptions/feed.ts'

export type { GatewayContext } from '../schema/context.ts'

/**
 * What every resolver is given: the caller, and the services it may ask. Made per request in `server/`.
 *
 * The fields are added to the interface that the builder was made with. So resolvers see the services, typed,
 * while `schema/`, which may not know the feed, has no need to name it.
 */
declare module '../schema/context.ts' {
  interface GatewayContext {
    actor: Actor
    authDisabled: boolean
    /** Reads. Asking for a release that is being uninstalled also starts a check of it, and does not wait. */
    lister: DeploymentLister
    details: ReleaseDetails
    uninstaller: { uninstall(request: UninstallRequest, actor: Actor): Promise<UninstallOutcome> }
    applier: {
      applyPlan(request: ApplyPlanRequest, actor: Actor): Promise<ApplyOutcome>
      rollback(request: RollbackRequest, actor: Actor): Promise<ApplyOutcome>
    }
    composer: { compose(request: ComposeRequest, actor: Actor): Promise<ComposeOutcome> }
    autoscaleSetter: {
      set(request: SetAutoscaleRequest, actor: Actor): Promise<AutoscaleSet | SetAutoscaleRefusal>
    }
    slo: SloThresholds
    audit: AuditLog
    feed: Feed
    cluster: () => ClusterInfo
    /** What a client of server-sent events that comes back has sent as `Last-Event-ID`. */
    lastEventId: string | null
  }
}
