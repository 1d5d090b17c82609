import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'

/** Milliseconds of real time that a step, or what follows a timer, may take before the case fails. */
export const patienceMs = 15_000

/** Turns to spin through before the loop lets the processor go: most waits are for this very process. */
const spins = 400

/**
 * Resolves when `busy` has found nothing in two macrotask turns running.
 *
 * @param busy names what is still going on
 * @throws Error that names what was still going on when the patience ran out
 */
export async function untilQuiet(busy: () => string[], limitMs = patienceMs): Promise<void> {
  const deadline = performance.now() + limitMs
  for (let turn = 0, quiet = 0; ; turn++) {
    const reasons = busy()
    quiet = reasons.length === 0 ? quiet + 1 : 0
    if (quiet === 2) return
    if (performance.now() > deadline) {
      throw new Error(`still busy after ${limitMs / 1000} s: ${reasons.join('; ') || 'on and off'}`)
    }
    if (turn < spins) await nextTurn()
    else await wait(1)
  }
}

/** `work`, or an Error naming it when the patience runs out first. */
export async function withPatience<T>(
  what: string,
  work: Promise<T>,
  busy: () => string[] = () => [],
  limitMs = patienceMs,
): Promise<T> {
  const over = new AbortController()
  const timeout = wait(limitMs, undefined, { signal: over.signal }).then(() => {
    const reasons = busy()
    throw new Error(
      `${what} has not ended after ${limitMs / 1000} s${reasons.length > 0 ? `: ${reasons.join('; ')}` : ''}`,
    )
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    over.abort()
    timeout.catch(() => {})
  }
}
