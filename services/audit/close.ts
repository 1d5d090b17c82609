import { boundText } from '../helm/bound.ts'
import type { Run, RunEnd } from './run.ts'

/** Bytes of an error, an output or a note that are kept. */
const MAX_TEXT = 16 * 1024

/** Bytes of an actor's name that are kept: it is indexed, and an entry of an index is bounded. */
const MAX_NAME = 1024

/** SQLite's texts end at a NUL, and PostgreSQL takes none. */
const bounded = (text: string | null, bytes = MAX_TEXT): string | null =>
  text === null ? null : boundText(text.replaceAll('\0', '\ufffd'), bytes)

/** A run as it is kept: its texts bounded. */
export function boundRun(run: Run): Run {
  return {
    ...run,
    actor: bounded(run.actor, MAX_NAME),
    note: bounded(run.note),
    error: bounded(run.error),
    output: bounded(run.output),
  }
}

/**
 * A run with its final word. What was known of it at its start is kept where the closing side has lost it.
 *
 * @param known the open run that is kept; null when there is none
 * @param run as whoever closes it has it
 */
export function closedRun(known: Run | null, run: Run, end: RunEnd): Run {
  return boundRun({
    ...(known ?? run),
    objectUid: run.objectUid ?? known?.objectUid ?? null,
    planHash: run.planHash ?? known?.planHash ?? null,
    revision: run.revision ?? known?.revision ?? null,
    changed: run.changed || (known?.changed ?? false),
    ...end,
  })
}
