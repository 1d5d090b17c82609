import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { KubeClient } from './client.ts'
import { isKubeError, KubeError } from './errors.ts'
import { Kinds, type KubeObject } from './kinds.ts'
import { microTime, parseMicroTime } from './leaseTime.ts'

export interface LeaseObject extends KubeObject {
  spec?: {
    holderIdentity?: string | null
    leaseDurationSeconds?: number | null
    acquireTime?: string | null
    renewTime?: string | null
    leaseTransitions?: number | null
  }
}

/**
 * Whoever guards something with a lease has to be done with it before another may take it. So a lease counts
 * as lost at this part of its duration after the last renewal; the rest is the slack for clocks that differ
 * and for ending what was guarded.
 */
const DEADLINE = 0.8

/**
 * A Lease that this process holds, renewed every third of its duration until it is released or lost.
 */
export class HeldLease {
  readonly namespace: string
  readonly name: string
  readonly identity: string
  /** When it was taken, RFC 3339. */
  readonly since: string
  readonly #client: KubeClient
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #durationMs: number
  readonly #onEnd: () => void
  readonly #lost = new AbortController()
  readonly #listeners = new Set<(deadline: number) => void>()
  #lease: LeaseObject
  #deadline: number
  readonly #cancel = new AbortController()
  #renewal: Promise<void> = Promise.resolve()
  #stopTimers: (() => void)[] = []
  #over = false
  // After a crash nothing happens any more, so this is no loss that anybody is told of.
  readonly #onKill = () => this.#end()

  /** @param options.takenAt our clock just before the write that took it, ms */
  constructor(options: {
    client: KubeClient
    clock: Clock
    logger: Logger
    lease: LeaseObject
    takenAt: number
    /** Called once, when it is released or lost. */
    onEnd: () => void
  }) {
    this.#client = options.client
    this.#clock = options.clock
    this.#logger = options.logger
    this.#lease = options.lease
    this.#onEnd = options.onEnd
    this.namespace = options.lease.metadata.namespace ?? ''
    this.name = options.lease.metadata.name
    this.identity = options.lease.spec?.holderIdentity ?? ''
    this.since = new Date(parseMicroTime(options.lease.spec?.acquireTime) ?? options.takenAt).toISOString()
    this.#durationMs = (options.lease.spec?.leaseDurationSeconds ?? 0) * 1000
    this.#deadline = options.takenAt + this.#durationMs * DEADLINE
    this.#client.killed.addEventListener('abort', this.#onKill, { once: true })
    this.#schedule(this.#durationMs / 3)
  }

  /** Aborts when it may no longer be relied on: another holds it, or it could not be renewed in time. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** When it is lost unless it is renewed before, ms on our own clock. */
  get deadline(): number {
    return this.#deadline
  }

  /** `listener` gets the new deadline at each renewal: what the supervisor of a helm run waits for. */
  onRenewed(listener: (deadline: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Gives it back. Never throws: what cannot be given back runs out. */
  async release(): Promise<void> {
    if (this.#over) return
    this.#end()
    await this.#renewal
    try {
      await this.#giveBack()
    } catch (error) {
      if (this.#client.killed.aborted || isKubeError(error, 'NotFound', 'Conflict')) return
      const reason = error instanceof KubeError ? error.message : 'unexpected failure'
      this.#logger.warn(
        { lease: `${this.namespace}/${this.name}`, reason },
        'a lease was not given back; it runs out',
      )
    }
  }

  async #giveBack(): Promise<void> {
    const options = { timeoutMs: Math.max(1000, this.#durationMs / 3) }
    try {
      await this.#client.update(Kinds.Lease, this.#with({ holderIdentity: '' }), options)
    } catch (error) {
      if (!isKubeError(error, 'Conflict', 'Unavailable')) throw error
      // Somebody put a label on it, or a renewal got no answer but was written: look again, once.
      const ref = { namespace: this.namespace, name: this.name }
      const now = await this.#client.get<LeaseObject>(Kinds.Lease, ref, options)
      if (now.metadata.uid !== this.#lease.metadata.uid || now.spec?.holderIdentity !== this.identity) return
      this.#lease = now
      await this.#client.update(Kinds.Lease, this.#with({ holderIdentity: '' }), options)
    }
  }

  #schedule(ms: number): void {
    for (const stop of this.#stopTimers) stop()
    const untilDeadline = Math.max(0, this.#deadline - this.#clock.now())
    this.#stopTimers = [
      this.#clock.setTimer(untilDeadline, () => this.#lose('it could not be renewed in time')),
      this.#clock.setTimer(Math.min(ms, untilDeadline), () => {
        this.#renewal = this.#renew()
      }),
    ]
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    const startedAt = this.#clock.now()
    try {
      await this.#write()
      if (this.#over) return
      this.#deadline = startedAt + this.#durationMs * DEADLINE
      this.#schedule(this.#durationMs / 3)
      for (const listener of this.#listeners) listener(this.#deadline)
    } catch (error) {
      if (this.#over) return
      if (error instanceof Superseded || isKubeError(error, 'NotFound'))
        return this.#lose('another has taken it')
      const reason = error instanceof KubeError ? error.message : String(error)
      this.#logger.warn({ lease: `${this.namespace}/${this.name}`, reason }, 'a lease could not be renewed')
      this.#schedule(this.#durationMs / 15)
    }
  }

  async #write(): Promise<void> {
    const options = { signal: this.#cancel.signal, timeoutMs: this.#durationMs / 3 }
    const renew = () => this.#with({ renewTime: microTime(this.#client.now()) })
    try {
      this.#lease = await this.#client.update<LeaseObject>(Kinds.Lease, renew(), options)
    } catch (error) {
      if (!isKubeError(error, 'Conflict')) throw error
      // Our own earlier renewal that got no answer, or a foreign write; only another holder is a loss.
      const ref = { namespace: this.namespace, name: this.name }
      const now = await this.#client.get<LeaseObject>(Kinds.Lease, ref, options)
      const ours = now.metadata.uid === this.#lease.metadata.uid && now.spec?.holderIdentity === this.identity
      if (!ours) throw new Superseded()
      this.#lease = now
      this.#lease = await this.#client.update<LeaseObject>(Kinds.Lease, renew(), options)
    }
  }

  #with(spec: NonNullable<LeaseObject['spec']>): LeaseObject {
    return { ...this.#lease, spec: { ...this.#lease.spec, ...spec } }
  }

  #lose(reason: string): void {
    if (this.#over) return
    this.#end()
    this.#logger.warn({ lease: `${this.namespace}/${this.name}`, reason }, 'a lease is lost')
    this.#lost.abort(new Error(`the lease ${this.namespace}/${this.name} is lost: ${reason}`))
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
    this.#client.killed.removeEventListener('abort', this.#onKill)
    for (const stop of this.#stopTimers) stop()
    this.#cancel.abort()
    this.#listeners.clear()
    this.#onEnd()
  }
}

class Superseded extends Error {}
