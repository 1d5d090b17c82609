import type { Feed } from './feed.ts'

/** After this many milliseconds without an event a stream that has bookmarks is sent one. */
export const BOOKMARK_MS = 60_000

/**
 * The iterator behind one subscription: what a stream reads of the feed is its own, waiting and ending are
 * the same for all. It registers with the feed only while a `next()` waits, and `return()` settles a waiting
 * `next()` at once: a stopped or never read stream leaves nothing behind.
 */
export abstract class FeedStream<Event extends object> implements AsyncIterableIterator<Event> {
  protected readonly feed: Feed
  #waiters: ((result: IteratorResult<Event>) => void)[] = []
  #cancelWake: (() => void) | null = null
  #cancelBookmark: (() => void) | null = null
  #quietSince: number
  #ended = false

  constructor(feed: Feed) {
    this.feed = feed
    this.#quietSince = feed.clock.now()
  }

  /** The next event there is: `none` when it has yet to happen, `end` after the last one. */
  protected abstract take(): Event | 'none' | 'end'

  /** What a quiet stream is sent, if it is to be sent something. */
  protected bookmark?(): Event

  /** The present time as events carry it. */
  protected now(): string {
    return new Date(this.feed.clock.now()).toISOString()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Event>> {
    if (this.#ended) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      this.#waiters.push(resolve)
      if (this.#waiters.length === 1) this.#pump()
    })
  }

  return(): Promise<IteratorResult<Event>> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }

  throw(error: unknown): Promise<IteratorResult<Event>> {
    this.#end()
    return Promise.reject(error)
  }

  #end(): void {
    this.#ended = true
    this.#cancelWake?.()
    this.#cancelBookmark?.()
    this.#cancelWake = null
    this.#cancelBookmark = null
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve({ done: true, value: undefined })
  }

  /**
   * Hands out what there is to those who wait, and waits for more if that was not enough. `quiet`: a bookmark
   * is due, unless there is something else.
   */
  #pump(quiet = false): void {
    this.#cancelWake?.()
    this.#cancelWake = null
    for (let due = quiet; this.#waiters.length > 0; due = false) {
      const event = this.take()
      if (event === 'end') this.#end()
      else if (event !== 'none') this.#deliver(event)
      else if (due && this.bookmark) this.#deliver(this.bookmark())
      else break
    }
    if (this.#waiters.length === 0) return
    this.#cancelWake = this.feed.onNext(() => this.#pump())
    if (this.bookmark) this.#armBookmark(BOOKMARK_MS - (this.feed.clock.now() - this.#quietSince))
  }

  #deliver(event: Event): void {
    this.#quietSince = this.feed.clock.now()
    this.#waiters.shift()?.({ done: false, value: event })
  }

  /** One timer per stream, set anew only when it has fired: a busy stream does not pay for it. */
  #armBookmark(ms: number): void {
    this.#cancelBookmark ??= this.feed.clock.setTimer(Math.max(ms, 0), () => {
      this.#cancelBookmark = null
      // A stream that nobody waits at is not quiet but slow; the next wait sets the timer again.
      if (this.#waiters.length === 0) return
      const left = BOOKMARK_MS - (this.feed.clock.now() - this.#quietSince)
      if (left > 0) return this.#armBookmark(left)
      this.#pump(true)
    })
  }
}
