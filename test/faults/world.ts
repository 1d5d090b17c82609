/** Everything that one schedule has to itself: clock, API server, helm, gateways, subscribers, and what it knows. */
import { startApiServer } from '../../sandbox/api/server.ts'
import type { ApiServer } from '../../sandbox/api/types.ts'
import { memoryAudit } from '../../services/audit/memoryAudit.ts'
import type { AuditLog } from '../../services/audit/run.ts'
import { untilQuiet, withPatience } from '../cases/quiet.ts'
import { FakeClock } from '../unit/support/fakeClock.ts'
import { CallRules } from './calls.ts'
import { Cluster, planRef, serviceRef } from './cluster.ts'
import { Coverage } from './coverage.ts'
import { DeletionGuard } from './guard.ts'
import { HelmWorld, helmRecordsOf } from './helm.ts'
import { Lives } from './lives.ts'
import { Random } from './random.ts'
import { type Request, readAnswer, UNINSTALL } from './requests.ts'
import type { GatewayName, Schedule } from './schedule.ts'
import { type PhaseMessage, Subscriber } from './subscriber.ts'

const START = '2031-01-01T00:00:00Z'

export interface Violation {
  property: string
  message: string
}

/** What a planted bug may put between the gateways and the rest. */
export interface Plant {
  /** The log that one life of a gateway writes to. */
  audit?: (shared: AuditLog) => AuditLog
}

export class World {
  readonly schedule: Schedule
  readonly clock: FakeClock
  readonly api: ApiServer
  readonly cluster: Cluster
  readonly rules: CallRules
  readonly helm: HelmWorld
  readonly lives: Lives
  readonly guard: DeletionGuard
  readonly audit = memoryAudit()
  readonly subscribers: Map<GatewayName, Subscriber>
  readonly requests: Request[] = []
  readonly violations: Violation[] = []
  readonly coverage = new Coverage()
  /** Releases whose helm has failed at least once. */
  readonly helmFailed = new Set<string>()

  private constructor(schedule: Schedule, clock: FakeClock, api: ApiServer, plant: Plant) {
    this.schedule = schedule
    this.clock = clock
    this.api = api
    this.cluster = new Cluster(api.store, schedule.releases, START)
    this.rules = new CallRules(clock, (what) => this.coverage.add(`fault/${what}`))
    this.helm = new HelmWorld({
      ...{ store: api.store, clock },
      onTwo: (key) => this.violate('at most one helm run per release', `two helm runs of ${key} at once`),
      onUninstalled: (ref) => this.cluster.uninstalled(ref),
      onEnd: (how, ref) => {
        this.coverage.add(`helm/${how}`)
        if (how === 'error' || how === 'killed') this.helmFailed.add(`${ref.namespace}/${ref.name}`)
      },
    })
    const random = new Random(schedule.seed + 1)
    this.lives = new Lives({
      ...{ api, clock, rules: this.rules, helm: this.helm },
      audit: () => plant.audit?.(this.audit) ?? this.audit,
      random: () => random.next(),
      onKill: (point) => {
        if (point !== 'end') this.coverage.add(`kill/${point}`)
      },
      onLog: (message, { err, ...fields }: { err?: unknown }) => {
        const detail = err instanceof Error ? (err.stack ?? err.message) : String(err ?? '')
        this.violate('no unexpected failure', `${message} ${JSON.stringify(fields)} ${detail}`)
      },
    })
    this.guard = new DeletionGuard(api, this.cluster, clock, (property, message) =>
      this.violate(property, message),
    )
    this.subscribers = new Map(
      (schedule.replicas === 2 ? (['a', 'b'] as const) : (['a'] as const)).map((name) => [
        name,
        new Subscriber({
          name,
          violate: (property, message) => this.violate(property, `subscriber of ${name}: ${message}`),
          onChange: (message) => this.#changed(name, message),
        }),
      ]),
    )
  }

  /** The cluster of a schedule with its gateways up on it. */
  static async open(schedule: Schedule, plant: Plant = {}): Promise<World> {
    const clock = new FakeClock(START)
    const api = await startApiServer({ clock, tokens: {} })
    let world: World | undefined
    try {
      world = new World(schedule, clock, api, plant)
      for (const name of world.subscribers.keys()) await world.start(name)
      await world.settle()
      return world
    } catch (error) {
      await (world ? world.close() : api.stop())
      throw error
    }
  }

  violate(property: string, message: string): void {
    this.violations.push({ property, message })
  }

  async start(name: GatewayName): Promise<void> {
    await withPatience(`the start of gateway ${name}`, this.lives.start(name), () => this.busy())
  }

