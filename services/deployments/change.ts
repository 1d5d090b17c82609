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

/** A release that was being uninstalled has been; a plan that leaves otherwise was taken away by somebody. */
export function goneCause(before: Row): GoneCause {
  return before.phase === 'UNINSTALLING' || before.backend === 'LLMSERVICE' ? 'UNINSTALLED' : 'PLAN_REMOVED'
}
