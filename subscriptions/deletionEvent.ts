import type { Deletion, EventPhase, GoneCause, Row } from '../services/deployments/row.ts'

/** One message of `deletionProgressed`, with the fields of the schema's `DeletionEvent`. */
export interface DeletionEvent {
  /** Pass it as `since` to go on after this event. */
  cursor: string
  /** RFC 3339, UTC. */
  at: string
  phase: EventPhase
  /** Why it has left; only with GONE. */
  goneBecause: GoneCause | null
  /** Null once it is not being uninstalled any more. */
  deletion: Deletion | null
}

/** How a release stands to its uninstall: what of an event comes from the view. */
export type Standing = Pick<DeletionEvent, 'phase' | 'goneBecause' | 'deletion'>

/** True for the row of a release that is being uninstalled. */
export const isUninstalling = (row: Row | null): row is Row => row?.phase === 'UNINSTALLING'

/**
 * How a release that was being uninstalled (`before`) stands when its row is `after`; `gone` is what the view
 * says of a row that has left. What becomes of another object of the name is no part of this uninstall.
 */
export function standingAfter(before: Row, after: Row | null, gone: GoneCause | null): Standing {
  if (gone) return { phase: 'GONE', goneBecause: gone, deletion: null }
  // No end: a row that can no longer be read leaves too, or leaves its name to what the other backend has.
  if (after === null || after.backend !== before.backend) {
    return { phase: 'UNKNOWN', goneBecause: null, deletion: null }
  }
  const recreated = before.uid !== null && after.uid !== null && after.uid !== before.uid
  return recreated ? { phase: 'GONE', goneBecause: 'RECREATED', deletion: null } : standingOf(after)
}

/** How a release with this row stands. */
export const standingOf = (row: Row): Standing => ({
  phase: row.phase,
  goneBecause: null,
  deletion: row.deletion,
})
