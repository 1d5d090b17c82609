import { Agent } from 'undici'
import { onTestFinished } from 'vitest'
import type { VersionedChange } from '../../../../services/cluster/changes.ts'
import { KubeClient, type Selection } from '../../../../services/cluster/client.ts'
import type { Connection } from '../../../../services/cluster/connectionTypes.ts'
import { type Kind, Kinds, type KubeObject } from '../../../../services/cluster/kinds.ts'
import { Reflector } from '../../../../services/cluster/reflector.ts'
import type { Clock } from '../../../../services/runtime/clock.ts'
import type { Logger } from '../../../../services/runtime/logger.ts'
import { FakeClock } from '../../support/fakeClock.ts'
import { FakeApi } from './fakeApi.ts'
import { turn, until } from './until.ts'

export interface LogLine {
  level: string
  fields: Record<string, unknown>
  message: string
}

export function listLogger(): { logger: Logger; lines: LogLine[] } {
  const lines: LogLine[] = []
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message })
  return { lines, logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

/** A connection without a kubeconfig. */
export function plainConnection(url: string, extra: Partial<Connection> = {}): Connection {
  const dispatcher = new Agent()
  onTestFinished(() => dispatcher.destroy())
  return {
    server: url,
    contextName: 'test',
    user: 'tester',
    defaultNamespace: null,
    kubeconfigPath: null,
    dispatcher,
    headers: async () => ({ Authorization: 'Bearer token-1' }),
    unauthorized: () => {},
    close: () => dispatcher.destroy(),
    ...extra,
  }
}

/** A fake API server and a client of it, both gone when the test is over. */
export async function startCluster(extra: { clock?: Clock; connection?: Partial<Connection> } = {}) {
  const api = await new FakeApi().start()
  onTestFinished(() => api.stop())
  const clock = new FakeClock()
  const { logger, lines } = listLogger()
  const client = new KubeClient({
    connection: plainConnection(api.url, extra.connection),
    clock: extra.clock ?? clock,
    logger,
    userAgent: 'swiss-gateway/test',
  })
  /** Until no call is in flight, for a few turns in a row, and streams have brought what was written. */
  const settle = async () => {
    for (let quiet = 0; quiet < 6; quiet++) {
      await turn()
      if (client.inFlight > 0) quiet = 0
    }
  }
  return { api, clock, logger, lines, client, settle }
}

export interface Trimmed {
  name: string
  phase: string
}

export function trimPod(raw: KubeObject): Trimmed {
  return { name: raw.metadata.name, phase: (raw.status as { phase: string }).phase }
}

/** A reflector of pods on a fake API server, started. */
export async function startReflector(
  options: {
    kind?: Kind
    optional?: boolean
    random?: () => number
    before?: (api: FakeApi) => void
  } & Selection = {},
) {
  const cluster = await startCluster()
  const { kind = Kinds.Pod, before, random = () => 0.5, ...selection } = options
  before?.(cluster.api)
  const changes: VersionedChange<Trimmed>[] = []
  const known = new Map<string, Trimmed>()
  const reflector = new Reflector<Trimmed>({
    ...selection,
    kind,
    client: cluster.client,
    clock: cluster.clock,
    logger: cluster.logger,
    random,
    trim: trimPod,
    onChange: (change) => {
      changes.push(change)
      if (change.now) known.set(change.name, change.now)
      else known.delete(change.name)
    },
  })
  const stop = reflector.start()
  onTestFinished(stop)
  /** What the reflector has, as `name phase`. */
  const state = () => [...known.values()].map(({ name, phase }) => `${name} ${phase}`).sort()
  const seen = (version = cluster.api.version) =>
    until(`version ${version}`, () => reflector.status().resourceVersion === String(version))
  return { ...cluster, reflector, stop, changes, state, seen }
}

/** Changes in short: `+a Running`, `~a Running>Failed`, `-a Running event`. */
export function short(changes: VersionedChange<Trimmed>[]): string[] {
  return changes.map(({ old, now, cause, name }) => {
    if (!old) return `+${name} ${now?.phase} ${cause}`
    return now ? `~${name} ${old.phase}>${now.phase} ${cause}` : `-${name} ${cause}`
  })
}
