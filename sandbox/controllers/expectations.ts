import type { Clock } from '../clock.ts'

/** How long something is waited for; a pod may come and go while the watch is cut, and would never be seen. */
export const expectationMs = 10_000

/** What a controller has done and not yet seen in its watch, by the uid of the owner it did it for. */
export interface Expectations {
  add(owner: string, what: string): void
  seen(owner: string, what: string): void
  any(owner: string): boolean
}

export function createExpectations(clock: Clock): Expectations {
  const open = new Map<string, Map<string, number>>()
  return {
    add(owner, what) {
      const own = open.get(owner) ?? new Map<string, number>()
      open.set(owner, own.set(what, clock.now() + expectationMs))
    },
    seen(owner, what) {
      const own = open.get(owner)
      if (own?.delete(what) && own.size === 0) open.delete(owner)
    },
    any(owner) {
      const own = open.get(owner)
      for (const [what, until] of own ?? []) if (until <= clock.now()) own?.delete(what)
      if (own?.size === 0) open.delete(owner)
      return open.has(owner)
    },
  }
}
