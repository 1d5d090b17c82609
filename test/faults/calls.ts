/**
 * The gateways' calls to the API server, each of which a schedule can refuse, hold up, lose, or take as the
 * moment for something else to happen. It stands where the connection pool of a gateway stands.
 */
import { Readable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'
import { readResourcePath, verbOf } from '../../sandbox/api/paths.ts'
import type { Connection } from '../../services/cluster/connectionTypes.ts'
import type { FakeClock } from '../unit/support/fakeClock.ts'
import type { CallFault, CallMatch, GatewayName } from './schedule.ts'

const KINDS: Record<string, string> = {
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  pods: 'Pod',
  nodes: 'Node',
  llmservices: 'LLMService',
  leases: 'Lease',
}

const REASONS: Record<string, string> = {
  403: 'Forbidden',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
}

/** One call as a rule sees it. */
export interface GatedCall {
  on: GatewayName
  verb: string
  kind: string
  name: string
}

interface Rule extends CallMatch {
  /** How many calls it still acts on. */
  left: number
  fault?: { what: CallFault; seconds: number }
  /** Done just before the call is sent. */
  first?: () => void
}

type RequestOptions = Dispatcher.RequestOptions & { signal?: AbortSignal | null }

/** The rules for the calls of all gateways. */
export class CallRules {
  readonly clock: FakeClock
  #rules: Rule[] = []
  readonly #held = new Set<() => void>()
  /** Told of each rule that has acted. */
  readonly onFault: (what: string) => void

  constructor(clock: FakeClock, onFault: (what: string) => void) {
    this.clock = clock
    this.onFault = onFault
  }

  add(rule: Rule): void {
    this.#rules.push(rule)
  }

  /** Ends all rules, and whatever they hold up. */
  clear(): void {
    this.#rules = []
    for (const release of [...this.#held]) release()
  }

  /** The first rule that fits; one of its times is used up. */
  take(call: GatedCall): Rule | undefined {
    const rule = this.#rules.find((one) => fits(one, call))
    if (!rule) return undefined
    rule.left--
    if (rule.left <= 0) this.#rules = this.#rules.filter((one) => one !== rule)
    return rule
  }

  /** Resolves when the call may go on: the time is over, the rules are cleared, or it is aborted. */
  hold(ms: number | null, signal: AbortSignal | null | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const undo: (() => void)[] = []
      const end = (settle: () => void) => {
        for (const one of undo) one()
        this.#held.delete(release)
        settle()
      }
      const release = () => end(resolve)
      const abort = () => end(() => reject(signal?.reason))
      if (signal?.aborted) return reject(signal.reason)
      signal?.addEventListener('abort', abort, { once: true })
      undo.push(() => signal?.removeEventListener('abort', abort))
      if (ms !== null) undo.push(this.clock.setTimer(ms, release))
      this.#held.add(release)
    })
  }
}

function fits(rule: Rule, call: GatedCall): boolean {
  if (rule.on !== '' && rule.on !== call.on) return false
  return rule.verb === call.verb && rule.kind === call.kind && call.name.startsWith(rule.name)
}

/** How one life of a gateway reaches the API server. */
export class GatedConnection {
  readonly connection: Connection
  readonly #on: GatewayName
  readonly #rules: CallRules
  readonly #pool: Pool
  readonly #onCall: (when: 'before' | 'after') => boolean
  /** Calls that wait for nothing but the clock. */
  parked = 0

  /** @param options.onCall told of each call; true when the gateway has died of it */
  constructor(options: {
    url: string
    token: string
    on: GatewayName
    rules: CallRules
    onCall: (when: 'before' | 'after') => boolean
  }) {
    this.#on = options.on
    this.#rules = options.rules
    this.#onCall = options.onCall
    this.#pool = new Pool(options.url, { connections: 32 })
    const headers = { authorization: `Bearer ${options.token}` }
    this.connection = {
      server: options.url,
      contextName: 'schedule',
      user: options.token,
      defaultNamespace: null,
      kubeconfigPath: null,
      dispatcher: { request: (of: RequestOptions) => this.#request(of) } as unknown as Dispatcher,
      headers: async () => headers,
      unauthorized: () => {},
      close: () => this.#pool.destroy(),
    }
  }

  async #request(options: RequestOptions): Promise<unknown> {
    const call = callOf(this.#on, options)
    if (!call) return this.#send(options)
    if (this.#onCall('before')) throw new Error('the gateway has died')
    const rule = this.#rules.take(call)
    rule?.first?.()
    const what = rule?.fault?.what
    if (what) this.#rules.onFault(what)
    else if (rule) this.#rules.onFault('between')
    const answer = await this.#faulty(options, call, what, rule?.fault?.seconds ?? 0)
    if (this.#onCall('after')) throw new Error('the gateway has died')
    return answer
  }

  async #faulty(
    options: RequestOptions,
    call: GatedCall,
    what: CallFault | undefined,
    seconds: number,
  ): Promise<unknown> {
    switch (what) {
      case undefined:
        return this.#send(options)
      case 'refused':
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      case 'slow':
        await this.#park(seconds * 1000, options.signal)
        return this.#send(options)
      case 'stuck':
        await this.#park(null, options.signal)
        throw Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
      case 'lost':
      case 'hang': {
        const { body } = await this.#send(options)
        if (call.verb === 'watch') body.destroy()
        else await body.dump()
        if (what === 'hang') await this.#park(null, options.signal)
        throw Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
      }
      default:
        return this.#answer(what)
    }
  }

  #send(options: RequestOptions): Promise<Dispatcher.ResponseData> {
    return this.#pool.request(options as Dispatcher.RequestOptions)
  }

  async #park(ms: number | null, signal: AbortSignal | null | undefined): Promise<void> {
    this.parked++
    try {
      await this.#rules.hold(ms, signal)
    } finally {
      this.parked--
    }
  }

  #answer(what: string) {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: `made up: ${what}` }
    const body = { ...status, reason: REASONS[what], code: Number(what) }
    const date = new Date(this.#rules.clock.now()).toUTCString()
    const headers = {
      date,
      'content-type': 'application/json',
      ...(what === '429' && { 'retry-after': '1' }),
    }
    return { statusCode: Number(what), headers, body: Readable.from([Buffer.from(JSON.stringify(body))]) }
  }
}

function callOf(on: GatewayName, options: RequestOptions): GatedCall | null {
  const url = new URL(options.path, 'http://loopback')
  const path = readResourcePath(url.pathname)
  const kind = path && KINDS[path.plural]
  if (!path || kind === undefined) return null
  const verb = verbOf(options.method, path, url.searchParams.get('watch') === 'true') ?? ''
  const name = path.name || (verb === 'create' ? nameIn(options.body) : '')
  return { on, verb, kind, name }
}

function nameIn(body: unknown): string {
  try {
    return (JSON.parse(String(body)) as { metadata?: { name?: string } }).metadata?.name ?? ''
  } catch {
    return ''
  }
}
