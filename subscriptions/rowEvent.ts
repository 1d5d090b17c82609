import type { ReleaseRef, Row } from '../services/deployments/row.ts'
import type { MarkerKind, Telling } from './listStream.ts'

/** One message of `deploymentChanged`, with the fields of the schema's `DeploymentEvent`. */
export interface RowEvent {
  change: 'SNAPSHOT' | 'ADDED' | 'MODIFIED' | 'REMOVED' | MarkerKind
  /** Pass it as `since` to go on after this event. */
  cursor: string
  /** RFC 3339, UTC. */
  at: string
  /** Whose row it is; null in an event about the stream itself. */
  ref: ReleaseRef | null
  /** Null once it has left the selection. */
  deployment: Row | null
}

/** A row enters the selection, changes within it, or leaves it; why it leaves is not told. */
export const rowTelling: Telling<RowEvent> = {
  change({ before, after, at }, wanted, cursor) {
    if (after && wanted.after) {
      return ofRow(wanted.before ? 'MODIFIED' : 'ADDED', after, cursor, at)
    }
    return before && { ...ofRow('REMOVED', before, cursor, at), deployment: null }
  },
  row: (row, cursor, at) => ofRow('SNAPSHOT', row, cursor, at),
  marker: (change, cursor, at) => ({ change, cursor, at, ref: null, deployment: null }),
}

const ofRow = (change: RowEvent['change'], row: Row, cursor: string, at: string): RowEvent => ({
  change,
  cursor,
  at,
  ref: { namespace: row.namespace, name: row.name },
  deployment: row,
})
