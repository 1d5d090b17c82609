import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { KubeClient } from './client.ts'
import { isKubeError, type KubeError } from './errors.ts'
import { HeldLease, type LeaseObject } from './heldLease.ts'
import { Kinds, type NewKubeObject } from './kinds.ts'
import { microTime, parseMicroTime } from './leaseTime.ts'
import { objectKey } from './objectSet.ts'

export interface AcquireOptions {
  namespace: string
  name: string
  /** Unique to this process and start: a lease that an earlier life of ours held runs out like any other. */
  identity: string
  /** A holder that does not renew for so long has lost it. */
  durationSeconds: number
  /** Put on the Lease beside those it has. */
  labels?: Record<string, string>
}

export type Acquired =
  | { acquired: true; lease: HeldLease }
  /** `since`: RFC 3339, null when the Lease does not say. */
  | { acquired: false; holder: string; since: string | null }

const TRIES = 3

/**
 * Locks that hold across replicas: one `coordination.k8s.io` Lease each, taken by compare-and-swap on its
 * resourceVersion. A dead holder stops renewing and so frees it; nobody has to step in.
 */
export class LeaseLocks {
  readonly #client: KubeClient
  readonly #clock: Clock
  readonly #logger: Logger
  /** Held or being taken by this process: asked first, so that a held lock costs no call. */
  readonly #mine = new Map<string, { holder: string; since: string }>()
  /** When a holder's version was first seen here, on our own clock. */
  readonly #seen = new Map<string, { version: string; at: number }>()

  constructor(options: { client: KubeClient; clock: Clock; logger: Logger }) {
    this.#client = options.client
    this.#clock = options.clock
    this.#logger = options.logger
  }

