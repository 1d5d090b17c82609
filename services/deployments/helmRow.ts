import { autoscaleOf } from '../autoscale/autoscale.ts'
import { helmState } from '../helm/records.ts'
import type { PlanObject } from '../plans/planObject.ts'
import { drift } from './drift.ts'
import type { ReleaseInputs } from './inputs.ts'
import { planOperation, uninstallOperation } from './lastOperation.ts'
import { isHeld } from './lockFacts.ts'
import { emptyDeletion, whoAsked } from './openUninstall.ts'
import { planPhase, planProblem } from './phase.ts'
import { deletionPods, judgePods, podBlockers, podCounts, podsLeftBehind } from './podCounts.ts'
import type { DeletionBlocker, Row } from './row.ts'

/** How long the lock of a release is held at least, once it has been taken. */
const LOCK_MS = 30_000

/** The row of a helm release beside its plan. */
export function helmRow(inputs: ReleaseInputs, plan: PlanObject, now: number): Row {
  const { ref, mark, lock } = inputs
  const { newest, exists } = helmState(inputs.helm)
  const { phase, reason } = planPhase(plan, mark)
  const uninstalling = phase === 'UNINSTALLING'
  const judged = judgePods(inputs.pods, inputs.nodeState, now)
  const pods = podCounts(judged, uninstalling)
  const lockHeld = isHeld(lock, now)
  const stage = uninstalling
    ? helmStage(exists, inputs.progress?.helmRunning || lockHeld, pods.counting)
    : null
  const status = plan.status
  const applying = status?.phase === 'applying'
  const begun = Date.parse(status?.startedAt ?? '')
  // Plan and Lease come by watches of their own, and whoever has just begun holds the Lease at least so long.
  const working = lockHeld || (applying && begun <= now && now < begun + LOCK_MS)
  return {
    ...ref,
    uid: plan.status?.run?.planUid ?? plan.uid,
    backend: 'HELM',
    phase,
    phaseReason: reason,
    revision: newest?.revision ?? status?.revision ?? null,
    helmStatus: newest?.status ?? null,
    chart: plan.document.chart,
    source: plan.document.source,
    updatedAt: status?.updatedAt ?? null,
    lastOperation: uninstalling ? uninstallOperation(mark ?? plan) : planOperation(plan),
    drift: drift({
      phase,
      stage,
      unreadable: planProblem(plan),
      lastAction: status?.action ?? null,
      lastError: status?.error ?? null,
      failed: status?.phase === 'failed',
      applying,
      lockHeld: working,
      // While it is installed for the first time there is nothing yet, which is no drift.
      planWithoutRelease: !exists && !(applying && working),
      cleanupPending: false,
    }),
    external: false,
    cleanupPending: false,
    pods,
    deletion: uninstalling
      ? {
          ...emptyDeletion,
          ...whoAsked(mark ?? plan),
          stage,
          podsRemaining: pods.counting,
          pods: deletionPods(judged),
          blockers: [...helmBlockers(stage), ...podBlockers(judged), ...(inputs.progress?.blockers ?? [])],
          leftBehind: [...podsLeftBehind(judged), ...(inputs.progress?.leftBehind ?? [])],
        }
      : null,
    canary: null,
    autoscale: inputs.autoscale && autoscaleOf(inputs.autoscale),
  }
}

function helmStage(helmHasIt: boolean, working: boolean, counting: number): string {
  if (helmHasIt) return working ? 'HELM_UNINSTALL' : 'MARKED'
  return counting > 0 ? 'PODS_TERMINATING' : 'CLEANUP'
}

function helmBlockers(stage: string | null): DeletionBlocker[] {
  if (stage === 'HELM_UNINSTALL') {
    return [{ kind: 'HELM', name: 'helm', message: 'helm is uninstalling the release', since: null }]
  }
  if (stage === 'MARKED') {
    return [{ kind: 'HELM', name: 'helm', message: 'helm still has the release', since: null }]
  }
  return []
}
