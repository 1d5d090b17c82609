/** The gateways of a schedule: started, crashed and brought back. Each life has an identity of its own. */

import type { ApiServer } from '../../sandbox/api/types.ts'
import { type Gateway, startGateway } from '../../server/gateway.ts'
import type { AuditLog } from '../../services/audit/run.ts'
import type { HelmRunner } from '../../services/helm/runner.ts'
import type { CheckpointName } from '../../services/runtime/checkpoint.ts'
import { gatewayNamespace } from '../cases/given.ts'
import { HttpClient, requestHeader } from '../cases/http.ts'
import { unseen } from '../cases/streamPositions.ts'
import type { FakeClock } from '../unit/support/fakeClock.ts'
import { lifeAudit } from './audit.ts'
import { type CallRules, GatedConnection } from './calls.ts'
import { FakeHelm, type HelmWorld } from './helm.ts'
import type { CrashPoint, GatewayName } from './schedule.ts'

/** A gateway that is up. */
export interface Life {
  name: GatewayName
  token: string
  gateway: Gateway
  http: HttpClient
  gate: GatedConnection
}

interface Setting {
  api: ApiServer
  clock: FakeClock
  rules: CallRules
  helm: HelmWorld
  /** The audit log as a new life sees it. */
  audit: () => AuditLog
  random: () => number
  onKill: (point: string, name: GatewayName) => void
  onLog: (message: string, fields: object) => void
}

const QUIET = { debug() {}, info() {}, warn() {} }

export class Lives {
  readonly #setting: Setting
  readonly #up = new Map<GatewayName, Life>()
  readonly #present = new Map<GatewayName, number>()
  readonly #armed = new Map<GatewayName | '', { point: CheckpointName } | { call: number; when: string }>()
  readonly #arriving = new Set<string>()
  #lives = 0
  #requests = 0

  constructor(setting: Setting) {
    this.#setting = setting
  }

  get all(): Life[] {
    return [...this.#up.values()]
  }

  get(name: GatewayName): Life | undefined {
    return this.#up.get(name)
  }

  async start(name: GatewayName): Promise<void> {
    if (this.#present.get(name)) return
    const life = ++this.#lives
    this.#present.set(name, life)
    const token = `gateway-${name}-${life}`
    const { api, clock, rules, helm, audit, random, onLog } = this.#setting
    api.setToken(token, { user: token, groups: ['system:masters'] })
    const gate = new GatedConnection({
      ...{ url: api.url, token, on: name, rules },
      onCall: (when) => this.#called(name, life, when),
    })
    const gateway = await startGateway({
      clock,
      random,
      identity: token,
      connection: gate.connection,
      audit: lifeAudit(audit(), () => this.#present.get(name) === life),
      // The class has private fields, so nothing else fits its type.
      helm: new FakeHelm(helm) as unknown as HelmRunner,
      logger: { ...QUIET, error: (fields, message) => onLog(message, fields) },
      config: {
        ...{ host: '127.0.0.1', port: 0, allowedHosts: [], allowedOrigins: [], namespaces: [] },
        ...{ gatewayNamespace, clusterName: null, readOnly: false },
      },
      authenticate: (headers) => {
        this.#arriving.delete(String(headers[requestHeader] ?? ''))
        return { name: String(headers['x-test-user'] ?? 'nobody'), groups: [] }
      },
      checkpoint: (point) => this.#pass(name, life, point),
    })
    // It may have died while it was starting.
    if (this.#present.get(name) !== life) return gateway.kill()
    this.#up.set(name, { name, token, gateway, gate, http: new HttpClient(gateway.url) })
  }

  /** Ends a gateway without warning. */
  kill(name: GatewayName, point: string): void {
    if (!this.#present.get(name)) return
    this.#present.delete(name)
    this.#armed.delete(name)
    this.#setting.onKill(point, name)
    const up = this.#up.get(name)
    if (!up) return
    this.#up.delete(name)
    up.gateway.kill()
    up.http.close().catch(() => {})
  }

  /** Orders a crash: of one gateway, or of whichever comes to that point first. */
  arm(name: GatewayName | '', at: CrashPoint): void {
    if (at === 'now') this.kill(name === '' ? 'a' : name, 'now')
    else if (name === '' || this.#present.get(name)) {
      this.#armed.set(name, typeof at === 'string' ? { point: at } : { ...at })
    }
  }

  disarm(): void {
    this.#armed.clear()
  }

  /** Sends a document. The request counts as under way until the gateway has taken it up. */
  async ask(life: Life, document: Parameters<HttpClient['post']>[0], user: string) {
    const id = `r${++this.#requests}`
    this.#arriving.add(id)
    try {
      return await life.http.post(document, { user, groups: [] }, id)
    } finally {
      this.#arriving.delete(id)
    }
  }

  /** What the gateways that are up have not finished, other than what waits for the clock. */
  busy(): string[] {
    const streams = this.#setting.api.streams()
    const reasons = this.all.flatMap(({ name, token, gateway, gate }) => {
      const own = unseen(
        streams.filter((stream) => stream.token === token),
        gateway.streams(),
      )
      const calls = gateway.client.inFlight - gate.parked
      if (calls > 0) own.push(`${calls} calls`)
      if (gate.parked === 0 && gateway.tasks.busy > 0) own.push(`tasks ${gateway.tasks.open.join(', ')}`)
      return own.map((reason) => `gateway ${name}: ${reason}`)
    })
    if (this.#arriving.size > 0) reasons.push('requests on their way')
    return reasons
  }

  get parked(): number {
    return this.all.reduce((sum, { gate }) => sum + gate.parked, 0)
  }

  stop(): void {
    for (const name of [...this.#present.keys()]) this.kill(name, 'end')
  }

  #called(name: GatewayName, life: number, when: 'before' | 'after'): boolean {
    if (this.#present.get(name) !== life) return true
    const armed = [name, '' as const].find((one) => {
      const order = this.#armed.get(one)
      return order && 'call' in order && order.when === when && --order.call <= 0
    })
    if (armed === undefined) return false
    this.#armed.delete(armed)
    this.kill(name, `${when}-a-call`)
    return true
  }

  #pass(name: GatewayName, life: number, point: CheckpointName): Promise<void> {
    if (this.#present.get(name) === life) {
      const armed = [name, '' as const].find((one) => {
        const order = this.#armed.get(one)
        return order && 'point' in order && order.point === point
      })
      if (armed === undefined) return Promise.resolve()
      this.#armed.delete(armed)
      this.kill(name, point)
    }
    // A life that is over stays where it is.
    return new Promise(() => {})
  }
}