  /**
   * Takes the lock if it is free, without waiting.
   *
   * @throws KubeError when the API server fails or refuses (`NamespaceTerminating`: no Lease can be made)
   */
  async tryAcquire(options: AcquireOptions): Promise<Acquired> {
    const key = objectKey(options.namespace, options.name)
    const mine = this.#mine.get(key)
    if (mine) return { acquired: false, ...mine }
    const entry = { holder: options.identity, since: new Date(this.#client.now()).toISOString() }
    this.#mine.set(key, entry)
    try {
      const result = await this.#acquire(options, () => this.#mine.delete(key))
      if (!result.acquired) this.#mine.delete(key)
      return result
    } catch (error) {
      this.#mine.delete(key)
      throw error
    }
  }

  /**
   * Deletes the Lease if nobody holds it, as it then stands (uid and resourceVersion).
   *
   * @throws KubeError when the API server fails
   */
  async remove(namespace: string, name: string): Promise<'removed' | 'held' | 'absent'> {
    if (this.#mine.has(objectKey(namespace, name))) return 'held'
    const lease = await this.#read(namespace, name)
    if (!lease) return 'absent'
    if (this.#holderOf(lease)) return 'held'
    const { uid, resourceVersion } = lease.metadata
    try {
      await this.#client.delete(Kinds.Lease, { namespace, name }, { preconditions: { uid, resourceVersion } })
      return 'removed'
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return 'absent'
      if (isKubeError(error, 'Conflict')) return 'held'
      throw error
    }
  }

  async #acquire(options: AcquireOptions, onEnd: () => void): Promise<Acquired> {
    const { namespace, name } = options
    for (let attempt = 1; ; attempt++) {
      const found = await this.#read(namespace, name)
      const holder = found && this.#holderOf(found)
      if (holder) return { acquired: false, holder, since: sinceOf(found) }
      const takenAt = this.#clock.now()
      const lease = await this.#take(options, found)
      if (lease) {
        this.#seen.delete(objectKey(namespace, name))
        const shell = { client: this.#client, clock: this.#clock, logger: this.#logger }
        return { acquired: true, lease: new HeldLease({ ...shell, lease, takenAt, onEnd }) }
      }
      // Somebody else was faster; the fresh read says who.
      if (attempt >= TRIES) {
        const winner = await this.#read(namespace, name)
        return {
          acquired: false,
          holder: winner?.spec?.holderIdentity || 'another gateway',
          since: sinceOf(winner),
        }
      }
    }
  }

  /** @returns the Lease as written, or null when another writer was faster */
  async #take(options: AcquireOptions, found: LeaseObject | null): Promise<LeaseObject | null> {
    const wanted = this.#wanted(options, found)
    try {
      return found
        ? await this.#client.update<LeaseObject>(Kinds.Lease, wanted as LeaseObject)
        : await this.#client.create<LeaseObject>(Kinds.Lease, wanted)
    } catch (error) {
      if (isKubeError(error, 'Conflict', 'AlreadyExists') || (found && isKubeError(error, 'NotFound')))
        return null
      if (!isKubeError(error, 'Unavailable')) throw error
      // No answer: it may have been written all the same, and would then hold us off until it runs out.
      return this.#writtenAfterAll(options, wanted, error)
    }
  }

  async #writtenAfterAll(
    { namespace, name }: AcquireOptions,
    wanted: NewKubeObject & { spec: LeaseObject['spec'] },
    error: KubeError,
  ): Promise<LeaseObject | null> {
    let now: LeaseObject | null
    try {
      now = await this.#read(namespace, name)
    } catch {
      throw error
    }
    const ours =
      now?.spec?.holderIdentity === wanted.spec?.holderIdentity &&
      parseMicroTime(now?.spec?.renewTime) === parseMicroTime(wanted.spec?.renewTime)
    if (ours) return now
    throw error
  }

  #wanted(options: AcquireOptions, found: LeaseObject | null) {
    const now = microTime(this.#client.now())
    const { namespace, name, labels } = options
    const transitions = found?.spec?.leaseTransitions
    return {
      ...found,
      metadata: {
        ...(found?.metadata ?? { namespace, name }),
        ...((labels || found?.metadata.labels) && { labels: { ...found?.metadata.labels, ...labels } }),
      },
      spec: {
        ...found?.spec,
        holderIdentity: options.identity,
        leaseDurationSeconds: options.durationSeconds,
        acquireTime: now,
        renewTime: now,
        leaseTransitions: found ? (typeof transitions === 'number' ? transitions : 0) + 1 : 0,
      },
    }
  }

  async #read(namespace: string, name: string): Promise<LeaseObject | null> {
    try {
      return await this.#client.get<LeaseObject>(Kinds.Lease, { namespace, name })
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return null
      throw error
    }
  }

  /**
   * Who holds it, or null when it is free: no holder, no renewal, or none for its duration. That is measured
   * by the API server's time, and also by how long we have seen it unchanged, since the holder's clock may be
   * far ahead.
   */
  #holderOf(lease: LeaseObject): string | null {
    const { holderIdentity, renewTime, leaseDurationSeconds } = lease.spec ?? {}
    const renewedAt = parseMicroTime(renewTime)
    if (!holderIdentity || renewedAt === null) return null
    const durationMs = (leaseDurationSeconds ?? DEFAULT_DURATION_SECONDS) * 1000
    const key = objectKey(lease.metadata.namespace ?? '', lease.metadata.name)
    const version = `${lease.metadata.uid}/${lease.metadata.resourceVersion}`
    const now = this.#clock.now()
    const seen = this.#seen.get(key)
    if (seen?.version !== version) this.#see(key, version, now)
    else if (now - seen.at > durationMs) return null
    return renewedAt + durationMs < this.#client.now() ? null : holderIdentity
  }

  #see(key: string, version: string, at: number): void {
    this.#seen.delete(key)
    this.#seen.set(key, { version, at })
    if (this.#seen.size <= SEEN_LIMIT) return
    const oldest = this.#seen.keys().next()
    if (!oldest.done) this.#seen.delete(oldest.value)
  }
}

const DEFAULT_DURATION_SECONDS = 15
const SEEN_LIMIT = 1000

function sinceOf(lease: LeaseObject | null): string | null {
  const at = parseMicroTime(lease?.spec?.acquireTime) ?? parseMicroTime(lease?.spec?.renewTime)
  return at === null ? null : new Date(at).toISOString()
}
