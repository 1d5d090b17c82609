import type { ChangeCause, RowChange } from '../services/deployments/change.ts'
import type { Backend, EventPhase, GoneCause, Row } from '../services/deployments/row.ts'
import type { MarkerKind, Telling } from './listStream.ts'

type EventKind = 'SNAPSHOT' | 'CHANGED' | 'REMOVED' | MarkerKind

/** One message of `deploymentPhaseChanged`, with the fields of the schema's `DeploymentPhaseEvent`. */
export interface PhaseEvent {
  kind: EventKind
  /** Pass it as `since` to go on after this event. */
  cursor: string
  /** RFC 3339, UTC. */
  at: string
  namespace: string | null
  name: string | null
  uid: string | null
  backend: Backend | null
  previousPhase: EventPhase | null
  phase: EventPhase | null
  cause: ChangeCause | null
  reason: string | null
  goneBecause: GoneCause | null
  /** Null once it is gone. */
  deployment: Row | null
}

/** A change of the phase, out of the selection too; nothing else of a row is told. */
export const phaseTelling: Telling<PhaseEvent> = {
  change: (change, _wanted, cursor) => ofChange(change, cursor),
  row: (row, cursor, at) => ofRow('SNAPSHOT', row, cursor, at),
  marker,
}

/** What a change of a row says about its phase, or null when the phase is what it was. */
function ofChange(change: RowChange, cursor: string): PhaseEvent | null {
  const { before, after, gone, cause, at } = change
  if (after) {
    if (before?.phase === after.phase) return null
    return { ...ofRow('CHANGED', after, cursor, at), previousPhase: before?.phase ?? null, cause }
  }
  if (!before) return null
  return {
    ...ofRow(gone ? 'CHANGED' : 'REMOVED', before, cursor, at),
    previousPhase: before.phase,
    phase: gone ? 'GONE' : null,
    cause,
    reason: null,
    goneBecause: gone,
    deployment: null,
  }
}

/** An event about the stream itself, not about a release. */
function marker(kind: MarkerKind, cursor: string, at: string): PhaseEvent {
  return {
    kind,
    cursor,
    at,
    namespace: null,
    name: null,
    uid: null,
    backend: null,
    previousPhase: null,
    phase: null,
    cause: null,
    reason: null,
    goneBecause: null,
    deployment: null,
  }
}

function ofRow(kind: EventKind, row: Row, cursor: string, at: string): PhaseEvent {
  return {
    kind,
    cursor,
    at,
    namespace: row.namespace,
    name: row.name,
    uid: row.uid,
    backend: row.backend,
    previousPhase: null,
    phase: row.phase,
    cause: null,
    reason: row.phaseReason,
    goneBecause: null,
    deployment: row,
  }
}
