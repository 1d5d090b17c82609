import type { UninstallRefusal } from './outcome.ts'
import type { OpenUninstall } from './tracker.ts'

/** An uninstall that is on its way. */
export interface Accepted {
  open: OpenUninstall
  /** Feed position just before its mark. */
  position: number
  alreadyInProgress: boolean
  over: ReturnType<OpenUninstall['over']>
  helmOver: ReturnType<OpenUninstall['helmOver']>
}

/** One that is not, and has left no trace. */
export interface Refused {
  refusal: UninstallRefusal
}

/** What under the lock an accepting backend comes to; `MARKED` when somebody else marked it first. */
export type Acceptance = Accepted | Refused | 'MARKED'

/** Takes part in an uninstall from here on: hears of helm's end and of its own. */
export function follow(open: OpenUninstall, position: number, alreadyInProgress: boolean): Accepted {
  return { open, position, alreadyInProgress, over: open.over(), helmOver: open.helmOver() }
}
