import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Asks until the answer is not undefined, for `withinMs` at most, then throws with `what` and the last error.
 * Other processes cannot be subscribed to for everything; where they can, the stories do that.
 */
export async function until<T>(
  what: string,
  withinMs: number,
  ask: () => Promise<T | undefined> | T | undefined,
  everyMs = 100,
): Promise<T> {
  const end = performance.now() + withinMs
  let last = ''
  for (;;) {
    try {
      const answer = await ask()
      if (answer !== undefined) return answer
    } catch (error) {
      if (error instanceof Fatal) throw error
      last = `; last error: ${error instanceof Error ? error.message : String(error)}`
    }
    if (performance.now() > end) throw new Error(`${what}: not within ${withinMs / 1000} s${last}`)
    await sleep(everyMs)
  }
}

/** Ends `until` at once: what it waits for cannot happen any more. */
export class Fatal extends Error {}

export const seconds = (from: number, to = performance.now()): string =>
  `${((to - from) / 1000).toFixed(1)} s`
