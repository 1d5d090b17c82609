/** The detail of one release, from the caches; only what is asked for singly is read live. */
import type { RunAction } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds } from '../cluster/kinds.ts'
import type { ClusterCaches } from '../deployments/caches.ts'
import type { LLMServiceObject } from '../deployments/llmService.ts'
import { planProblem } from '../deployments/phase.ts'
import type { DeploymentPhase, ReleaseRef, Row } from '../deployments/row.ts'
import { readTime } from '../deployments/time.ts'
import type { DeploymentView } from '../deployments/view.ts'
import { readHelmChart } from '../helm/lookup.ts'
import { newest } from '../helm/records.ts'
import { type Archive, archiveData, archiveOf } from '../plans/archives.ts'
import { type PlanData, type PlanDocument, readPlan } from '../plans/document.ts'
import { boundedLabel } from '../plans/names.ts'
import type { PlanObject } from '../plans/planObject.ts'
import { planOfService } from '../plans/servicePlan.ts'
import type { PlanAction, PlanPhase } from '../plans/status.ts'
import type {
  LLMServiceDetail,
  PlanDetail,
  PlanStatusDetail,
  ReleaseDetail,
  ReleaseDetails,
  RevisionDetail,
} from './detailTypes.ts'
import { planDetail } from './planDetail.ts'
import { revisionsOfService } from './serviceRevisions.ts'

const PHASES: Record<PlanPhase, DeploymentPhase> = {
  applying: 'APPLYING',
  applied: 'APPLIED',
  failed: 'FAILED',
  uninstalling: 'UNINSTALLING',
}
const ACTIONS: Record<PlanAction, RunAction> = {
  install: 'INSTALL',
  apply: 'APPLY',
  rollback: 'ROLLBACK',
  uninstall: 'UNINSTALL',
  autoscale: 'AUTOSCALE',
}

export interface DetailsOptions {
  client: KubeClient
  caches: ClusterCaches
  view: DeploymentView
}

export class Details implements ReleaseDetails {
  readonly #options: DetailsOptions

  constructor(options: DetailsOptions) {
    this.#options = options
  }

  get(ref: ReleaseRef): ReleaseDetail | null {
    const { view } = this.#options
    const { plan, mark, helm, llmService, pods } = view.inputs(ref)
    const record = newest(helm)
    if (!plan && !mark && !record && !llmService) return null
    const row = view.get(ref) ?? null
    const read = plan ? planDetail(plan.document, plan.layers) : null
    return {
      ...ref,
      row,
      exists: llmService !== null || (record !== null && record.status !== 'uninstalled'),
      helm: record && { revision: record.revision, status: record.status, updatedAt: record.modifiedAt },
      planStatus: (plan ?? mark) && planStatus(plan ?? (mark as PlanObject), row),
      llmService: llmService && serviceDetail(llmService, row),
      pods: [...pods],
      plan: read && 'plan' in read ? read.plan : null,
      warnings: this.#warnings(ref, plan, read),
    }
  }

  async helmChart(ref: ReleaseRef) {
    const chart = await readHelmChart(this.#options.client, ref)
    return chart && { ...chart, repo: null }
  }

  async servicePlan(ref: ReleaseRef): Promise<PlanDetail | null> {
    try {
      const data = planOfService(await this.#options.client.get(Kinds.LLMService, ref))
      const read = planDetail(readPlan(data), data)
      return 'plan' in read ? read.plan : null
    } catch (error) {
      if (isKubeError(error, 'NotFound', 'NotServed')) return null
      throw error
    }
  }

  async revisions(ref: ReleaseRef): Promise<RevisionDetail[]> {
    const { client, view } = this.#options
    const { plan, helm, llmService } = view.inputs(ref)
    if (llmService) {
      const kept = await revisionsOfService(client, ref)
      return newestFirst(kept.map((one) => revision(one.revision, one.current, one.data)))
    }
    const { items } = await client.list(Kinds.Secret, {
      namespace: ref.namespace,
      labelSelector: `owner=swiss,name=${boundedLabel(ref.name)}`,
    })
    const current = newest(helm)?.revision ?? plan?.status?.revision ?? null
    const revisions = new Map<number, RevisionDetail>()
    for (const item of items) {
      const archive: Archive | null = archiveOf(item, ref)
      if (archive) revisions.set(archive.revision, revision(archive.revision, false, archiveData(item)))
    }
    if (current !== null && plan) {
      revisions.set(current, { ...revisionOf(current, true, plan.document, plan.layers) })
    }
    return newestFirst([...revisions.values()])
  }

  #warnings(ref: ReleaseRef, plan: PlanObject | null, read: ReturnType<typeof planDetail> | null): string[] {
    const warnings: string[] = []
    if (plan) {
      const problem = planProblem(plan)
      if (problem !== null) warnings.push(problem)
      if (problem === null && read && 'unreadable' in read) {
        warnings.push(`${plan.objectName}: ${read.unreadable}`)
      }
    }
    const { state, lastError } = this.#serviceState(ref)
    if (state === 'failing') {
      warnings.push(`LLMServices cannot be read, so this may be out of date: ${lastError ?? 'unknown'}`)
    }
    return warnings
  }

  #serviceState({ namespace }: ReleaseRef) {
    const all = this.#options.caches.llmServices.status()
    const status = all.find((one) => one.namespace === namespace) ?? all[0]
    return status ?? { state: 'absent', lastError: null }
  }
}

const newestFirst = (revisions: RevisionDetail[]) => revisions.sort((a, b) => b.revision - a.revision)

function revision(number: number, current: boolean, data: PlanData): RevisionDetail {
  return revisionOf(number, current, readPlan(data), data)
}

function revisionOf(
  number: number,
  current: boolean,
  document: PlanDocument,
  layers: PlanData,
): RevisionDetail {
  const read = planDetail(document, layers)
  return {
    revision: number,
    current,
    chart: document.chart,
    source: document.source,
    planHash: document.hash,
    plan: 'plan' in read ? read.plan : null,
  }
}

/** What status.yaml says; its phase is the row's, so that the two cannot disagree. */
function planStatus(plan: PlanObject, row: Row | null): PlanStatusDetail {
  const status = plan.status
  const own = status?.phase ? PHASES[status.phase] : 'UNKNOWN'
  return {
    phase: row?.backend === 'HELM' ? row.phase : plan.marked ? 'UNINSTALLING' : own,
    action: status?.action ? ACTIONS[status.action] : null,
    revision: status?.revision ?? null,
    startedAt: status?.startedAt ?? null,
    updatedAt: status?.updatedAt ?? null,
    error: status?.error ?? null,
    note: status?.note ?? null,
    forced: status?.forced ?? null,
    actor: status?.actor ?? null,
  }
}

function serviceDetail(service: LLMServiceObject, row: Row | null): LLMServiceDetail {
  const { status, metadata } = service
  return {
    phase: row?.phase ?? 'UNKNOWN',
    operatorPhase: status?.phase ?? null,
    message: status?.message ?? null,
    revision: status?.helm?.revision || null,
    conditions: (status?.conditions ?? []).map((condition) => ({
      type: condition.type ?? '',
      status: condition.status ?? 'Unknown',
      reason: condition.reason ?? null,
      message: condition.message ?? null,
      lastTransitionTime: readTime(condition.lastTransitionTime),
    })),
    deletion: row?.deletion ?? null,
    finalizers: metadata.finalizers ?? [],
  }
}
