/** Time for the sandbox: its own, since it imports nothing of the gateway. The shape is the gateway's. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `fire` once after `ms` milliseconds. The returned function takes the timer back. */
  setTimer(ms: number, fire: () => void): () => void
}

/** The machine's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
