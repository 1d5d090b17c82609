/** The services of one gateway, put together: who knows whom is said here and nowhere else. */
import { autoscaleLoop } from '../loops/autoscale.ts'
import type { Loop } from '../loops/loop.ts'
import { reapLoop } from '../loops/reap.ts'
import type { AuditLog } from '../services/audit/run.ts'
import { runIds } from '../services/audit/runIds.ts'
import { Metrics } from '../services/autoscale/metrics.ts'
import type { CanaryKeys } from '../services/canary/relationship.ts'
import { KubeClient } from '../services/cluster/client.ts'
import type { Connection } from '../services/cluster/connectionTypes.ts'
import { LeaderElector } from '../services/cluster/leaderElection.ts'
import { LeaseLocks } from '../services/cluster/leases.ts'
import { AutoscalePolicies } from '../services/deployments/autoscalePolicies.ts'
import { ClusterCaches } from '../services/deployments/caches.ts'
import type { DeploymentLister } from '../services/deployments/lister.ts'
import type { ReleaseRef } from '../services/deployments/row.ts'
import { DeploymentView } from '../services/deployments/view.ts'
import type { HelmRunner } from '../services/helm/runner.ts'
import { AcceptHelm } from '../services/releases/acceptHelm.ts'
import { AcceptService } from '../services/releases/acceptService.ts'
import { Applier } from '../services/releases/applier.ts'
import { ApplyHelm } from '../services/releases/applyHelm.ts'
import { ApplyLocked } from '../services/releases/applyLocked.ts'
import { ApplyRuns } from '../services/releases/applyRuns.ts'
import { ApplyService } from '../services/releases/applyService.ts'
import { Autoscaler } from '../services/releases/autoscaler.ts'
import { AutoscaleSetter } from '../services/releases/autoscaleSetter.ts'
import { AutoscaleWrites } from '../services/releases/autoscaleWrites.ts'
import { Check } from '../services/releases/check.ts'
import { CheckingLister } from '../services/releases/checkingLister.ts'
import { Checks } from '../services/releases/checks.ts'
import { ComposedPlans } from '../services/releases/composedPlans.ts'
import { Composer } from '../services/releases/composer.ts'
import { Details } from '../services/releases/detail.ts'
import { HelmRuns } from '../services/releases/helmRuns.ts'
import { ReleaseLocks } from '../services/releases/lock.ts'
import { LostApplies } from '../services/releases/lostApplies.ts'
import { Marks } from '../services/releases/marks.ts'
import { Orphans } from '../services/releases/orphans.ts'
import { PlanWrites } from '../services/releases/planWrites.ts'
import { Reap } from '../services/releases/reap.ts'
import { ServiceCheck } from '../services/releases/serviceCheck.ts'
import { type OpenUninstall, UninstallTracker } from '../services/releases/tracker.ts'
import { Uninstaller } from '../services/releases/uninstall.ts'
import type { Checkpoint } from '../services/runtime/checkpoint.ts'
import type { Clock } from '../services/runtime/clock.ts'
import type { Logger } from '../services/runtime/logger.ts'
import { TaskTracker } from '../services/runtime/tasks.ts'
import { SloClient } from '../services/slo/sloClient.ts'
import { SloService } from '../services/slo/sloService.ts'

export interface AssembleOptions {
  connection: Connection
  clock: Clock
  logger: Logger
  random: () => number
  /** Unique to this process and start; shown as the holder of locks and as the leader. */
  identity: string
  audit: AuditLog
  checkpoint: Checkpoint
  /** helm on the same cluster, as the same user. */
  helm: HelmRunner
  gatewayNamespace: string
  namespaces: readonly string[]
  readOnly: boolean
  canaryKeys: CanaryKeys
  /** Of the Prometheus that autoscaling asks; null for none. */
  prometheusUrl?: string | null
  /** Aborts when the gateway is shut down. */
  stopping: AbortSignal
  gatewayVersion: string
}

export interface Services {
  client: KubeClient
  caches: ClusterCaches
  policies: AutoscalePolicies
  tracker: UninstallTracker
  view: DeploymentView
  /** The view for readers: a read also starts checks. */
  lister: DeploymentLister
  checks: Checks
  details: Details
  uninstaller: Uninstaller
  applier: Applier
  autoscaleSetter: AutoscaleSetter
  /** For whatever else changes a release, or what lies beside it. */
  applyLocked: ApplyLocked
  composer: Composer
  slo: SloService
  sloClient: SloClient
  elector: LeaderElector
  helm: HelmRunner
  tasks: TaskTracker
  reap: Loop
  autoscale: Loop
  metrics: Metrics
}

