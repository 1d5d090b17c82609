import { autoscaleOf } from '../autoscale/autoscale.ts'
import { type CanaryKeys, relationship } from '../canary/relationship.ts'
import type { PlanObject } from '../plans/planObject.ts'
import { drift } from './drift.ts'
import type { ReleaseInputs } from './inputs.ts'
import { serviceOperation, uninstallOperation } from './lastOperation.ts'
import {
  isExternal,
  type LLMServiceObject,
  llmServicePhase,
  llmServiceUpdatedAt,
  operatorDeletion,
} from './llmService.ts'
import { emptyDeletion, openUninstall, whoAsked } from './openUninstall.ts'
import { judgePods, podCounts } from './podCounts.ts'
import type { Deletion, PlanSource, Row } from './row.ts'

/** The row of an LLMService, from what its operator says. */
export function llmServiceRow(
  inputs: ReleaseInputs,
  service: LLMServiceObject,
  now: number,
  canaryKeys: CanaryKeys,
): Row {
  const { ref, plan, mark } = inputs
  const uninstall = openUninstall(plan, mark)
  const isOwn = uninstall?.marked.status?.run?.llmServiceUid === service.metadata.uid
  const phase = isOwn ? 'UNINSTALLING' : llmServicePhase(service)
  const uninstalling = phase === 'UNINSTALLING'
  const deletion = uninstalling
    ? serviceDeletion(operatorDeletion(service), uninstall?.marked ?? null, inputs)
    : null
  const cleanupPending = plan !== null && !plan.marked
  const { chart, model } = service.spec ?? {}
  return {
    ...ref,
    uid: service.metadata.uid,
    backend: 'LLMSERVICE',
    phase,
    phaseReason: service.status?.phase === 'Failed' ? (service.status.message ?? null) : null,
    revision: service.status?.helm?.revision || null,
    helmStatus: service.status?.helm?.status ?? null,
    chart: chart?.name
      ? { name: chart.name, version: chart.version ?? null, repo: chart.repo ?? null }
      : null,
    source: serviceSource(service, model),
    updatedAt: llmServiceUpdatedAt(service),
    lastOperation: serviceOperation(service, phase, isOwn ? (uninstall?.marked ?? null) : null),
    drift: drift({
      phase,
      stage: deletion?.stage ?? null,
      unreadable: null,
      lastAction: null,
      lastError: service.status?.message ?? null,
      failed: phase === 'FAILED',
      applying: false,
      lockHeld: false,
      planWithoutRelease: false,
      cleanupPending,
    }),
    external: isExternal(service),
    cleanupPending,
    pods: podCounts(judgePods(inputs.pods, inputs.nodeState, now), uninstalling),
    deletion,
    canary: relationship(service.metadata, canaryKeys),
    autoscale: inputs.autoscale && autoscaleOf(inputs.autoscale),
  }
}

/** An LLMService that has left, whose clean-up is still owed: the row stays until that is done. */
export function vanishedServiceRow(inputs: ReleaseInputs, marked: PlanObject, now: number): Row {
  const deletion = serviceDeletion(emptyDeletion, marked, inputs)
  return {
    ...inputs.ref,
    uid: marked.status?.run?.llmServiceUid ?? null,
    backend: 'LLMSERVICE',
    phase: 'UNINSTALLING',
    phaseReason: null,
    revision: marked.status?.run?.revision ?? null,
    helmStatus: null,
    chart: inputs.plan?.document.chart ?? null,
    source: inputs.plan?.document.source ?? null,
    updatedAt: marked.status?.updatedAt ?? null,
    lastOperation: uninstallOperation(marked),
    drift: { kind: 'UNINSTALL_IN_PROGRESS', message: 'uninstall in progress: CLEANUP' },
    external: false,
    cleanupPending: false,
    pods: podCounts(judgePods(inputs.pods, inputs.nodeState, now), true),
    deletion: { ...deletion, stage: 'CLEANUP' },
    canary: null,
    autoscale: inputs.autoscale && autoscaleOf(inputs.autoscale),
  }
}

function serviceDeletion(said: Deletion, marked: PlanObject | null, inputs: ReleaseInputs): Deletion {
  const asked = marked ? whoAsked(marked) : { startedAt: null, requestedBy: null, note: null }
  return {
    ...said,
    requestedBy: asked.requestedBy,
    note: asked.note,
    startedAt: said.startedAt ?? asked.startedAt ?? inputs.llmService?.metadata.deletionTimestamp ?? null,
    blockers: [...said.blockers, ...(inputs.progress?.blockers ?? [])],
  }
}

function serviceSource(
  service: LLMServiceObject,
  model: NonNullable<LLMServiceObject['spec']>['model'],
): PlanSource | null {
  const annotations = service.metadata.annotations ?? {}
  const own = (key: string) => annotations[`swiss.modelsphere.dev/${key}`] ?? null
  if (!model && !own('catalog')) return null
  return {
    catalog: own('catalog'),
    catalogName: own('catalog-name'),
    ref: own('catalog-ref'),
    model: model?.name ?? null,
    version: model?.version ?? null,
    variant: model?.variant ?? null,
    hf: model?.hf ?? null,
    engine: model?.engine ?? null,
  }
}
