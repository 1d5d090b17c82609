/**
 * Changing a helm release (contract, sections 1.2 and 7): the plan that runs is archived, the new one is written
 * as `applying`, and then helm runs, detached from the request that asked for it.
 */
import type { AuditLog, Run, RunAction } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import type { HeldLease } from '../cluster/heldLease.ts'
import type { ClusterCaches } from '../deployments/caches.ts'
import { releaseKey } from '../deployments/row.ts'
import type { DeploymentView } from '../deployments/view.ts'
import type { HelmRunner } from '../helm/runner.ts'
import { upgradeChart } from '../helm/upgrade.ts'
import { writeArchive } from '../plans/archives.ts'
import { type PlanData, readLayers, readPlan } from '../plans/document.ts'
import type { PlanAction } from '../plans/status.ts'
import type { Checkpoint } from '../runtime/checkpoint.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ApplyRuns } from './applyRuns.ts'
import type { LiveRelease } from './liveRelease.ts'
import type { Operation, StartedOperation } from './operation.ts'
import type { Applied, ApplyRefusal } from './outcome.ts'
import type { PlanConfigMap, PlanWrites } from './planWrites.ts'
import { changedMeanwhile, invalid, uninstalling } from './refusals.ts'
import { succeeded } from './runs.ts'

/** helm's own limit of a release's name. */
const MAX_HELM_NAME = 53

const ACTIONS = {
  install: 'INSTALL',
  apply: 'APPLY',
  rollback: 'ROLLBACK',
  autoscale: 'AUTOSCALE',
} as const satisfies Partial<Record<PlanAction, RunAction>>

/** A new plan, and the revision that helm rolls back to; without one helm upgrades. */
export interface MadePlan {
  plan: PlanData
  rollbackTo?: number
}

export interface ApplyHelmOptions {
  client: KubeClient
  helm: HelmRunner
  plans: PlanWrites
  applyRuns: ApplyRuns
  audit: AuditLog
  caches: ClusterCaches
  view: DeploymentView
  clock: Clock
  newId: () => string
  checkpoint: Checkpoint
}

export class ApplyHelm {
  readonly #options: ApplyHelmOptions

  constructor(options: ApplyHelmOptions) {
    this.#options = options
  }

  /** Why helm cannot be run with this plan, before anything is written; null when it can. */
  async refusal(
    { ref, forceConflicts }: Operation,
    { plan, rollbackTo }: MadePlan,
  ): Promise<ApplyRefusal | null> {
    if (ref.name.length > MAX_HELM_NAME) {
      return invalid(['input', 'name'], `helm takes names of at most ${MAX_HELM_NAME} characters`)
    }
    if (rollbackTo === undefined) {
      const wrong = wrongWith(plan)
      if (wrong !== null) return invalid(['input', 'planHash'], `the plan cannot be applied: ${wrong}`)
    }
    const available = await this.#options.helm.available()
    if ('missing' in available) {
      return { kind: 'ClusterUnavailable', message: available.missing, retryable: false }
    }
    if (forceConflicts && !/^v?[4-9]\./.test(available.version)) {
      const message = `helm ${available.version} cannot take over fields; that needs helm 4`
      return invalid(['input', 'forceConflicts'], message)
    }
    return null
  }

  /** The answer to an operation after which nothing would differ: it is in the audit log, and nothing else is done. */
  unchanged(operation: Operation, live: LiveRelease, position: number): Applied {
    const { client, audit, view } = this.#options
    const at = new Date(client.now()).toISOString()
    const output = 'nothing differs from what runs'
    const run = { ...this.#run(operation, live, live.data, at), changed: false }
    const end = succeeded(at, output)
    audit.finish(run, end)
    const row = view.get(operation.ref) ?? null
    const { ref } = operation
    return {
      kind: 'Apply',
      ...ref,
      changed: false,
      revision: live.revision,
      output,
      row,
      run: { ...run, ...end },
      position,
    }
  }

  /** Owns the lock from here on. Throws KubeError (with the lock given back) when nothing has been written. */
  async start(
    operation: Operation,
    live: LiveRelease,
    made: MadePlan,
    lock: HeldLease,
    position: number,
  ): Promise<StartedOperation> {
    const { client, audit, view, applyRuns, checkpoint } = this.#options
    const { ref } = operation
    let isRunning = false
    const unattribute = view.attribute(ref, operation.action === 'autoscale' ? 'AUTOSCALE' : 'MUTATION')
    try {
      await this.#archive(live)
      await checkpoint('after-archive', ref)
      const startedAt = new Date(client.now()).toISOString()
      const begun = await this.#begin(operation, live, made.plan, startedAt)
      if ('refusal' in begun) return { over: Promise.resolve(begun.refusal) }
      const run = { ...this.#run(operation, live, made.plan, startedAt), objectUid: begun.uid }
      audit.start(run)
      await checkpoint('after-plan', ref)
      isRunning = true
      return { over: applyRuns.start({ operation, made, run, lock, position, unattribute }) }
    } finally {
      if (!isRunning) {
        unattribute()
        await lock.release()
      }
    }
  }

  /** Keeps the plan of the live revision, if that is what has been applied; another is not worth going back to. */
  async #archive({ ref, plan, helm, data }: LiveRelease): Promise<void> {
    const revision = plan?.status?.revision ?? null
    if (data === null || plan?.status?.phase !== 'applied') return
    if (revision === null || revision !== helm.newest?.revision) return
    await writeArchive(this.#options.client, ref, revision, data)
  }

  async #begin(
    operation: Operation,
    live: LiveRelease,
    plan: PlanData,
    startedAt: string,
  ): Promise<{ uid: string } | { refusal: ApplyRefusal }> {
    const { plans, view } = this.#options
    const { ref, actor, note, forceConflicts } = operation
    const action = actionOf(operation, live)
    const begun = { action, startedAt, actor: actor.name, note, forced: forceConflicts }
    const written = await plans.begin(ref, live.planMap as PlanConfigMap | null, plan, begun)
    switch (written.kind) {
      case 'written':
        return { uid: written.plan.metadata.uid }
      case 'marked':
        return { refusal: uninstalling(ref, view.get(ref) ?? null) }
      case 'changed':
        return { refusal: changedMeanwhile(ref) }
      case 'refused': {
        const message = `the plan of ${releaseKey(ref)} cannot be written: ${written.message}`
        return { refusal: invalid(['input'], message) }
      }
    }
  }

  #run(operation: Operation, live: LiveRelease, plan: PlanData | null, startedAt: string): Run {
    const { ref, actor, note } = operation
    return {
      id: this.#options.newId(),
      ...ref,
      backend: live.backend ?? 'HELM',
      action: ACTIONS[actionOf(operation, live)],
      outcome: 'STARTED',
      actor: actor.name,
      note,
      planHash: plan === null ? null : readPlan(plan).hash,
      revision: live.revision,
      changed: true,
      error: null,
      output: null,
      startedAt,
      endedAt: null,
      objectUid: live.plan?.uid ?? null,
    }
  }
}

const actionOf = ({ action }: Operation, live: LiveRelease): keyof typeof ACTIONS =>
  live.backend === null && action === 'apply' ? 'install' : action

/** What keeps a plan from being given to helm; null when nothing does. Never quotes it. */
function wrongWith(plan: PlanData): string | null {
  const { unreadable, chart, chartPath } = readPlan(plan)
  if (unreadable !== null) return unreadable
  const layers = readLayers(plan)
  if (!layers.ok) return layers.reason
  const found = upgradeChart(chart, chartPath)
  return typeof found === 'string' ? found : null
}
