import type { RowChange } from './change.ts'
import type { DeploymentFilter } from './listing.ts'
import type { DeploymentPhase, ReleaseRef, Row } from './row.ts'

export type OrderField = 'NAMESPACE_NAME' | 'NAME' | 'UPDATED_AT' | 'PHASE' | 'UNINSTALLING_SINCE'

/** A page cursor that was not given out by this order. */
export class InvalidCursor extends Error {}

export interface PageArgs {
  first?: number | undefined
  after?: string | undefined
  last?: number | undefined
  before?: string | undefined
  filter?: DeploymentFilter | undefined
  orderBy: { field: OrderField; direction: 'ASC' | 'DESC' }
}

export interface Page {
  edges: { cursor: string; node: Row }[]
  hasNextPage: boolean
  hasPreviousPage: boolean
  totalCount: number
  countsByPhase: { phase: DeploymentPhase; count: number }[]
  /** Feed position that this page shows. */
  position: number
}

/** What readers see of the view. Synchronous: it never leaves the process. */
export interface DeploymentLister {
  /** False until the watch caches have been filled once; then reads are refused, never answered empty. */
  readonly ready: boolean
  /** Number of changes so far. Change n has position n; a fresh gateway begins at 0. */
  readonly position: number
  get(ref: ReleaseRef): Row | undefined
  page(args: PageArgs): Page
  /** Rows that fit, by namespace and name, true for now. */
  snapshot(filter: DeploymentFilter | undefined): Row[]
  /** Told of each change, in order, with its position, right after the view has taken it in. */
  subscribe(listener: (change: RowChange, position: number) => void): () => void
}
