/**
 * Accepting the uninstall of a helm release (contract, section 3, steps 3 to 5): look under the lock, mark, and
 * start helm, detached.
 */
import type { AuditLog } from '../audit/run.ts'
import type { Actor } from '../auth/actor.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import type { HeldLease } from '../cluster/heldLease.ts'
import { labelChart } from '../deployments/openUninstall.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import type { DeploymentView } from '../deployments/view.ts'
import { lookupHelm, readHelmChart } from '../helm/lookup.ts'
import type { HelmState } from '../helm/records.ts'
import type { HelmRunner } from '../helm/runner.ts'
import type { PlanObject } from '../plans/planObject.ts'
import type { Checkpoint } from '../runtime/checkpoint.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Acceptance, follow, type Refused } from './acceptance.ts'
import type { Checks } from './checks.ts'
import type { HelmRuns } from './helmRuns.ts'
import type { Marks } from './marks.ts'
import type { UninstallRequest } from './outcome.ts'
import { failedPrecondition } from './preconditions.ts'
import { conflict, notFound } from './refusals.ts'
import { newRun, startedRun } from './runs.ts'
import { untilSeen } from './seen.ts'
import type { UninstallTracker } from './tracker.ts'

/** What an answer says when helm has not been waited for. */
export const STARTED = 'uninstall started'

export interface AcceptHelmOptions {
  client: KubeClient
  helm: HelmRunner
  marks: Marks
  tracker: UninstallTracker
  helmRuns: HelmRuns
  checks: Checks
  view: DeploymentView
  audit: AuditLog
  clock: Clock
  newId: () => string
  checkpoint: Checkpoint
}

export class AcceptHelm {
  readonly #options: AcceptHelmOptions

  constructor(options: AcceptHelmOptions) {
    this.#options = options
  }

  /**
   * Owns the lock from here on: it is given back at once, or when helm is over. Throws KubeError (with the lock
   * given back) when the cluster does not answer; nothing has been marked then.
   */
  async accept(
    ref: ReleaseRef,
    request: UninstallRequest,
    actor: Actor,
    lock: HeldLease,
  ): Promise<Acceptance> {
    let helmHasLock = false
    try {
      const found = await this.#look(ref, request)
      if (found === 'MARKED' || 'refusal' in found) return found
      const accepted = await this.#mark(ref, request, actor, found)
      if (accepted === 'MARKED' || 'refusal' in accepted) return accepted
      await this.#seen(ref)
      if (found.helm.exists) {
        helmHasLock = true
        this.#options.helmRuns.start(accepted.open, lock)
      } else {
        // A leftover: helm has dropped it already, and the clean-up takes no lock.
        accepted.open.endHelm({ kind: 'done', output: STARTED })
        this.#options.checks.request(ref, { live: true, mayRunHelm: false, askedAgain: false })
      }
      return accepted
    } finally {
      if (!helmHasLock) await lock.release()
    }
  }

  /** The release as it stands under the lock, fresh. */
  async #look(ref: ReleaseRef, request: UninstallRequest): Promise<Found | Refused | 'MARKED'> {
    const { client, marks, helm: runner } = this.#options
    const [live, helm] = await Promise.all([marks.read(ref), lookupHelm(client, ref)])
    if (live.mark !== null || live.plan?.marked) return 'MARKED'
    const plan = live.plan?.managed ? live.plan : null
    if (!helm.exists && plan === null) return { refusal: notFound(ref) }
    const refusal = failedPrecondition(request, {
      revision: helm.newest?.revision ?? plan?.status?.revision ?? null,
      uid: plan?.uid ?? null,
    })
    if (refusal) return { refusal }
    const available = helm.exists ? await runner.available() : null
    if (available && 'missing' in available) {
      return { refusal: { kind: 'ClusterUnavailable', message: available.missing, retryable: false } }
    }
    const chart = labelChart(plan, null) ?? (helm.exists ? await this.#helmChart(ref) : null)
    return { plan, helm, chart }
  }

  /** Where the plan does not tell the chart, helm's record does; without either the instance label decides alone. */
  async #helmChart(ref: ReleaseRef): Promise<string | null> {
    try {
      return (await readHelmChart(this.#options.client, ref))?.name ?? null
    } catch (error) {
      if (!isKubeError(error, 'NotFound', 'Forbidden')) throw error
      return null
    }
  }

  async #mark(
    ref: ReleaseRef,
    request: UninstallRequest,
    actor: Actor,
    { plan, helm, chart }: Found,
  ): Promise<Acceptance> {
    const { client, marks, tracker, view, audit, checkpoint, newId } = this.#options
    const run = newRun({
      id: newId(),
      ref,
      actor,
      note: request.note,
      now: client.now(),
      plan,
      revision: helm.newest?.revision ?? plan?.status?.revision ?? null,
      chart,
      helmUid: helm.newest?.uid ?? null,
    })
    const { position } = view
    const outcome = await marks.put(ref, plan, run)
    if (outcome.kind === 'changed') return { refusal: conflict(ref) }
    if (outcome.kind === 'already') return 'MARKED'
    const open = tracker.open(ref, outcome)
    open.run = startedRun(ref, run, open.marked?.uid ?? null)
    audit.start(open.run)
    await checkpoint('after-mark', ref)
    view.refresh(ref, 'MUTATION')
    return follow(open, position, false)
  }

  /** Waits until the view shows the mark, so that whoever reads after the answer sees it too. */
  async #seen(ref: ReleaseRef): Promise<void> {
    const { view, clock } = this.#options
    const shows = () => {
      const row = view.get(ref)
      return row === undefined || row.phase === 'UNINSTALLING'
    }
    await untilSeen(clock, (listener) => view.subscribe(listener), shows)
  }
}

interface Found {
  plan: PlanObject | null
  helm: HelmState
  chart: string | null
}
