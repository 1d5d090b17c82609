import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiServer } from '../../sandbox/api/types.ts'
import type { Clock } from '../../sandbox/clock.ts'
import type { GatewayHouse, GatewayUnderTest } from './gateway.ts'
import type { CaseConfig } from './givenFormat.ts'
import { HttpClient } from './http.ts'
import { withPatience } from './quiet.ts'
import type { KillPoint } from './stepFormat.ts'
import { unseen } from './streamPositions.ts'

/** The name of the gateway that a case begins with. */
export const firstGateway = 'a'

/** A gateway that is up. */
export interface Running {
  name: string
  gateway: GatewayUnderTest
  http: HttpClient
  /** Resolves when it has crashed. */
  died: Promise<void>
}

interface Setting {
  house: GatewayHouse
  api: ApiServer
  clock: Clock
  random: () => number
  config: CaseConfig
  helmBin: string
  prometheusUrl: string | null
  /** Where kubeconfigs are written. */
  folder: string
}

/** The gateways of a case: started, crashed and brought back. Each life has a token and an identity of its own. */
export class Gateways {
  readonly #setting: Setting
  readonly #running = new Map<string, Running & { token: string; die: () => void }>()
  /** The present life of each name that was ever started; undefined while it is down. */
  readonly #life = new Map<string, number | undefined>()
  readonly #armed = new Map<string, KillPoint>()
  readonly #arrivals = new Map<string, () => void>()
  #lives = 0

  constructor(setting: Setting) {
    this.#setting = setting
  }

  get running(): Running[] {
    return [...this.#running.values()]
  }

  /** Whether there ever was one of this name. */
  knows(name: string): boolean {
    return this.#life.has(name)
  }

  /** The gateway of that name while it is up. */
  get(name: string): Running | undefined {
    return this.#running.get(name)
  }

  async start(name: string): Promise<void> {
    const life = ++this.#lives
    this.#life.set(name, life)
    const token = `gateway-${name}-${life}`
    const { house, api, clock, random, config, helmBin, prometheusUrl, folder } = this.#setting
    api.setToken(token, { user: token, groups: ['system:masters'] })
    const kubeconfig = join(folder, `kubeconfig-${token}.json`)
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(api.url, token)))
    let die = () => {}
    const died = new Promise<void>((resolve) => {
      die = resolve
    })
    const gateway = await withPatience(
      `the start of gateway ${name}`,
      house.start({
        kubeconfig,
        helmBin,
        prometheusUrl,
        clock,
        random,
        identity: token,
        config,
        checkpoint: (point) => this.#pass(name, life, point),
        onRequest: (requestId) => this.#arrivals.get(requestId)?.(),
      }),
    )
    // It may have met its point while it was starting.
    if (this.#life.get(name) !== life) return gateway.kill()
    this.#running.set(name, { name, gateway, http: new HttpClient(gateway.url), died, token, die })
  }

  /** Ends a gateway without warning; nothing happens when it is down already. */
  kill(name: string): void {
    if (this.#life.has(name)) this.#life.set(name, undefined)
    const running = this.#running.get(name)
    if (!running) return
    this.#running.delete(name)
    running.gateway.kill()
    running.die()
    // Requests it can no longer answer fail now, as they would with a dead process.
    running.http.close().catch(() => {})
  }

  /** The next time that gateway passes this point, it dies there. */
  arm(name: string, point: KillPoint): void {
    this.#armed.set(name, point)
  }

  /** A crash that was ordered and has not come; looking takes the order back. */
  disarm(name: string): KillPoint | undefined {
    const point = this.#armed.get(name)
    this.#armed.delete(name)
    return point
  }

  get armed(): [string, KillPoint][] {
    return [...this.#armed]
  }

  /** Resolves when a gateway has taken up the request that carries this id. */
  arrival(requestId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#arrivals.set(requestId, () => {
        this.#arrivals.delete(requestId)
        resolve()
      })
    })
  }

  /** What the gateways that are up have not finished. */
  busy(): string[] {
    const streams = this.#setting.api.streams()
    return [...this.#running.values()].flatMap(({ name, gateway, token }) => {
      const calls = gateway.client.inFlight
      const reasons = unseen(
        streams.filter((stream) => stream.token === token),
        gateway.streams(),
      )
      if (calls > 0) reasons.push(`${calls} calls to the API server`)
      if (gateway.tasks.busy > 0) reasons.push(`tasks ${gateway.tasks.open.join(', ')}`)
      return reasons.map((reason) => `gateway ${name}: ${reason}`)
    })
  }

  stop(): void {
    for (const name of [...this.#running.keys()]) this.kill(name)
  }

  #pass(name: string, life: number, point: KillPoint): Promise<void> {
    // A life that is over stays where it is; so does the one that has met its point.
    if (this.#life.get(name) === life) {
      if (this.#armed.get(name) !== point) return Promise.resolve()
      this.#armed.delete(name)
      this.kill(name)
    }
    return new Promise(() => {})
  }
}

function kubeconfigOf(server: string, token: string) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'case',
    clusters: [{ name: 'case', cluster: { server } }],
    users: [{ name: 'case', user: { token } }],
    contexts: [{ name: 'case', context: { cluster: 'case', user: 'case' } }],
  }
}
