import { isPlanMap, type PlanMap, type PlanValue } from './scalars.ts'
import { valuePath } from './valuePath.ts'

export interface Difference {
  path: string
  /** Null also where there was none. */
  from: PlanValue
  /** Null also where there is none any more. */
  to: PlanValue
}

/**
 * What differs between two maps, per leaf and sorted by path. A list is a leaf, and so is a map where the other
 * side has something else in its place. A null is something else than nothing: it takes away the chart's default.
 */
export function differences(from: PlanMap, to: PlanMap): Difference[] {
  const found: Difference[] = []
  compare([], from, to, found)
  return found
}

function compare(path: readonly string[], from: PlanMap, to: PlanMap, found: Difference[]): void {
  for (const key of [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()) {
    const before = Object.hasOwn(from, key) ? from[key] : undefined
    const after = Object.hasOwn(to, key) ? to[key] : undefined
    const here = [...path, key]
    if (isInner(before, after)) compare(here, asMap(before), asMap(after), found)
    else if (!isSame(before, after)) {
      found.push({ path: valuePath(here), from: before ?? null, to: after ?? null })
    }
  }
}

/** Two maps, or one where the other side has nothing: its leaves are told one by one. */
function isInner(before: PlanValue | undefined, after: PlanValue | undefined): boolean {
  const [one, other] = [isPlanMap(before), isPlanMap(after)]
  if (one && other) return true
  const alone = one && after === undefined ? before : other && before === undefined ? after : null
  return isPlanMap(alone ?? undefined) && Object.keys(alone as PlanMap).length > 0
}

/** Equal in type and value, keys in any order; NaN is equal to itself. */
export function isSame(one: PlanValue | undefined, other: PlanValue | undefined): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  }
  if (!isPlanMap(one) || !isPlanMap(other)) return Object.is(one, other) || one === other
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  )
}

const asMap = (value: PlanValue | undefined): PlanMap => (isPlanMap(value) ? value : {})