  busy(): string[] {
    const reasons = this.lives.busy()
    if (this.api.inFlight > 0) reasons.push(`API server: ${this.api.inFlight} requests`)
    return reasons
  }

  /** Until all work is done that does not wait for the clock. */
  async settleWork(): Promise<void> {
    await untilQuiet(() => this.busy())
  }

  async settle(): Promise<void> {
    await this.settleWork()
    for (const life of this.lives.all) {
      const subscriber = this.subscribers.get(life.name)
      if (!subscriber || subscriber.away > 0 || subscriber.listensTo(life)) continue
      await subscriber.connect(life)
      await subscriber.drain()
      await this.settleWork()
    }
    if (this.lives.parked === 0) this.guard.quiet()
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms, () => this.settleWork())
  }

  /** Sends an uninstall; its answer is taken in when it comes. */
  ask(
    of: { release: { namespace: string; name: string }; on: GatewayName; note: string; actor: string },
    input: { [key: string]: string | number | null },
    wrong: string | null,
  ): void {
    const life = this.lives.get(of.on)
    if (!life) return
    const { namespace, name } = of.release
    const request: Request = { note: of.note, key: `${namespace}/${name}`, wrong }
    this.requests.push(request)
    const variables = { input: { namespace, name, note: of.note, timeoutSeconds: 3600, ...input } }
    this.lives.ask(life, { query: UNINSTALL, variables }, of.actor).then(
      (response) => this.#answered(request, response),
      () => {
        request.answer = null
        this.coverage.add('answer/unanswered')
      },
    )
  }

  async close(): Promise<void> {
    for (const subscriber of this.subscribers.values()) subscriber.disconnect()
    this.rules.clear()
    this.lives.stop()
    await this.api.stop()
  }

  #answered(request: Request, response: { data?: unknown; errors?: unknown }): void {
    const answer = readAnswer(response)
    request.answer = answer ?? null
    if (!answer) {
      this.violate('answers', `${request.note}: ${JSON.stringify(response)}`)
      return
    }
    const accepted = answer.typename === 'UninstallReleasePayload'
    this.coverage.add(`answer/${accepted ? (answer.already ? 'already' : 'accepted') : 'refused'}`)
    this.coverage.add(`result/${answer.typename}`)
    if (accepted && !answer.already && request.wrong !== null) {
      this.violate('answers', `${request.note} was accepted with a wrong ${request.wrong}`)
    }
  }

  #changed(subscriber: string, message: PhaseMessage): void {
    const { previousPhase, phase, goneBecause, backend } = message
    this.coverage.add(`edge/${previousPhase}→${message.kind === 'REMOVED' ? 'REMOVED' : phase}`)
    if (goneBecause !== null) this.coverage.add(`gone/${goneBecause}`)
    const key = `${message.namespace}/${message.name}`
    const illegal = (why: string) =>
      this.violate('legal phase edges only', `${key} at ${subscriber}: ${previousPhase} → ${phase}: ${why}`)
    if (phase === 'GONE') {
      if (previousPhase === null) illegal('it was not there')
      if (previousPhase === 'UNINSTALLING' && goneBecause === 'PLAN_REMOVED')
        illegal('it was being uninstalled')
      if (goneBecause === 'PLAN_REMOVED' && backend !== 'HELM') illegal('it has no plan')
      if (goneBecause === 'UNINSTALLED') this.#reallyGone(message, key)
    } else if (message.kind === 'CHANGED' && previousPhase === 'UNINSTALLING' && backend === 'HELM') {
      const excused = this.cluster.didMeddle(key, 'overwritten', 'planRecreated', 'recreated')
      if (!excused && !(phase === 'FAILED' && this.helmFailed.has(key))) illegal('nobody took the mark away')
    }
  }

  /** Nothing is said to be gone before it is. */
  #reallyGone({ uid, backend }: PhaseMessage, key: string): void {
    const release = this.schedule.releases.find(({ namespace, name }) => `${namespace}/${name}` === key)
    if (!release) return
    const early = (what: string) =>
      this.violate('GONE is true', `${key} is said to be gone, and ${what} is there`)
    const { store } = this.cluster
    if (backend === 'LLMSERVICE') {
      if (store.get(serviceRef(release))?.metadata.uid === uid) early('its LLMService')
      return
    }
    if (store.get(planRef(release))?.metadata.uid === uid) early('its plan')
    if (helmRecordsOf(store, release).length > 0) early("helm's record")
    const pods = this.guard.overlooked(release)
    if (pods.length > 0) early(`its pod ${pods.join(', ')}`)
  }
}
