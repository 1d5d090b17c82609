/** One gateway: its services started in order, and its tear-down. */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { hostname } from 'node:os'
import { schema } from '../resolvers/index.ts'
import type { AuditLog } from '../services/audit/run.ts'
import type { Actor, Permission } from '../services/auth/actor.ts'
import { type CanaryKeys, DEFAULT_CANARY_KEYS } from '../services/canary/relationship.ts'
import type { KubeClient } from '../services/cluster/client.ts'
import type { Connection } from '../services/cluster/connectionTypes.ts'
import type { HelmRunner } from '../services/helm/runner.ts'
import { clusterInfo } from '../services/releases/clusterInfo.ts'
import type { Checkpoint } from '../services/runtime/checkpoint.ts'
import { type Clock, sleep } from '../services/runtime/clock.ts'
import type { Logger } from '../services/runtime/logger.ts'
import type { TaskTracker } from '../services/runtime/tasks.ts'
import { Feed } from '../subscriptions/feed.ts'
import { assemble, type Services } from './assemble.ts'
import { readiness } from './health.ts'
import { type HttpServer, startHttpServer } from './http.ts'
import { VERSION } from './version.ts'

export interface GatewayConfig {
  host: string
  /** 0 picks a free one. */
  port: number
  allowedHosts: readonly string[]
  allowedOrigins: readonly string[]
  /** Namespaces that are looked at; empty for all. */
  namespaces: readonly string[]
  /** The gateway's own namespace, where the leader Lease lies. */
  gatewayNamespace: string
  /** Shown by `cluster.name`; the kubeconfig's context when null. */
  clusterName: string | null
  readOnly: boolean
  /** Where LLMServices say that they belong to a canary; the usual keys when absent. */
  canaryKeys?: CanaryKeys
  /** Of the Prometheus that autoscaling asks; null for none. */
  prometheusUrl?: string | null
}

export interface GatewayOptions {
  config: GatewayConfig
  connection: Connection
  clock: Clock
  logger: Logger
  audit: AuditLog
  /** helm on the same cluster, as the same user. */
  helm: HelmRunner
  random?: () => number
  identity?: string
  /** Who asks. By default nobody is known by name: there is no authentication yet. */
  authenticate?: (headers: IncomingHttpHeaders) => Actor
  checkpoint?: Checkpoint
  /** False leaves the loops to `tick`: a test says when they run. */
  tickers?: boolean
}

export interface Gateway {
  /** `http://127.0.0.1:4000/graphql` */
  url: string
  ready: boolean
  /** Feed position of the newest change. */
  position: number
  client: KubeClient
  tasks: TaskTracker
  helmRunning: number
  /** Where each watch stands, for the barrier of the tests. */
  streams(): {
    kind: string
    namespace: string
    labelSelector: string
    resourceVersion: string
    open: boolean
  }[]
  /** One pass of a loop now, whether or not this gateway leads. */
  tick(loop: 'reap' | 'autoscale'): Promise<void>
  /** Ends it in order: streams are closed, helm runs are left to whoever comes next, leases are given back. */
  stop(): Promise<void>
  /** Ends it as a crash would: nothing is given back and nothing more is sent. */
  kill(): void
}

const NOBODY: Actor = { name: 'anonymous', groups: [] }
const ALL: Permission[] = ['VIEW', 'DEPLOY', 'UNINSTALL']
/** How long the shut-down waits for work under way. */
const STOP_MS = 8000
/** The versions that `cluster` shows are asked for again so often until they are known. */
const VERSIONS_MS = 30_000

