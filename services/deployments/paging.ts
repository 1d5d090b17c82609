import type { Page, PageArgs } from './lister.ts'
import { comparePlaces, decodePlace, encodePlace, placeOf } from './ordering.ts'
import type { DeploymentPhase, Row } from './row.ts'

/** Phases in the order in which counts are given. */
const PHASES: readonly DeploymentPhase[] = ['APPLYING', 'APPLIED', 'FAILED', 'UNINSTALLING', 'UNKNOWN']

export function countByPhase(rows: Iterable<Row>): Map<DeploymentPhase, number> {
  const counts = new Map<DeploymentPhase, number>()
  for (const row of rows) counts.set(row.phase, (counts.get(row.phase) ?? 0) + 1)
  return counts
}

/** Phases that have rows; the others are left out. */
export function phaseCounts(counts: ReadonlyMap<DeploymentPhase, number>): Page['countsByPhase'] {
  return PHASES.flatMap((phase) => {
    const count = counts.get(phase) ?? 0
    return count > 0 ? [{ phase, count }] : []
  })
}

/**
 * Cuts the page out of rows that are ordered already: two binary searches and the page itself, so that its
 * cost does not grow with the list.
 */
export function cutPage(
  rows: readonly Row[],
  args: PageArgs,
): Pick<Page, 'edges' | 'hasNextPage' | 'hasPreviousPage'> {
  const { orderBy } = args
  let start = args.after === undefined ? 0 : firstAfter(rows, args.after, orderBy, true)
  let end = args.before === undefined ? rows.length : firstAfter(rows, args.before, orderBy, false)
  end = Math.max(start, end)
  if (args.last !== undefined) start = Math.max(start, end - args.last)
  else end = Math.min(end, start + (args.first ?? 25))
  return {
    edges: rows.slice(start, end).map((node) => ({ cursor: encodePlace(node, orderBy), node })),
    hasNextPage: end < rows.length,
    hasPreviousPage: start > 0,
  }
}

/** Index of the first row behind the cursor (`past`), or of the first that is not before it. */
function firstAfter(
  rows: readonly Row[],
  cursor: string,
  orderBy: PageArgs['orderBy'],
  past: boolean,
): number {
  const place = decodePlace(cursor, orderBy)
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle] as Row
    const order = comparePlaces(placeOf(row, orderBy.field), place, orderBy)
    if (order < 0 || (past && order === 0)) low = middle + 1
    else high = middle
  }
  return low
}
