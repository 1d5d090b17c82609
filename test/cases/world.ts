import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApiServer } from '../../sandbox/api/server.ts'
import type { ApiCall, ApiServer } from '../../sandbox/api/types.ts'
import { FakeClock } from '../unit/support/fakeClock.ts'
import type { Pending } from './asking.ts'
import type { Case } from './format.ts'
import { type GatewayHouse, gatewayUserAgent, type MakeHouse } from './gateway.ts'
import { firstGateway, Gateways, type Running } from './gateways.ts'
import { plantGiven } from './given.ts'
import { CaseHelm } from './helm.ts'
import { defaultCaller } from './http.ts'
import type { Json, JsonMap } from './json.ts'
import { CasePrometheus } from './prometheus.ts'
import { untilQuiet, withPatience } from './quiet.ts'
import { timeMs } from './refs.ts'
import type { Caller } from './stepFormat.ts'
import { defaultDocument, Subscription } from './subscriptions.ts'

/** Everything that one case has to itself: clock, API server, helm, gateways, subscriptions, and what it knows. */
export class World {
  readonly house: GatewayHouse
  readonly clock: FakeClock
  readonly api: ApiServer
  readonly helm: CaseHelm
  readonly gateways: Gateways
  readonly prometheus: CasePrometheus | null
  /** Values that steps have kept. */
  readonly saved = new Map<string, Json>()
  /** Answers of background steps. */
  readonly pending = new Map<string, Pending>()
  readonly #folder: string
  readonly #own = new Map<string, { subscription: Subscription; of: Running }>()
  #default: { subscription: Subscription; of: Running } | undefined
  #events: Json[] = []
  #calls: ApiCall[] = []
  #failed: unknown

