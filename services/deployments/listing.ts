import type { CanaryState } from '../canary/relationship.ts'
import type { Backend, DeploymentPhase, Row } from './row.ts'

export interface DeploymentFilter {
  /** Case-insensitive part of the namespace, the name or the model. */
  search?: string | undefined
  namespaces?: readonly string[] | undefined
  phases?: readonly DeploymentPhase[] | undefined
  backends?: readonly Backend[] | undefined
  canaryStates?: readonly CanaryState[] | undefined
  models?: readonly string[] | undefined
  engines?: readonly string[] | undefined
  drifted?: boolean | undefined
  /** RFC 3339: uninstalling since before this moment. */
  uninstallingBefore?: string | undefined
}

/** True when the row fits all parts of the filter; an absent part fits everything, an empty list nothing. */
export function matches(row: Row, filter: DeploymentFilter | undefined): boolean {
  if (!filter) return true
  const { search, namespaces, phases, backends, canaryStates, models, engines } = filter
  if (namespaces && !namespaces.includes(row.namespace)) return false
  if (phases && !phases.includes(row.phase)) return false
  if (backends && !backends.includes(row.backend)) return false
  if (canaryStates && !(row.canary && canaryStates.includes(row.canary.state))) return false
  if (models && !(row.source?.model && models.includes(row.source.model))) return false
  if (engines && !(row.source?.engine && engines.includes(row.source.engine))) return false
  if (filter.drifted !== undefined && (row.drift !== null) !== filter.drifted) return false
  if (filter.uninstallingBefore !== undefined) {
    const since = row.deletion?.startedAt
    if (!since || Date.parse(since) >= Date.parse(filter.uninstallingBefore)) return false
  }
  if (search) {
    const text = search.toLowerCase()
    const fields = [row.namespace, row.name, `${row.namespace}/${row.name}`, row.source?.model ?? '']
    if (!fields.some((field) => field.toLowerCase().includes(text))) return false
  }
  return true
}
