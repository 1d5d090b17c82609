import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { AuditLog } from '../services/audit/run.ts'
import type { Connection } from '../services/cluster/connectionTypes.ts'
import type { HelmAvailable } from '../services/helm/runner.ts'
import type { Logger } from '../services/runtime/logger.ts'
import { systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { crashAt } from './crashAt.ts'
import { CommandError, endingSignal, listenProblem, stopWithin } from './ending.ts'
import type { Gateway } from './gateway.ts'
import { makeHelm } from './helm.ts'
import { makeLogger } from './logger.ts'
import { VERSION } from './version.ts'

/** `swiss-gateway serve`: says which cluster it is about to use, listens, and ends on a signal. */
export async function serve(config: Config, env: NodeJS.ProcessEnv): Promise<void> {
  const gateway = await startServing(config, env)
  process.stdout.write(`\nListening at ${gateway.url}\n`)
  await endingSignal()
  if (!(await stopWithin(() => gateway.stop())))
    throw new CommandError(1, 'Stopping took too long; it was cut short.')
}

/** Connects, prints what it connects to, and starts the gateway. Throws CommandError. */
export async function startServing(config: Config, env: NodeJS.ProcessEnv): Promise<Gateway> {
  const logger = makeLogger(config.logLevel)
  const connection = await connect(config, env)
  // helm and its plugins have no business in the audit log.
  const { SWISS_AUDIT_URL: _url, PGPASSWORD: _password, ...helmEnv } = env
  const helm = makeHelm(connection, config.helmBin, helmEnv, logger)
  // helm takes its time to say its version, and so does loading the rest.
  const [available, { startGateway }] = await Promise.all([helm.available(), import('./gateway.ts')])
  process.stdout.write(clusterText(config, connection, available))

  const audit = await openAudit(config, connection, env, logger)
  const checkpoint = crashAt(env)
  try {
    return await startGateway({
      config: {
        ...config,
        // One that is there: a Lease cannot be made in a namespace that is not.
        gatewayNamespace: config.gatewayNamespace ?? connection.defaultNamespace ?? 'default',
        clusterName: config.clusterName ?? null,
      },
      connection,
      clock: systemClock,
      logger,
      audit,
      helm,
      ...(checkpoint ? { checkpoint } : {}),
    })
  } catch (error) {
    const problem = listenProblem(error, config.host, config.port)
    throw problem === undefined ? error : new CommandError(2, problem)
  }
}

/** What is about to be used, so that nobody serves the wrong cluster unawares. */
function clusterText(config: Config, connection: Connection, helm: HelmAvailable): string {
  const { server, contextName, user } = connection
  const lines = [
    ['server', server],
    ['context', contextName],
    ['user', user ?? 'anonymous'],
    ['namespaces', config.namespaces.join(', ') || 'all'],
    [
      'helm',
      'version' in helm
        ? `${helm.version} (${config.helmBin})`
        : `none, so no helm release can be uninstalled: ${helm.missing}`,
    ],
    ...(config.readOnly ? [['mode', 'read-only']] : []),
  ]
  const table = lines.map(([name = '', value]) => `  ${name.padEnd(11)} ${value}\n`)
  return `Swiss gateway ${VERSION}\n${table.join('')}`
}

async function connect({ kubeconfig, context }: Config, environment: NodeJS.ProcessEnv): Promise<Connection> {
  // Half a second of loading, not needed for --help or a wrong flag.
  const { ConnectionError, loadConnection } = await import('../services/cluster/connection.ts')
  try {
    return loadConnection({ kubeconfig, context, environment })
  } catch (error) {
    if (error instanceof ConnectionError) throw new CommandError(2, error.message)
    throw error
  }
}

/** Never fails: a store that is away is a warning of the gateway's, not a reason to stay down. */
async function openAudit(
  config: Config,
  connection: Connection,
  env: NodeJS.ProcessEnv,
  logger: Logger,
): Promise<AuditLog> {
  if (config.auditUrl !== undefined) {
    const { postgresAudit } = await import('../services/audit/postgresAudit.ts')
    return postgresAudit({ url: config.auditUrl, clock: systemClock, logger })
  }
  const path = config.auditDb ?? usualAuditDb(connection, env)
  makeFolder(dirname(path))
  const { sqliteAudit } = await import('../services/audit/sqliteAudit.ts')
  return sqliteAudit({ path, clock: systemClock, logger })
}

/** One file per cluster: the runs of one must not be looked for in another. */
function usualAuditDb({ server }: Connection, env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
  const cluster = createHash('sha256').update(server).digest('hex').slice(0, 12)
  return join(state, 'swiss-gateway', `audit-${cluster}.db`)
}

/** Best effort. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch {
    // The audit store says so when it opens its file.
  }
}
