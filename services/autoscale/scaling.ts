/** What the values of a release say about scaling it: pure, small enough to stay in a cache. */
import { mapAt, mergeValues, type PlanData, readLayers } from '../plans/document.ts'
import { isPlanMap, type PlanMap, type PlanValue } from '../plans/scalars.ts'
import { chartScaler, isOn, SWITCHES } from '../plans/scaler.ts'
import { POOL_NAMES, type PoolName } from './policy.ts'

export interface ScalingFacts {
  /** Replicas of each pool that the release has. */
  pools: Partial<Record<PoolName, number>>
  /** Pools whose replicas stand in the layer above the form, where the form has no say. */
  fixed: PoolName[]
  /** Prefill and decode share their pods: neither can be scaled alone. */
  colocated: boolean
  /** The key that turns the chart's own scaler on; null when none does. */
  scaler: string | null
}

/** What a release without pools and without a scaler of its own says; shared, since most are like that. */
const NOTHING: ScalingFacts = { pools: {}, fixed: [], colocated: false, scaler: null }
/** All that is looked at of the values, which may be large. */
const KEYS = ['pd', ...SWITCHES]

/** Of a plan; null when its layers cannot be read. */
export function scalingOfPlan(data: PlanData): ScalingFacts | null {
  const reading = readLayers(data)
  return reading.ok ? scalingOfLayers(reading.layers) : null
}

/** @param layers in the order in which they are merged */
export function scalingOfLayers(layers: readonly { name: string; values: PlanMap }[]): ScalingFacts {
  const parts = layers.map(({ name, values }) => ({ name, values: only(values) }))
  const merge = (some: typeof parts) =>
    some.reduce<PlanMap>((merged, { values }) => mergeValues(merged, values), {})
  const values = merge(parts)
  if (Object.keys(values).length === 0) return NOTHING
  return scalingFacts(values, merge(parts.filter(({ name }) => name === 'edit')))
}

function only(values: PlanMap): PlanMap {
  const kept: PlanMap = {}
  for (const key of KEYS) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined
    if (value !== undefined) kept[key] = value
  }
  return kept
}

/**
 * @param values all layers merged, as the chart gets them
 * @param edit the layer above the form, which wins over it
 */
function scalingFacts(values: PlanMap, edit: PlanMap): ScalingFacts {
  const pd = mapAt(values, 'pd')
  const off = pd !== null && Object.hasOwn(pd, 'enabled') && !isOn(pd.enabled)
  const pools: ScalingFacts['pools'] = {}
  const fixed: PoolName[] = []
  for (const name of POOL_NAMES) {
    const replicas = mapAt(pd, name)?.replicas
    if (off || typeof replicas !== 'number' || !Number.isSafeInteger(replicas) || replicas < 0) continue
    pools[name] = replicas
    if (mapAt(mapAt(edit, 'pd'), name)?.replicas !== undefined) fixed.push(name)
  }
  return { pools, fixed, colocated: isOn(colocateOf(pd)), scaler: chartScaler(values) }
}

/** `pd.colocate: true`, or a map that may carry `enabled`. */
function colocateOf(pd: PlanMap | null): PlanValue | undefined {
  const colocate = pd?.colocate
  return isPlanMap(colocate) && Object.hasOwn(colocate, 'enabled') ? colocate.enabled : colocate
}
