import { setTimeout as wait } from 'node:timers/promises'

/**
 * Waits for what another party does (a connection that closes, a byte that arrives) and that nothing tells
 * us. Fails by the time-out of the test.
 */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await wait(1)
}
