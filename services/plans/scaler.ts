import { mapAt } from './document.ts'
import { isPlanMap, type PlanMap, type PlanValue } from './scalars.ts'

/**
 * Where charts have the switch of a scaler of their own: `scaler` is the serving charts' (an LLMScaler object),
 * `autoscaling` the HorizontalPodAutoscaler of `helm create`, `keda` and `hpa` are common.
 */
export const SWITCHES = ['scaler', 'autoscaling', 'keda', 'hpa']

/** The key that turns the chart's own scaler on, `scaler.enabled` say, for the release or one of its pools; null when none does. */
export function chartScaler(values: PlanMap): string | null {
  const pd = mapAt(values, 'pd')
  const places: [string, PlanMap | null][] = [
    ['', values],
    ['pd.', pd],
    ['pd.prefill.', mapAt(pd, 'prefill')],
    ['pd.decode.', mapAt(pd, 'decode')],
  ]
  for (const [path, map] of places) {
    for (const key of SWITCHES) if (isOn(mapAt(map, key)?.enabled)) return `${path}${key}.enabled`
  }
  return null
}

/**
 * Whether a chart with these values scales by itself, so that the number of replicas is not to be set from outside.
 *
 * @param values merged
 */
export const scalerEnabled = (values: PlanMap): boolean => chartScaler(values) !== null

/** What a template's `if` takes for true: `"false"` is a text, and so is true. */
export function isOn(value: PlanValue | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isPlanMap(value)) return Object.keys(value).length > 0
  return Boolean(value)
}
