import { mapAt } from './document.ts'
import type { PlanMap } from './scalars.ts'

/** Where charts have the switch of a scaler of their own; the first is the serving charts', the others are common. */
const SWITCHES = ['scaler', 'autoscaling', 'keda']

/**
 * Whether a chart with these values scales by itself, so that the number of replicas is not to be set from outside.
 *
 * @param values merged
 */
export function scalerEnabled(values: PlanMap): boolean {
  return SWITCHES.some((key) => mapAt(values, key)?.enabled === true)
}
