import { type Clock, sleep } from '../runtime/clock.ts'

/** What `promise` comes to, or undefined when `ms` milliseconds have passed before. It is not cancelled. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  const done = new AbortController()
  const late = sleep(clock, ms, done.signal).then(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    done.abort()
  }
}
