import { setTimeout as wait } from 'node:timers/promises'

/**
 * Asks until the answer is not undefined, null or false, for `withinMs` at most, then throws with `what` and the
 * last error. For what another process does and tells nobody; where there is a stream or a text to wait for, the
 * tests wait for that.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  withinMs = 60_000,
): Promise<T> {
  const end = performance.now() + withinMs
  let last = ''
  for (;;) {
    try {
      const answer = await ask()
      if (answer !== undefined && answer !== null && answer !== false) return answer
    } catch (error) {
      last = `; last error: ${error instanceof Error ? error.message : String(error)}`
    }
    if (performance.now() > end) throw new Error(`${what}: not within ${withinMs / 1000} s${last}`)
    await wait(50)
  }
}

/** What `promise` gives, or an error that names what has not come. */
export async function within<T>(what: string, promise: Promise<T>, withinMs = 60_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${withinMs / 1000} s`)), withinMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
