import { boundRun, closedRun } from './close.ts'
import { decodeRunCursor, encodeRunCursor, newestFirst, placeOf } from './cursor.ts'
import { matchesRun } from './matchesRun.ts'
import type { AuditLog, Run } from './run.ts'

/** An audit log that lives as long as this object, shared by whoever is given it: for tests. */
export function memoryAudit(): AuditLog {
  const runs = new Map<string, Run>()
  const sorted = () => [...runs.values()].sort((one, other) => newestFirst(placeOf(one), placeOf(other)))
  return {
    shared: true,
    start(run) {
      if (!runs.has(run.id)) runs.set(run.id, boundRun(run))
    },
    finish(run, end) {
      const known = runs.get(run.id) ?? null
      if (known === null || known.outcome === 'STARTED') runs.set(run.id, closedRun(known, run, end))
    },
    async open() {
      return sorted()
        .filter((run) => run.outcome === 'STARTED')
        .reverse()
    },
    async get(id) {
      return runs.get(id) ?? null
    },
    async page({ first, after, filter }) {
      const place = after === undefined ? null : decodeRunCursor(after)
      if (after !== undefined && place === null) return emptyPage(true)
      const fitting = sorted().filter((run) => matchesRun(run, filter))
      const rest = place === null ? fitting : fitting.filter((run) => newestFirst(place, placeOf(run)) < 0)
      return {
        edges: rest.slice(0, first).map((run) => ({ cursor: encodeRunCursor(placeOf(run)), run })),
        hasNextPage: rest.length > first,
        hasPreviousPage: rest.length < fitting.length,
        available: true,
      }
    },
    warning: () => null,
    async flush() {},
    async close() {},
  }
}

/** A page without runs. */
export const emptyPage = (available: boolean) => ({
  edges: [],
  hasNextPage: false,
  hasPreviousPage: false,
  available,
})
