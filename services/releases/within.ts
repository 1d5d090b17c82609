import { type Clock, sleep } from '../runtime/clock.ts'

/**
 * What `promise` comes to, or undefined when `ms` milliseconds have passed or `stopping` has aborted before. The
 * promise itself is not cancelled.
 */
export async function within<T>(
  clock: Clock,
  ms: number,
  promise: Promise<T>,
  stopping?: AbortSignal,
): Promise<T | undefined> {
  const done = new AbortController()
  const stop = () => done.abort()
  if (stopping?.aborted) stop()
  stopping?.addEventListener('abort', stop, { once: true })
  const late = sleep(clock, ms, done.signal).then(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    stopping?.removeEventListener('abort', stop)
    done.abort()
  }
}
