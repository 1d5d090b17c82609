import type { Clock } from '../services/runtime/clock.ts'

/** The machine's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
