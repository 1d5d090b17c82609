import { type ReleaseRef, releaseKey } from '../deployments/row.ts'
import { mergeLayers, type PlanData, readLayers, textAt } from '../plans/document.ts'
import { scalerEnabled } from '../plans/scaler.ts'
import type { LiveRelease } from './liveRelease.ts'
import type { RefusalOf } from './outcome.ts'

/**
 * Where the chart's own scaler is on, the number of replicas is its business: an apply that sets another one is
 * refused, since the next decision of the scaler would undo it. Pure.
 */
export function scalerRefusal(
  { ref, action }: { ref: ReleaseRef; action: string },
  live: LiveRelease,
  plan: PlanData,
): RefusalOf<'ScalerEnabled'> | null {
  if (action !== 'apply' || live.data === null) return null
  const before = readLayers(live.data)
  const after = readLayers(plan)
  if (!before.ok || !after.ok) return null
  const [old, next] = [mergeLayers(before.layers), mergeLayers(after.layers)]
  const isOn = scalerEnabled(old) && scalerEnabled(next)
  if (!isOn || textAt(old, 'replicaCount') === textAt(next, 'replicaCount')) return null
  return {
    kind: 'ScalerEnabled',
    message: `the chart's own scaler sets the number of replicas of ${releaseKey(ref)}; turn it off first, or set its bounds`,
  }
}
