/** What was done to a release last, from what the cluster says of it: pure, without a look into the audit log. */
import type { PlanObject } from '../plans/planObject.ts'
import type { PlanAction, PlanPhase } from '../plans/status.ts'
import { type LLMServiceObject, llmServiceUpdatedAt } from './llmService.ts'
import { whoAsked } from './openUninstall.ts'
import type { DeploymentPhase, LastOperation } from './row.ts'
import { readTime } from './time.ts'

const ACTIONS: Readonly<Record<PlanAction, LastOperation['action']>> = {
  install: 'INSTALL',
  apply: 'APPLY',
  rollback: 'ROLLBACK',
  uninstall: 'UNINSTALL',
  autoscale: 'AUTOSCALE',
}

const OUTCOMES: Readonly<Record<PlanPhase, LastOperation['outcome']>> = {
  applying: 'STARTED',
  uninstalling: 'STARTED',
  applied: 'SUCCEEDED',
  failed: 'FAILED',
}

/** Of a helm release that is not being uninstalled; null where `status.yaml` does not name action and phase. */
export function planOperation({ status }: PlanObject): LastOperation | null {
  if (!status?.action || !status.phase) return null
  const { error, updatedAt, actor } = status
  return {
    action: ACTIONS[status.action],
    outcome: OUTCOMES[status.phase],
    error: status.phase === 'failed' ? error : null,
    at: updatedAt,
    actor,
  }
}

/** Of a release that is being uninstalled: the uninstall. A label alone says neither when nor who. */
export function uninstallOperation(marked: PlanObject): LastOperation {
  const said = marked.status?.phase === 'uninstalling' ? marked.status : null
  return {
    action: 'UNINSTALL',
    outcome: 'STARTED',
    error: said?.error ?? null,
    at: said?.updatedAt ?? null,
    actor: said ? whoAsked(marked).requestedBy : null,
  }
}

const OF_PHASE: Partial<Record<DeploymentPhase, LastOperation['outcome']>> = {
  APPLYING: 'STARTED',
  APPLIED: 'SUCCEEDED',
  FAILED: 'FAILED',
}

/**
 * Of an LLMService: the uninstall it is in, whoever asked for it, else what its annotation or the newest
 * entry of its history names. Null where neither does, as with one that Swiss did not make.
 *
 * @param marked the mark of its own uninstall
 */
export function serviceOperation(
  service: LLMServiceObject,
  phase: DeploymentPhase,
  marked: PlanObject | null,
): LastOperation | null {
  if (phase === 'UNINSTALLING') {
    if (marked) return uninstallOperation(marked)
    const at = readTime(service.metadata.deletionTimestamp)
    return { action: 'UNINSTALL', outcome: 'STARTED', error: null, at, actor: null }
  }
  const outcome = OF_PHASE[phase]
  const action = actionOf(service)
  if (!outcome || !action) return null
  const error = outcome === 'FAILED' ? (service.status?.message ?? null) : null
  return { action, outcome, error, at: llmServiceUpdatedAt(service), actor: null }
}

function actionOf(service: LLMServiceObject): LastOperation['action'] | null {
  const said =
    service.metadata.annotations?.['swiss.modelsphere.dev/action'] ?? service.status?.history?.[0]?.action
  return said !== undefined && Object.hasOwn(ACTIONS, said) ? ACTIONS[said as PlanAction] : null
}
