import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { KubeError } from './errors.ts'

const REPEAT_MS = 600_000

/**
 * One line when something begins to fail and one when it works again, however often it is tried: the same
 * trouble is told at most once in ten minutes, also when it comes and goes.
 */
export class TroubleLog {
  readonly #name: string
  readonly #clock: Clock
  readonly #logger: Logger
  #told: { key: string; at: number } | null = null
  #troubled = false

  constructor(name: string, clock: Clock, logger: Logger) {
    this.#name = name
    this.#clock = clock
    this.#logger = logger
  }

  /** @param error null when all is well */
  report(state: string, error: KubeError | null): void {
    if (error === null) {
      if (this.#troubled) this.#logger.info({}, `${this.#name}: works again`)
      this.#troubled = false
      return
    }
    const key = `${error.reason} ${error.status}`
    const now = this.#clock.now()
    if (this.#told?.key === key && now - this.#told.at < REPEAT_MS) return
    this.#told = { key, at: now }
    this.#troubled = true
    this.#logger.warn(
      { state, reason: error.reason, status: error.status },
      `${this.#name}: ${error.message}`,
    )
  }
}
