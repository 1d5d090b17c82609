import { countOf, mapOf, textOf, type Values } from '../charts/values.ts'
import type { Behaviour } from './control.ts'
import { HelmError } from './helmError.ts'

/** Where an upgrade or a rollback stands when it takes its time or fails. */
export type Moment = 'before' | 'half'

/** How an upgrade or a rollback is made to take its time or to fail; nothing in it, and it does neither. */
export interface Trouble {
  /** Before its first object, or when half of those that change have been written. */
  fail?: Moment
  message: string
  seconds: number
}

const usualMessage = 'context deadline exceeded'

/**
 * From a test's control folder, else from the chart's values: `sandbox: {fail: before|half, message: …, seconds: …}`
 * in any layer makes the revision with these values fail or be slow, in a rollback to it too.
 */
export function troubleOf(values: Values, behaviour: Behaviour | undefined): Trouble {
  const told = mapOf(values.sandbox)
  const fail = behaviour?.fail ?? told.fail
  return {
    ...(fail === 'before' || fail === 'half' ? { fail } : {}),
    message: (behaviour?.stderr ?? textOf(told.message) ?? usualMessage).replace(/^Error: |\n$/g, ''),
    seconds: behaviour?.seconds ?? countOf(told.seconds) ?? 0,
  }
}

/** Takes its time at the moment it is told to (half-way when nothing is), then throws HelmError if it is to fail. */
export async function pass({ fail, message, seconds }: Trouble, moment: Moment): Promise<void> {
  if (moment !== (fail ?? 'half')) return
  if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  if (fail) throw new HelmError(message)
}
