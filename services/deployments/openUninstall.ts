/** The uninstall that a plan, or a mark beside it, says is in progress. Pure. */
import type { PlanObject } from '../plans/planObject.ts'
import type { Deletion, Row } from './row.ts'

/** The object that carries the mark of an uninstall in progress, and whose uninstall it is. */
export function openUninstall(
  plan: PlanObject | null,
  mark: PlanObject | null,
): { marked: PlanObject; backend: Row['backend'] } | null {
  const marked = plan?.marked ? plan : mark
  if (!marked) return null
  return { marked, backend: marked.status?.run?.backend ?? 'HELM' }
}

/** The chart whose name stands in the pods' `app` label: the plan's, else the one that was kept with the mark. */
export function labelChart(plan: PlanObject | null, mark: PlanObject | null): string | null {
  return plan?.document.chart?.name ?? plan?.status?.run?.chart ?? mark?.status?.run?.chart ?? null
}

/** What the mark says of who asked, when and why. */
export function whoAsked(marked: PlanObject): Pick<Deletion, 'startedAt' | 'requestedBy' | 'note'> {
  const status = marked.status
  return {
    startedAt: status?.run?.startedAt ?? status?.startedAt ?? null,
    requestedBy: status?.run?.actor ?? status?.actor ?? null,
    note: status?.run?.note ?? status?.note ?? null,
  }
}

/** A deletion of which nothing is known yet. */
export const emptyDeletion: Deletion = {
  stage: null,
  outcome: null,
  podsRemaining: null,
  pods: null,
  startedAt: null,
  deadline: null,
  message: null,
  forceDeleted: null,
  requestedBy: null,
  note: null,
  blockers: [],
  leftBehind: [],
}