  private constructor(
    theCase: Case,
    house: GatewayHouse,
    clock: FakeClock,
    api: ApiServer,
    prometheus: CasePrometheus | null,
  ) {
    this.prometheus = prometheus
    this.house = house
    this.clock = clock
    this.api = api
    this.#folder = mkdtempSync(join(tmpdir(), 'swiss-case-'))
    this.helm = new CaseHelm(this.#folder)
    const { config, name } = theCase
    this.gateways = new Gateways({
      ...{ house, api, clock, config, random: seeded(name) },
      helmBin: this.helm.bin,
      prometheusUrl: prometheus?.url ?? null,
      folder: this.#folder,
    })
    api.onCall((call) => {
      if (call.userAgent.startsWith(gatewayUserAgent)) this.#calls.push(call)
    })
  }

  /** The cluster as given, with the first gateway up on it. */
  static async open(theCase: Case, makeHouse: MakeHouse): Promise<World> {
    const clock = new FakeClock(timeMs(theCase.given.now) ?? 0)
    const api = await startApiServer({
      clock,
      tokens: {},
      served: theCase.given.crds,
      faultsApplyTo: ({ userAgent }) => userAgent.startsWith(gatewayUserAgent),
    })
    const prometheus = theCase.config.prometheus ? await CasePrometheus.start(() => clock.now()) : null
    let world: World | undefined
    try {
      plantGiven(api.store, theCase.given)
      world = new World(theCase, makeHouse(), clock, api, prometheus)
      await world.gateways.start(firstGateway)
      await world.settle()
      return world
    } catch (error) {
      if (!world) prometheus?.stop()
      await (world ? world.close() : api.stop())
      throw error
    }
  }

  /** The gateway of that name, which must be up. */
  up(name = firstGateway): Running {
    const running = this.gateways.get(name)
    if (running) return running
    throw new Error(this.gateways.knows(name) ? `gateway ${name} is down` : `there is no gateway ${name}`)
  }

  /** Sends a document and waits for its answer, in real time. */
  ask(document: { query: string; variables?: JsonMap }, of: Running, caller: Caller = defaultCaller) {
    return withPatience('the answer', of.http.post(document, caller), () => this.busy())
  }

  /** Makes the case fail after the present step, for what goes wrong where nobody waits. */
  fail(error: unknown): void {
    this.#failed ??= error
  }

  /** Names whatever is still going on, other than what a case may leave open. */
  busy(): string[] {
    const reasons = this.gateways.busy()
    if (this.api.inFlight > 0) reasons.push(`API server: ${this.api.inFlight} requests`)
    if (reasons.length > 0) return reasons
    // Asked last, since it looks at files.
    const waited = this.gateways.running.reduce((sum, { gateway }) => sum + gateway.helmRunning, 0)
    const held = this.helm.held()
    if (waited !== held.length) return [`helm: ${waited} running, ${held.length} held`]
    const running = this.helm.running().filter((pid) => !held.includes(pid))
    return running.map((pid) => `helm: process ${pid} runs`)
  }

  /** Between two timers: all work is done, what was sent to subscribers may still be on its way. */
  async settleWork(): Promise<void> {
    await untilQuiet(() => this.busy())
    if (await this.#watchDefault()) await this.settleWork()
  }

  /** After a step: all work is done and every subscriber has what was sent to it. */
  async settle(): Promise<void> {
    await this.settleWork()
    for (const { subscription, of } of this.#subscriptions()) {
      if (this.gateways.get(of.name) === of) await withPatience('a ping', subscription.drain())
      else subscription.stop()
    }
    await untilQuiet(() => this.busy())
    if (this.#failed !== undefined) throw this.#failed
    const { subscription, of } = this.#default ?? {}
    if (!subscription || this.gateways.get(firstGateway) !== of) return
    const trouble = subscription.trouble ?? (subscription.ended ? 'has ended' : undefined)
    if (trouble !== undefined) throw new Error(`the default subscription: ${trouble}`)
  }

  /** Starts a subscription of the case's own. */
  async subscribe(
    id: string,
    document: { query: string; variables?: JsonMap },
    of: Running,
    caller = defaultCaller,
  ) {
    if (this.#own.has(id)) throw new Error(`there is a subscription ${id} already`)
    const subscription = await Subscription.start(this.house.schema, of.gateway.url, caller, document)
    this.#own.set(id, { subscription, of })
    await this.settle()
    if (subscription.trouble !== undefined) throw new Error(`subscription ${id}: ${subscription.trouble}`)
  }

  /** Data of one subscription since the last look. */
  lookStream(id: string): Json[] {
    const own = this.#own.get(id)
    if (!own) throw new Error(`there is no subscription ${id}`)
    const { trouble } = own.subscription
    if (trouble !== undefined && this.gateways.get(own.of.name) === own.of) {
      throw new Error(`subscription ${id}: ${trouble}`)
    }
    return own.subscription.look()
  }

  /** Events of the default subscription since the last look. */
  lookEvents(): Json[] {
    const first = this.gateways.get(firstGateway)
    // Nothing would come, and nothing would look like no change.
    if (first && this.#default?.of !== first) throw new Error('there are no events: the gateway is not ready')
    this.#collectEvents()
    const events = this.#events
    this.#events = []
    return events
  }

  /** The gateways' calls to the API server since the last look. */
  lookCalls(): ApiCall[] {
    const calls = this.#calls
    this.#calls = []
    return calls
  }

  /** Stops whatever was started. */
  async close(): Promise<void> {
    for (const { subscription } of this.#subscriptions()) subscription.stop()
    this.helm.release()
    this.gateways.stop()
    this.prometheus?.stop()
    await this.api.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #subscriptions() {
    return [...this.#own.values(), ...(this.#default ? [this.#default] : [])]
  }

  #collectEvents(): void {
    for (const data of this.#default?.subscription.look() ?? []) {
      this.#events.push((data as JsonMap).deploymentPhaseChanged ?? null)
    }
  }

  /** Starts the default subscription on a first gateway that has come up since. */
  async #watchDefault(): Promise<boolean> {
    const first = this.gateways.get(firstGateway)
    if (!first?.gateway.ready || this.#default?.of === first) return false
    this.#collectEvents()
    this.#default?.subscription.stop()
    const query = defaultDocument(this.house.schema)
    const { schema } = this.house
    const subscription = await Subscription.start(schema, first.gateway.url, defaultCaller, { query })
    this.#default = { subscription, of: first }
    await subscription.drain()
    return true
  }
}

/** The same numbers in each run of a case (mulberry32, seeded with its name). */
function seeded(name: string): () => number {
  let state = [...name].reduce(
    (hash, letter) => Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619),
    2_166_136_261,
  )
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
