import type { Checks } from '../services/releases/checks.ts'
import type { ComposedPlans } from '../services/releases/composedPlans.ts'
import type { LostApplies } from '../services/releases/lostApplies.ts'
import type { Orphans } from '../services/releases/orphans.ts'
import { Loop, type LoopOptions } from './loop.ts'

const EVERY_MS = 5000

/** The loop that carries uninstalls to their end: checks each of them, and closes what was left open. */
export function reapLoop(
  options: Pick<LoopOptions, 'clock' | 'tasks' | 'isLeader'> & {
    checks: Checks
    orphans: Orphans
    lostApplies: LostApplies
    composedPlans: ComposedPlans
  },
): Loop {
  const { checks, orphans, lostApplies, composedPlans, ...common } = options
  return new Loop({
    ...common,
    name: 'reap',
    everyMs: EVERY_MS,
    pass: async () => {
      await checks.pass()
      await orphans.closeRuns()
      await lostApplies.close()
      await orphans.removeLocks()
      await composedPlans.removeExpired()
    },
  })
}
