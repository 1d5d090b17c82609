/**
 * One check of an LLMService that is being deleted (contract, section 5): its operator owns the teardown, so
 * there is nothing to do but to see whether the very object is gone.
 */
import type { AuditLog } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import type { ReleaseInputs } from '../deployments/inputs.ts'
import { isDeleting, type LLMServiceObject, trimLLMService } from '../deployments/llmService.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import type { CheckRequest } from './checkRequest.ts'
import type { ReleaseLocks } from './lock.ts'
import type { Marks } from './marks.ts'
import type { Reap } from './reap.ts'
import { failed, MARK_REMOVED, runOf, succeeded } from './runs.ts'
import { standing } from './standing.ts'
import type { OpenUninstall, UninstallTracker } from './tracker.ts'

export interface ServiceCheckOptions {
  client: KubeClient
  marks: Marks
  locks: ReleaseLocks
  tracker: UninstallTracker
  reap: Reap
  audit: AuditLog
  /** What the caches hold of a release. */
  inputs: (ref: ReleaseRef) => ReleaseInputs
  now: () => number
  /** Called when something that the cluster does not show has changed. */
  onNews: (open: OpenUninstall) => void
}

export class ServiceCheck {
  readonly #options: ServiceCheckOptions

  constructor(options: ServiceCheckOptions) {
    this.#options = options
  }

  /** Never throws for what the API server answers: that is noted as what holds the uninstall back. */
  async run(open: OpenUninstall, request: CheckRequest): Promise<void> {
    if (!request.live && !open.blocked && this.#isOnItsWay(open)) return
    open.lookedAt = this.#options.now()
    try {
      await this.#look(open)
    } catch (error) {
      if (!isKubeError(error)) throw error
      const at = new Date(this.#options.now()).toISOString()
      const message = `the LLMService cannot be read: ${error.message}`
      this.#news(open, open.block('LOOKUP_FAILED', 'LLMService', message, at))
    }
  }

  /** The caches still show the very object, being deleted. */
  #isOnItsWay(open: OpenUninstall): boolean {
    const { llmService } = this.#options.inputs(open.ref)
    return llmService !== null && isDeleting(llmService) && llmService.metadata.uid === uidOf(open)
  }

  async #look(open: OpenUninstall): Promise<void> {
    const service = await this.#find(open.ref)
    this.#news(open, open.unblock('LOOKUP_FAILED'))
    if (service === null) return this.#finish(open)
    if (service.metadata.uid !== uidOf(open)) return this.#recreated(open)
    if (isDeleting(service)) {
      open.service = service
      return this.#remember(open)
    }
    await this.#stale(open)
  }

  async #find(ref: ReleaseRef): Promise<LLMServiceObject | null> {
    try {
      return trimLLMService(await this.#options.client.get<KubeObject>(Kinds.LLMService, ref))
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return null
      throw error
    }
  }

  /**
   * Somebody has deleted the plan that carried the mark, and the operator is still at work: the uninstall gets a
   * mark of its own, so that a gateway that starts now closes the same run and not one that nobody asked for.
   */
  async #remember(open: OpenUninstall): Promise<void> {
    const run = open.marked?.status?.run
    if (!run) return
    const { marks } = this.#options
    const live = await marks.read(open.ref)
    if (standing(live, open.planUid) !== 'BARE') return
    try {
      open.mark = await marks.remember(open.ref, run)
    } catch (error) {
      // A namespace that is being terminated takes no new objects; this process still finishes it.
      if (!isKubeError(error, 'NamespaceTerminating', 'Forbidden', 'NotFound')) throw error
    }
  }

  /**
   * It is gone. A mark that another writer took away is respected: then nothing of it is deleted. Nor is a plan
   * that bears the name by now, unmarked: it is a new deployment's, and taking it for ours would reap it.
   */
  async #finish(open: OpenUninstall): Promise<void> {
    const { marks, reap } = this.#options
    const live = await marks.read(open.ref)
    const stands = standing(live, open.planUid)
    if (open.marked !== null && (stands === 'UNMARKED' || stands === 'REPLACED')) {
      if (live.mark) await marks.deleteMark(live.mark)
      return this.#drop(open, stands === 'UNMARKED' ? MARK_REMOVED : null)
    }
    open.plan = live.plan ?? open.plan
    open.mark = live.mark ?? open.mark
    await reap.run(open)
  }

  /** Another object bears the name: tracking stops, the plan says again what it said, nothing is deleted. */
  async #recreated(open: OpenUninstall): Promise<void> {
    await this.#options.marks.putBack(open.ref)
    await this.#drop(open, null)
  }

  /**
   * The object is there and nobody deletes it. The mark is a stale one, of a request that was refused or whose
   * gateway died before the delete; unless somebody is about to send it right now.
   */
  async #stale(open: OpenUninstall): Promise<void> {
    const { locks, marks } = this.#options
    const attempt = await locks.tryAcquire(open.ref)
    if (attempt.kind === 'busy') return
    try {
      const again = await this.#find(open.ref)
      if (again === null || isDeleting(again) || again.metadata.uid !== uidOf(open)) return
      await marks.putBack(open.ref)
    } finally {
      await attempt.lock.release()
    }
    await this.#drop(open, MARK_REMOVED)
  }

  /** Stops following it. Only a run that was begun is closed: a request that was refused has none. */
  async #drop(open: OpenUninstall, error: string | null): Promise<void> {
    const { audit, tracker, now, onNews } = this.#options
    const at = new Date(now()).toISOString()
    const run = runOf(open, at)
    const begun = await audit.get(run.id)
    if (begun) audit.finish(run, error === null ? succeeded(at) : failed(at, error))
    tracker.close(open, { kind: 'dropped' })
    onNews(open)
  }

  #news(open: OpenUninstall, isNews: boolean): void {
    if (isNews) this.#options.onNews(open)
  }
}

/** uid of the LLMService that the uninstall is about. */
const uidOf = (open: OpenUninstall): string | null =>
  open.marked?.status?.run?.llmServiceUid ?? open.service?.metadata.uid ?? null
