import { createHash } from 'node:crypto'
import { LAYERS, type LayerName, layerKey, PLAN_KEY, type PlanData } from './document.ts'
import { isPlanMap, type PlanMap, type PlanValue } from './scalars.ts'
import { readYamlMap } from './yaml.ts'

/**
 * The hash of a plan: 64 hex digits over what it says. The order of keys, comments and style do not matter, and
 * the status, the hash that is written in it and foreign keys (`helmfile.yaml`) are left out.
 */
export const planHash = (data: PlanData): string =>
  hashOf(data[PLAN_KEY], (layer) => saidBy(data[layerKey(layer)], false))

/** As `planHash`, of a plan whose layers have been read. */
export function hashOf(plan: string | undefined, valuesOf: (layer: LayerName) => PlanMap): string {
  const { hash: _, ...said } = saidBy(plan, true)
  return createHash('sha256')
    .update(canonical([compact(said), ...LAYERS.map(valuesOf)]))
    .digest('hex')
}

/** What a text says; one that cannot be read stands for itself. */
function saidBy(text: string | undefined, asText: boolean): PlanMap {
  if (text === undefined) return {}
  const reading = readYamlMap(text, { asText })
  return reading.ok ? reading.value : { text }
}

/** Without the keys that say nothing: one reader's null is another one's absent key. */
function compact(map: PlanMap): PlanMap {
  const entries = Object.entries(map).map(
    ([key, value]) => [key, isPlanMap(value) ? compact(value) : value] as const,
  )
  return Object.fromEntries(
    entries.filter(([, value]) => value !== null && !(isPlanMap(value) && Object.keys(value).length === 0)),
  )
}

/** JSON with sorted keys, every digit of an integer, and the numbers that JSON does not know. */
function canonical(value: PlanValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isPlanMap(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value)
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`).join(',')}}`
}
