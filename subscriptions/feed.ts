import { randomBytes } from 'node:crypto'
import type { RowChange } from '../services/deployments/change.ts'
import type { DeploymentLister } from '../services/deployments/lister.ts'
import type { DeploymentFilter } from '../services/deployments/listing.ts'
import type { ReleaseRef, Row } from '../services/deployments/row.ts'
import type { Clock } from '../services/runtime/clock.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'

export interface FeedOptions {
  lister: DeploymentLister
  clock: Clock
  /** Changes that are kept; a reader that is further behind gets a RESYNC. */
  capacity?: number
  /** Names this process in cursors; random unless a test says otherwise. */
  epoch?: string
}

/** What a reader finds after its position: a change, nothing yet, or that it is too late. */
export type Reading = { change: RowChange; position: number } | 'none' | 'lost'

/**
 * The changes of the view in a ring: one writer, any number of readers. A reader is nothing but a position
 * of its own, so a slow one costs no memory; when the ring has passed it by it is told so (`lost`) and takes
 * a snapshot, never silently skipping a change.
 */
export class Feed {
  readonly clock: Clock
  readonly epoch: string
  readonly #lister: DeploymentLister
  readonly #ring: (RowChange | undefined)[] = []
  readonly #capacity: number
  readonly #unsubscribe: () => void
  #first: number
  #last: number
  #waiting = new Set<() => void>()
  #waking = false

  constructor({ lister, clock, capacity = 10_000, epoch = randomBytes(8).toString('hex') }: FeedOptions) {
    this.#lister = lister
    this.clock = clock
    this.epoch = epoch
    this.#capacity = capacity
    this.#last = lister.position
    this.#first = this.#last + 1
    this.#unsubscribe = lister.subscribe((change, position) => this.#append(change, position))
  }

  /** False until the view has been filled once: a snapshot would say that there is nothing. */
  get ready(): boolean {
    return this.#lister.ready
  }

  /** Position of the newest change. */
  get position(): number {
    return this.#last
  }

  /** Readers that wait for the next change right now. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** The cursor of a position: of the present one, unless another is given. */
  cursor(position: number = this.#last): string {
    return encodeCursor({ epoch: this.epoch, position })
  }

  /**
   * The position to go on from after `cursor`: `malformed` for a text that is no cursor, `lost` for one of
   * another process, one that has fallen out of the ring, or one from the future.
   */
  resume(cursor: string): number | 'malformed' | 'lost' {
    const found = decodeCursor(cursor)
    if (!found) return 'malformed'
    if (found.epoch !== this.epoch || !this.#holds(found.position)) return 'lost'
    return found.position
  }

  /** The change that follows `position`. */
  after(position: number): Reading {
    if (!this.#holds(position)) return 'lost'
    if (position === this.#last) return 'none'
    const change = this.#ring[(position + 1) % this.#capacity]
    return change ? { change, position: position + 1 } : 'lost'
  }

  /** The rows that fit, and the position at which they do; nothing can happen between the two. */
  snapshot(filter: DeploymentFilter | undefined): { rows: Row[]; position: number } {
    return { rows: this.#lister.snapshot(filter), position: this.#last }
  }

  /** The row of one release, null when it has none, and the position at which it is so. */
  present(ref: ReleaseRef): { row: Row | null; position: number } {
    return { row: this.#lister.get(ref) ?? null, position: this.#last }
  }

  /**
   * Calls `wake` once, after the turn in which the next changes have come: those of one turn wake a reader
   * once. The returned function takes it back.
   */
  onNext(wake: () => void): () => void {
    this.#waiting.add(wake)
    return () => this.#waiting.delete(wake)
  }

  /** Stops listening to the view. Readers keep what they have; nothing new comes. */
  stop(): void {
    this.#unsubscribe()
  }

  #holds(position: number): boolean {
    return position >= this.#first - 1 && position <= this.#last
  }

  #append(change: RowChange, position: number): void {
    // Positions come one by one. Should one be missing, what is held is no longer the whole story: drop it.
    if (position !== this.#last + 1) this.#first = position
    this.#ring[position % this.#capacity] = change
    this.#last = position
    this.#first = Math.max(this.#first, position - this.#capacity + 1)
    if (this.#waking) return
    this.#waking = true
    queueMicrotask(() => {
      this.#waking = false
      const woken = this.#waiting
      this.#waiting = new Set()
      for (const wake of woken) wake()
    })
  }
}
