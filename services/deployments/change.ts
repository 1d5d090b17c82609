import type { GoneCause, Row } from './row.ts'

/** Where a change was first seen. */
export type ChangeCause = 'INFORMER' | 'REAP_LOOP' | 'MUTATION' | 'AUTOSCALE'

/**
 * One change of the view: a row before and after. `before: null` is a new row; `after: null` a row that has
 * left, with `gone` saying why, or null when it only can no longer be read.
 */
export interface RowChange {
  before: Row | null
  after: Row | null
  gone: GoneCause | null
  cause: ChangeCause
  /** RFC 3339, UTC: when the view took it in. */
  at: string
}
