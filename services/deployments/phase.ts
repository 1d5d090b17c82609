import type { PlanObject } from '../plans/planObject.ts'
import type { DeploymentPhase } from './row.ts'

/** The phase of a helm release and, where it is not plain, why. UNINSTALLING wins over every other source. */
export function planPhase(
  plan: PlanObject | null,
  mark: PlanObject | null,
): { phase: DeploymentPhase; reason: string | null } {
  if (mark !== null || plan === null || plan.marked) return { phase: 'UNINSTALLING', reason: null }
  const unreadable = planProblem(plan)
  if (unreadable !== null) return { phase: 'UNKNOWN', reason: unreadable }
  switch (plan.status?.phase) {
    case 'applying':
      return { phase: 'APPLYING', reason: null }
    case 'applied':
      return { phase: 'APPLIED', reason: null }
    case 'failed':
      return { phase: 'FAILED', reason: plan.status.error ?? 'the last operation failed and left no error' }
    default:
      return {
        phase: 'UNKNOWN',
        reason: plan.status
          ? `status.yaml of ${plan.objectName} names no phase that is known`
          : `${plan.objectName} has no status.yaml`,
      }
  }
}

/** Why the plan cannot be read; null when it can. Never quotes the plan. */
export function planProblem(plan: PlanObject): string | null {
  if (plan.document.unreadable !== null) return `${plan.objectName}: ${plan.document.unreadable}`
  return plan.statusUnreadable === null ? null : `${plan.objectName}: ${plan.statusUnreadable}`
}
