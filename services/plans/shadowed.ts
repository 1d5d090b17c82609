import type { LayerName, PlanLayer } from './document.ts'
import { isPlanMap, type PlanMap, type PlanValue } from './scalars.ts'
import { valuePath } from './valuePath.ts'

/** A value that a layer has in vain, because a later one has another at the same place. */
export interface Shadowed {
  path: string
  /** The layer that wins there. */
  by: LayerName
  /** The layers that lose there, in their order. */
  under: LayerName[]
}

interface Entry {
  layer: LayerName
  value: PlanValue
}

/** Which layer wins over which, per place where a value is replaced; maps that merge are none. Sorted by path. */
export function shadowedValues(layers: readonly PlanLayer[]): Shadowed[] {
  const found: Shadowed[] = []
  walk(
    [],
    layers.map(({ name, values }) => ({ layer: name, value: values })),
    found,
  )
  return found
}

function walk(path: readonly string[], entries: readonly Entry[], found: Shadowed[]): void {
  // Maps merge only with those behind the last value that is none: that one has replaced all before it.
  const last = entries.findLastIndex(({ value }) => !isPlanMap(value))
  const winner = last === entries.length - 1 ? last : last + 1
  const under = entries.slice(0, winner).map(({ layer }) => layer)
  const by = entries[winner]?.layer
  if (last >= 0 && by !== undefined && under.length > 0) found.push({ path: valuePath(path), by, under })
  const maps = entries.slice(last + 1)
  if (maps.length < 2) return
  const keys = new Set(maps.flatMap(({ value }) => Object.keys(value as PlanMap)))
  for (const key of [...keys].sort()) {
    const inner = maps.flatMap(({ layer, value }) =>
      Object.hasOwn(value as PlanMap, key) ? [{ layer, value: (value as PlanMap)[key] as PlanValue }] : [],
    )
    if (inner.length > 1) walk([...path, key], inner, found)
  }
}
