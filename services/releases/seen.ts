import type { Clock } from '../runtime/clock.ts'
import { within } from './within.ts'

/** How long an answer waits for the watch caches to show what was written. */
const WAIT_MS = 2000

/**
 * Waits, for a moment only, until what was written shows, so that whoever reads after the answer sees it too.
 *
 * @param watch has `listener` called when something has changed; the result ends that
 * @param stopping ends the waiting
 */
export async function untilSeen(
  clock: Clock,
  watch: (listener: () => void) => () => void,
  shows: () => boolean,
  stopping?: AbortSignal,
): Promise<void> {
  if (shows()) return
  let stop = () => {}
  const seen = new Promise<void>((resolve) => {
    stop = watch(() => {
      if (shows()) resolve()
    })
  })
  await within(clock, WAIT_MS, seen, stopping)
  stop()
}
