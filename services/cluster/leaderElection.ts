import { type Clock, sleep } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { KubeClient } from './client.ts'
import { KubeError } from './errors.ts'
import type { HeldLease } from './heldLease.ts'
import { LeaseLocks } from './leases.ts'
import { TroubleLog } from './troubleLog.ts'

export interface LeaderElectorOptions {
  client: KubeClient
  clock: Clock
  logger: Logger
  /** 0 ≤ x < 1. */
  random: () => number
  /** The gateway's own. */
  namespace: string
  /** Default `swiss-gateway-leader`. */
  name?: string
  /** Unique to this process and start. */
  identity: string
  /** Default 15. */
  durationSeconds?: number
}

/**
 * Which of several gateways runs the loops: whoever holds the Lease. There is no fencing: for a moment two may
 * believe that they lead, so every write of a loop guards itself with uid and resourceVersion.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions
  readonly #name: string
  readonly #durationSeconds: number
  readonly #locks: LeaseLocks
  readonly #trouble: TroubleLog
  readonly #listeners = new Set<() => void>()
  #held: HeldLease | null = null
  #leader: string | null = null
  #lastError: string | null = null
  #firstSeen: { holder: string; at: number } | null = null
  #anotherGateway: string | null = null

  constructor(options: LeaderElectorOptions) {
    this.#options = options
    this.#name = options.name ?? 'swiss-gateway-leader'
    this.#durationSeconds = options.durationSeconds ?? 15
    this.#locks = new LeaseLocks(options)
    this.#trouble = new TroubleLog('the leader election', options.clock, options.logger)
  }

  get isLeader(): boolean {
    return this.#held !== null && !this.#held.lost.aborted
  }

  /** Identity of the holder as last seen; null when nobody was seen. */
  get leader(): string | null {
    return this.#leader
  }

  /**
   * Identity of the last other gateway that was seen alive, which it stays; null when none was. A Lease that
   * nobody renews is no sign of life: an earlier life of this gateway may have left it.
   */
  get anotherGateway(): string | null {
    return this.#anotherGateway
  }

  /** Why the Lease cannot be taken or read; null when it can. For the health page. */
  get lastError(): string | null {
    return this.#lastError
  }

  /** `listener` is called when this gateway has begun or ceased to lead, and when the leader is another. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Begins to stand for election; the returned function ends that and gives the Lease back. */
  start(): () => Promise<void> {
    const stop = new AbortController()
    const { killed } = this.#options.client
    const onKill = () => stop.abort()
    if (killed.aborted) stop.abort()
    killed.addEventListener('abort', onKill, { once: true })
    const running = this.#run(stop.signal)
    return async () => {
      stop.abort()
      killed.removeEventListener('abort', onKill)
      await running
    }
  }

  /** Never rejects. Neither a 403 nor a 404 (a namespace to be made yet) ends it. */
  async #run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options
    while (!signal.aborted) {
      const lease = await this.#stand()
      if (lease) {
        await ended(lease, signal)
        this.#held = null
        await lease.release()
        this.#see(signal.aborted ? null : this.#leader)
      }
      if (signal.aborted) return
      await sleep(clock, (this.#durationSeconds * 1000 * (1 + 0.2 * random())) / 3, signal)
    }
  }

  async #stand(): Promise<HeldLease | null> {
    const { namespace, identity } = this.#options
    try {
      const result = await this.#locks.tryAcquire({
        namespace,
        name: this.#name,
        identity,
        durationSeconds: this.#durationSeconds,
      })
      this.#lastError = null
      this.#trouble.report('', null)
      if (result.acquired) this.#held = result.lease
      if (!result.acquired) this.#noteHolder(result.holder)
      this.#see(result.acquired ? identity : result.holder)
      return result.acquired ? result.lease : null
    } catch (error) {
      const known = error instanceof KubeError ? error : new KubeError('Unavailable', 'unexpected failure')
      this.#lastError = known.message
      this.#trouble.report('', known)
      return null
    }
  }

  /** Alive is who has taken it before our eyes, and who still holds it when a dead one would have lost it. */
  #noteHolder(holder: string): void {
    const now = this.#options.clock.now()
    const durationMs = this.#durationSeconds * 1000
    const before = this.#firstSeen
    if (before?.holder !== holder) this.#firstSeen = { holder, at: now }
    const tookIt = before !== null && before.holder !== holder
    const keepsIt = before?.holder === holder && now - before.at > durationMs
    if (tookIt || keepsIt || this.#leader === this.#options.identity) this.#anotherGateway = holder
  }

  #see(leader: string | null): void {
    this.#leader = leader
    for (const listener of this.#listeners) {
      try {
        listener()
      } catch (error) {
        this.#options.logger.error({ err: error }, 'a listener of the leader election failed')
      }
    }
  }
}

function ended(lease: HeldLease, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || lease.lost.aborted) return resolve()
    const done = () => {
      signal.removeEventListener('abort', done)
      lease.lost.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
    lease.lost.addEventListener('abort', done, { once: true })
  })
}
