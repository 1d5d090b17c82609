/**
 * The one source of time. Passed in everywhere, so that a test can hold it still; `Date.now()` and
 * `setTimeout` appear in `server/` and `sandbox/` only.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `fire` once after `ms` milliseconds. The returned function takes the timer back. */
  setTimer(ms: number, fire: () => void): () => void
}

/**
 * Resolves after `ms` milliseconds, or at once when `signal` aborts; it never rejects, since every caller
 * looks at the signal anyway before it goes on.
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.setTimer(ms, done)
    signal?.addEventListener('abort', done, { once: true })
  })
}
