import type { Clock } from '../../../services/runtime/clock.ts'

/** A clock that stands still until the test moves it. */
export class FakeClock implements Clock {
  #now = Date.parse('2031-01-01T00:00:00Z')
  readonly #timers = new Set<{ at: number; fire: () => void }>()

  /** Timers that are set right now. */
  get timers(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  setTimer(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + ms, fire }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Moves on by `ms`, firing what becomes due on the way, in order. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const [next] = [...this.#timers].sort((a, b) => a.at - b.at)
      if (!next || next.at > end) break
      this.#timers.delete(next)
      this.#now = next.at
      next.fire()
    }
    this.#now = end
  }
}
