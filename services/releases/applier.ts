/** Applying a composed plan, and going back to an earlier revision, as they are asked for. */
import type { Actor } from '../auth/actor.ts'
import type { KubeClient } from '../cluster/client.ts'
import { type ReleaseRef, releaseKey } from '../deployments/row.ts'
import { readArchive } from '../plans/archives.ts'
import { STATUS_KEY } from '../plans/document.ts'
import type { ApplyLocked } from './applyLocked.ts'
import type { ComposedPlans } from './composedPlans.ts'
import type { LiveRelease } from './liveRelease.ts'
import type { Made } from './operation.ts'
import type { ApplyOutcome, ApplyPlanRequest, RollbackRequest } from './outcome.ts'
import { invalid, noRevision, notFound } from './refusals.ts'
import { serviceOfRevision } from './serviceRevisions.ts'

export interface ApplierOptions {
  client: KubeClient
  applyLocked: ApplyLocked
  composed: ComposedPlans
}

export class Applier {
  readonly #options: ApplierOptions

  constructor(options: ApplierOptions) {
    this.#options = options
  }

  /** Waits for helm, or for the write of the LLMService. Never throws for what the cluster answers. */
  async applyPlan(request: ApplyPlanRequest, actor: Actor): Promise<ApplyOutcome> {
    const { namespace, name, planHash, expectedRevision, note, forceConflicts } = request
    const ref = { namespace, name }
    return this.#options.applyLocked.run({
      ref,
      action: 'apply',
      actor,
      note,
      expectedRevision,
      forceConflicts,
      make: () => this.#composed(ref, planHash, actor),
    })
  }

  /** As `applyPlan`, with the plan that a revision ran with. */
  async rollback(request: RollbackRequest, actor: Actor): Promise<ApplyOutcome> {
    const { namespace, name, toRevision, expectedRevision, note } = request
    return this.#options.applyLocked.run({
      ref: { namespace, name },
      action: 'rollback',
      actor,
      note,
      expectedRevision,
      forceConflicts: false,
      make: (live) => this.#earlier(live, toRevision, note),
    })
  }

  /** A plan is found by whoever composed it, for the release that it was composed for. */
  async #composed(ref: ReleaseRef, planHash: string, actor: Actor): Promise<Made> {
    const found = await this.#options.composed.find(planHash)
    if (found === null || !found.actors.includes(actor.name)) {
      const message = 'there is no composed plan with this hash; compose it again, plans are kept for an hour'
      return { refusal: { kind: 'PlanNotFound', message, planHash } }
    }
    if (releaseKey(found.release) !== releaseKey(ref)) {
      const path = ['input', found.release.namespace === ref.namespace ? 'name' : 'namespace']
      return { refusal: invalid(path, 'this plan was composed for another release') }
    }
    return { plan: found.data }
  }

  async #earlier(live: LiveRelease, revision: number, note: string | null): Promise<Made> {
    const { client } = this.#options
    const { ref, service, helm, plan } = live
    if (service !== null) return serviceOfRevision(client, ref, service, revision, note)
    if (live.backend === null) return { refusal: notFound(ref) }
    if (revision === live.revision && plan?.status?.phase === 'applied' && helm.exists)
      return { unchanged: true }
    const archive = await readArchive(client, ref, revision)
    // helm forgets old revisions too, and goes back only to what it has a record of.
    if (archive === null || !helm.records.some((record) => record.revision === revision)) {
      return { refusal: noRevision(ref, revision) }
    }
    const { [STATUS_KEY]: _, ...data } = archive
    return { plan: data, rollbackTo: revision }
  }
}
