import type { Clock } from './clock.ts'

/**
 * Runs `reconcile` once per key at a time. Adding a key that waits changes nothing but its due time, which only
 * comes nearer; adding one that is being worked on runs it once more afterwards. A call that throws is tried
 * again after a growing pause (100 ms to 10 s).
 */
export interface WorkQueue {
  add(key: string, afterMs?: number): void
  /** Takes no more work and waits for what is running. */
  stop(): Promise<void>
}

const firstPauseMs = 100
const longestPauseMs = 10_000

/** `reconcile` may answer with a number of milliseconds after which the key is looked at again. */
export function createQueue(
  clock: Clock,
  reconcile: (key: string) => Promise<number | undefined>,
  onError: (key: string, error: unknown) => void,
): WorkQueue {
  const waiting = new Map<string, { due: number; cancel: () => void }>()
  const running = new Map<string, Promise<void>>()
  const again = new Map<string, number>()
  const failures = new Map<string, number>()
  let stopped = false

  function add(key: string, afterMs = 0): void {
    if (stopped) return
    const due = clock.now() + afterMs
    if (running.has(key)) {
      addAgain(key, due)
      return
    }
    const present = waiting.get(key)
    if (present && present.due <= due) return
    present?.cancel()
    const cancel = clock.setTimer(afterMs, () => {
      waiting.delete(key)
      running.set(key, run(key))
    })
    waiting.set(key, { due, cancel })
  }

  const addAgain = (key: string, due: number) => again.set(key, Math.min(due, again.get(key) ?? due))

  /** Never rejects. */
  async function run(key: string): Promise<void> {
    try {
      const afterMs = await reconcile(key)
      failures.delete(key)
      if (afterMs !== undefined) addAgain(key, clock.now() + afterMs)
    } catch (error) {
      // An API server that is being shut down together with its clients is no news.
      if (!stopped) onError(key, error)
      const count = failures.get(key) ?? 0
      failures.set(key, count + 1)
      addAgain(key, clock.now() + Math.min(longestPauseMs, firstPauseMs * 2 ** count))
    }
    running.delete(key)
    const next = again.get(key)
    again.delete(key)
    if (next !== undefined) add(key, Math.max(0, next - clock.now()))
  }

  return {
    add,
    async stop() {
      stopped = true
      for (const { cancel } of waiting.values()) cancel()
      waiting.clear()
      await Promise.all(running.values())
    },
  }
}