/** Starts a gateway. Resolves when it listens; the caches fill meanwhile (`/readyz` says when they are). */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, connection, clock, logger, audit, helm } = options
  const stopping = new AbortController()
  const services = assemble({
    ...config,
    canaryKeys: config.canaryKeys ?? DEFAULT_CANARY_KEYS,
    connection,
    clock,
    logger,
    audit,
    helm,
    random: options.random ?? Math.random,
    identity: options.identity ?? `${hostname()}_${randomBytes(4).toString('hex')}`,
    checkpoint: options.checkpoint ?? (async () => undefined),
    stopping: stopping.signal,
    gatewayVersion: VERSION,
  })
  const { client, caches, view, elector, tasks } = services
  const versions = watchVersions(services, clock, stopping.signal)
  const feed = new Feed({ lister: services.lister, clock })
  const cluster = () =>
    clusterInfo({
      name: config.clusterName ?? connection.contextName,
      gatewayVersion: VERSION,
      readOnly: config.readOnly,
      client,
      caches,
      audit,
      elector,
      versions,
    })
  const http = await startHttpServer({
    schema,
    contextFor: (actor, info) => ({
      actor,
      authDisabled: options.authenticate === undefined,
      can: () => (config.readOnly ? ['VIEW'] : ALL),
      lister: services.lister,
      details: services.details,
      uninstaller: services.uninstaller,
      applier: services.applier,
      composer: services.composer,
      autoscaleSetter: services.autoscaleSetter,
      slo: services.slo,
      audit,
      feed,
      cluster,
      lastEventId: info.lastEventId,
    }),
    authenticate: options.authenticate ?? (() => NOBODY),
    health: () => readiness({ caches, view, elector, audit, now: () => clock.now() }),
    logger,
    host: config.host,
    port: config.port,
    graphiql: true,
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
  }).catch(async (error: unknown) => {
    // A busy port: nothing runs yet but what asks for the versions.
    stopping.abort()
    await audit.close()
    await connection.close()
    throw error
  })
  const tearDown = start(services, options.tickers ?? true)

  return {
    url: http.url,
    client,
    tasks,
    get ready() {
      return view.ready
    },
    get position() {
      return view.position
    },
    get helmRunning() {
      return helm.running
    },
    streams: () =>
      caches.status().map(({ kind, namespace, labelSelector, resourceVersion, open }) => ({
        kind,
        namespace: namespace ?? '',
        labelSelector: labelSelector ?? '',
        resourceVersion,
        open,
      })),
    tick: (loop) => services[loop].tick(),
    stop: () => stop(http, services, audit, clock, tearDown, stopping, logger, connection),
    kill: () => {
      client.kill()
      stopping.abort()
      http.kill()
      tearDown.now()
      // A crash waits for nothing.
      helm.killAll().catch(() => undefined)
      services.metrics.close().catch(() => undefined)
      services.sloClient.close().catch(() => undefined)
      connection.close().catch(() => undefined)
    },
  }
}

interface TearDown {
  /** Stops what runs by itself. */
  now(): void
  /** Gives the leader Lease back. */
  lease(): Promise<void>
}

function start(
  { caches, policies, tracker, view, checks, elector, reap, autoscale }: Services,
  tickers: boolean,
): TearDown {
  // The order matters: whoever keeps what leaves the caches must hear of it before the view does.
  const stops = [
    tracker.follow(caches),
    policies.follow(caches.autoscale),
    view.start(),
    checks.follow(caches, view),
    caches.start(),
  ]
  if (tickers) stops.push(reap.start(), autoscale.start())
  const lease = elector.start()
  return {
    now: () => {
      for (const one of stops) one()
    },
    lease,
  }
}

async function stop(
  http: HttpServer,
  { tasks, metrics, sloClient }: Services,
  audit: AuditLog,
  clock: Clock,
  tearDown: TearDown,
  stopping: AbortController,
  logger: Logger,
  connection: Connection,
): Promise<void> {
  stopping.abort()
  tearDown.now()
  await http.stop()
  const until = clock.now() + STOP_MS
  while (tasks.open.length > 0 && clock.now() < until) await sleep(clock, 20)
  if (tasks.open.length > 0) logger.warn({ tasks: tasks.open }, 'stopped before all work was over')
  await tearDown.lease()
  await audit.flush()
  await audit.close()
  await metrics.close()
  await sloClient.close()
  await connection.close()
}

/** Versions that `cluster` shows, asked for until they are known. */
function watchVersions({ client, helm, tasks }: Services, clock: Clock, stopping: AbortSignal) {
  const versions: { kubernetes: string | null; helm: string | null; helmMissing: string | null } = {
    kubernetes: null,
    helm: null,
    helmMissing: null,
  }
  const ask = async () => {
    versions.kubernetes ??= await client.version({ signal: stopping }).then(
      ({ gitVersion }) => gitVersion,
      () => null,
    )
    const available = await helm.available()
    versions.helm = 'version' in available ? available.version : null
    versions.helmMissing = 'missing' in available ? available.missing : null
  }
  tasks.run('versions', async (task) => {
    while (!stopping.aborted) {
      await ask()
      if (versions.kubernetes !== null && versions.helm !== null) return
      await task.park(sleep(clock, VERSIONS_MS, stopping))
    }
  })
  return versions
}
