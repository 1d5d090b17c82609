import type { LiveMarks } from './marks.ts'

/**
 * How an uninstall stands by what was just read of its objects. Pure.
 *
 * - `MARKED`: the mark is there, on the plan or beside it
 * - `BARE`: neither a plan nor a mark; somebody deleted them, or another gateway has finished
 * - `UNMARKED`: the same plan, and another writer has taken the mark away
 * - `REPLACED`: another plan bears the name; it is a new deployment's
 */
export type Standing = 'MARKED' | 'BARE' | 'UNMARKED' | 'REPLACED'

/** @param planUid uid of the plan that the uninstall is about; null for a release without one */
export function standing({ plan, mark }: LiveMarks, planUid: string | null): Standing {
  if (plan?.marked) return 'MARKED'
  if (mark) return plan === null || plan.uid === (mark.status?.run?.planUid ?? null) ? 'MARKED' : 'REPLACED'
  if (plan === null) return 'BARE'
  return plan.uid === planUid ? 'UNMARKED' : 'REPLACED'
}