/** Makes all services; nothing is started and nothing is sent. */
export function assemble(options: AssembleOptions): Services {
  const { connection, clock, logger, random, identity, audit, helm, checkpoint, namespaces, stopping } =
    options
  const client = new KubeClient({
    connection,
    clock,
    logger,
    userAgent: `swiss-gateway/${options.gatewayVersion}`,
  })
  const now = () => client.now()
  const tasks = new TaskTracker((error, name) => logger.error({ err: error, task: name }, 'a task failed'))
  const caches = new ClusterCaches({ client, namespaces, clock, logger, random })
  const marks = new Marks(client)
  const locks = new ReleaseLocks({ leases: new LeaseLocks({ client, clock, logger }), identity })

  // The view, the checks and the tracker speak of each other: what is new of an uninstall is shown, and checked.
  const tracker: UninstallTracker = new UninstallTracker((open) => changed(open))
  const policies = new AutoscalePolicies({ client, clock, random, tasks, logger, stopping })
  const view = new DeploymentView({
    caches,
    policies,
    uninstalls: tracker,
    now,
    canaryKeys: options.canaryKeys,
  })
  const show = (open: OpenUninstall) => view.refresh(open.ref, 'REAP_LOOP')
  const changed = (open: OpenUninstall) =>
    checks.request(open.ref, { live: true, mayRunHelm: false, askedAgain: false })

  const common = { client, marks, locks, tracker, audit, now, checkpoint, logger, onNews: show }
  const helmRuns = new HelmRuns({ ...common, helm, tasks, stopping, onOver: changed })
  const reap = new Reap(common)
  const newId = runIds(now)
  const inputs = (ref: ReleaseRef) => view.inputs(ref)
  const serviceCheck = new ServiceCheck({ ...common, reap, inputs })
  const check: Check = new Check({ ...common, helm, helmRuns, serviceCheck, reap, inputs })
  const checks = new Checks({ check, tracker, tasks, now })
  const uninstaller = new Uninstaller({
    ...common,
    checks,
    view,
    clock,
    acceptHelm: new AcceptHelm({ ...common, helm, helmRuns, checks, view, clock, newId }),
    acceptService: new AcceptService({ ...common, newId, view }),
    stopping,
    readOnly: options.readOnly,
    namespaces,
  })
  const changing = {
    ...common,
    helm,
    caches,
    view,
    clock,
    newId,
    tasks,
    stopping,
    plans: new PlanWrites(client),
  }
  const applyLocked = new ApplyLocked({
    ...changing,
    applyHelm: new ApplyHelm({ ...changing, applyRuns: new ApplyRuns(changing) }),
    applyService: new ApplyService(changing),
    readOnly: options.readOnly,
    namespaces,
  })
  const metrics = new Metrics({ url: options.prometheusUrl ?? null, clock })
  const autoscaler = new Autoscaler({
    ...changing,
    policies,
    applyLocked,
    writes: new AutoscaleWrites({ client, policies, logger }),
    metrics,
    readOnly: options.readOnly,
  })
  const elector = new LeaderElector({
    client,
    clock,
    logger,
    random,
    identity,
    namespace: options.gatewayNamespace,
  })
  const composedPlans = new ComposedPlans({ client, namespace: options.gatewayNamespace })
  const composer = new Composer({ client, composedPlans, readOnly: options.readOnly, namespaces })
  const sloClient = new SloClient(clock)
  const orphans = new Orphans({ ...common, caches })
  const lostApplies = new LostApplies({ ...common, caches, view })
  return {
    client,
    caches,
    policies,
    tracker,
    view,
    lister: new CheckingLister(view, checks),
    checks,
    details: new Details({ client, caches, view }),
    uninstaller,
    applier: new Applier({ client, applyLocked, composed: composedPlans }),
    autoscaleSetter: new AutoscaleSetter({ ...changing, policies, applyLocked }),
    applyLocked,
    composer,
    slo: new SloService({
      client,
      sloClient,
      audit,
      newId,
      gatewayNamespace: options.gatewayNamespace,
      readOnly: options.readOnly,
      namespaces,
    }),
    sloClient,
    elector,
    helm,
    tasks,
    reap: reapLoop({
      clock,
      tasks,
      isLeader: () => elector.isLeader,
      checks,
      orphans,
      lostApplies,
      composedPlans,
    }),
    metrics,
    autoscale: autoscaleLoop({ clock, tasks, isLeader: () => elector.isLeader, autoscaler }),
  }
}
