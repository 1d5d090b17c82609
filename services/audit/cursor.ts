import type { Run } from './run.ts'

/** A place in the log, newest first: runs by start, and by id where they started together. */
export interface RunPlace {
  /** Milliseconds since the epoch. */
  startedMs: number
  id: string
}

export const placeOf = (run: Run): RunPlace => ({ startedMs: Date.parse(run.startedAt) || 0, id: run.id })

/** Sorts newest first. */
export function newestFirst(one: RunPlace, other: RunPlace): number {
  if (one.startedMs !== other.startedMs) return other.startedMs - one.startedMs
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0
}

/** The opaque cursor of a run. */
export function encodeRunCursor({ startedMs, id }: RunPlace): string {
  return Buffer.from(JSON.stringify([startedMs, id])).toString('base64url')
}

/** The place a cursor stands for; null when it is none of ours. */
export function decodeRunCursor(cursor: string): RunPlace | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (!Array.isArray(value) || value.length !== 2) return null
    const [startedMs, id] = value
    return Number.isSafeInteger(startedMs) && typeof id === 'string' ? { startedMs, id } : null
  } catch {
    return null
  }
}
