import type { Run, RunFilter } from './run.ts'

/** True when the run fits all parts of the filter; an absent part fits everything, an empty list nothing. */
export function matchesRun(run: Run, filter: RunFilter | undefined): boolean {
  if (!filter) return true
  const { namespace, name, actions, outcomes, actors, backends, since, until } = filter
  if (namespace !== undefined && run.namespace !== namespace) return false
  if (name !== undefined && run.name !== name) return false
  if (actions && !actions.includes(run.action)) return false
  if (outcomes && !outcomes.includes(run.outcome)) return false
  if (actors && !(run.actor !== null && actors.includes(run.actor))) return false
  if (backends && !backends.includes(run.backend)) return false
  const startedMs = Date.parse(run.startedAt)
  if (since !== undefined && startedMs < Date.parse(since)) return false
  if (until !== undefined && startedMs >= Date.parse(until)) return false
  return true
}
