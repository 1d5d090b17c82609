import { backoffMs } from './backoff.ts'
import { KubeError } from './errors.ts'
import type { WatchEnd } from './watchStream.ts'

/** What a reflector does next: list or watch, and after how many milliseconds. */
export interface Step {
  list: boolean
  waitMs: number
  /** Set when something is wrong that does not happen in the ordinary run of things. */
  trouble: KubeError | null
}

/** A watch that lived this long was a good one, and what went wrong before it is forgotten. */
const HEALTHY_MS = 30_000
const MAX_FAILURES_BEFORE_LIST = 3

/**
 * What follows the end of a watch or a failed list. Every such end goes through here, and none is answered at
 * once twice in a row: after a good watch one reconnection and one new list are free (a watch ends every few
 * minutes, a version expires now and then), all others wait for a growing, jittered time.
 */
export class Recovery {
  readonly #random: () => number
  #failures = 0
  #freeWatch = true
  #freeList = true

  constructor(random: () => number) {
    this.#random = random
  }

  /** Forgets what went wrong. */
  reset(): void {
    this.#failures = 0
    this.#freeWatch = true
    this.#freeList = true
  }

  /** @param livedMs how long the watch was open; null when it could not even be opened */
  watchEnded(end: WatchEnd, livedMs: number | null): Step {
    if (livedMs !== null && livedMs >= HEALTHY_MS) this.reset()
    const error = end.how === 'failed' ? end.error : null
    // Silence may mean that our version is one the API server has never had: it was restored from a backup.
    const list = end.how === 'silent' || (error !== null && this.#wantsList(error))
    if (list ? this.#freeList : this.#freeWatch && livedMs !== null) {
      if (list) this.#freeList = false
      else this.#freeWatch = false
      return { list, waitMs: this.#pause(0, error), trouble: null }
    }
    this.#failures++
    const trouble = error ?? new KubeError('Unavailable', 'the watch ends again and again')
    return { list, waitMs: this.#pause(this.#failures, error), trouble }
  }

  listFailed(error: KubeError): Step {
    this.#failures++
    return { list: true, waitMs: this.#pause(this.#failures, error), trouble: error }
  }

  /**
   * After most errors the list decides what is the matter: whether the kind is gone or forbidden, or only its
   * watch. A busy or unreachable server is spared that, but not for ever.
   */
  #wantsList({ reason }: KubeError): boolean {
    if (reason === 'Unavailable') return this.#failures >= MAX_FAILURES_BEFORE_LIST
    return reason !== 'Throttled' && reason !== 'Unauthorized'
  }

  #pause(attempt: number, error: KubeError | null): number {
    const retryAfter = error?.retryAfterSeconds ?? null
    return attempt === 0 && retryAfter === null
      ? 0
      : backoffMs(Math.max(1, attempt), retryAfter, this.#random)
  }
}
