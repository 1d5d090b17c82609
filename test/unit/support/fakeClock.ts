import type { Clock } from '../../../services/runtime/clock.ts'

interface Timer {
  due: number
  order: number
  fire: () => void
}

/**
 * A clock that stands still until it is told to move. It moves from timer to timer: one fires, what that sets
 * off is waited for, then the next. So time never runs past work, and a test needs no sleeps.
 */
export class FakeClock implements Clock {
  #now: number
  #order = 0
  readonly #timers = new Set<Timer>()

  /** @param start ms since the epoch, or RFC 3339 */
  constructor(start: number | string = '2031-01-01T00:00:00Z') {
    this.#now = typeof start === 'number' ? start : Date.parse(start)
  }

  readonly now = (): number => this.#now

  readonly setTimer = (ms: number, fire: () => void): (() => void) => {
    const timer: Timer = { due: this.#now + Math.max(0, ms), order: this.#order++, fire }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Timers that have not fired and were not taken back. */
  get pending(): number {
    return this.#timers.size
  }

  /** When the next timer is due, ms; null when there is none. */
  get nextDue(): number | null {
    return this.#next()?.due ?? null
  }

  /**
   * Moves `ms` milliseconds ahead, firing the timers that come due, in order, each alone.
   *
   * @param settle awaited before the first timer, after each one and at the end: resolves when everything
   * that is under way has happened. Without it two turns of the event loop are waited for, which is enough
   * only for work without I/O.
   */
  async advance(ms: number, settle: () => Promise<void> = turns): Promise<void> {
    const target = this.#now + ms
    await settle()
    for (let timer = this.#next(); timer && timer.due <= target; timer = this.#next()) {
      this.#timers.delete(timer)
      this.#now = Math.max(this.#now, timer.due)
      timer.fire()
      await settle()
    }
    this.#now = Math.max(this.#now, target)
    await settle()
  }

  #next(): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) {
      if (!next || timer.due < next.due || (timer.due === next.due && timer.order < next.order)) next = timer
    }
    return next
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
