/**
 * A barrier: resolves as soon as `condition` holds, looking once per turn of the event loop. Fails after five
 * seconds, saying what was waited for.
 */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`waited in vain for: ${what}`)
    await turn()
  }
}

/** Lets everything that is ready run once. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
