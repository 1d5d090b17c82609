/**
 * The end of an uninstall: helm has dropped the release and no pod counts, or the LLMService is gone. What is left of it is deleted, the
 * object that carries the mark last, so that a crash anywhere leaves something to go on from. It takes no lock:
 * every deletion guards itself.
 */
import type { AuditLog } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds } from '../cluster/kinds.ts'
import { deleteArchives } from '../plans/archives.ts'
import { autoscaleName } from '../plans/names.ts'
import type { Checkpoint } from '../runtime/checkpoint.ts'
import type { Logger } from '../runtime/logger.ts'
import type { ReleaseLocks } from './lock.ts'
import type { LiveMarks, Marks } from './marks.ts'
import { runOf, succeeded } from './runs.ts'
import { standing } from './standing.ts'
import type { OpenUninstall, UninstallTracker } from './tracker.ts'

export interface ReapOptions {
  client: KubeClient
  marks: Marks
  locks: ReleaseLocks
  tracker: UninstallTracker
  audit: AuditLog
  now: () => number
  checkpoint: Checkpoint
  logger: Logger
  /** Called when something that the cluster does not show has changed. */
  onNews: (open: OpenUninstall) => void
}

export class Reap {
  readonly #options: ReapOptions

  constructor(options: ReapOptions) {
    this.#options = options
  }

  /** Deletes what is left and closes the run. What fails is tried again at the next check. */
  async run(open: OpenUninstall): Promise<void> {
    const at = new Date(this.#options.now()).toISOString()
    try {
      if (!(await this.#cleanUp(open))) return
    } catch (error) {
      if (!isKubeError(error)) throw error
      if (open.block('CLEANUP_FAILED', 'clean-up', error.message, at)) this.#options.onNews(open)
      return
    }
    await this.#options.checkpoint('before-audit', open.ref)
    const run = runOf(open, at)
    const end = succeeded(at)
    this.#options.audit.finish(run, end)
    open.run = { ...run, ...end }
    this.#options.tracker.close(open, { kind: 'gone' })
    this.#options.onNews(open)
    await this.#removeLock(open)
  }

  /** False when the mark has been taken away meanwhile: then nothing more is deleted, and the next check says why. */
  async #cleanUp(open: OpenUninstall): Promise<boolean> {
    const { client, marks, checkpoint } = this.#options
    const { ref } = open
    if (!(await this.#stillMarked(open))) return false
    await deleteArchives(client, ref)
    if (!(await this.#stillMarked(open))) return false
    await this.#deleteAutoscale(open)
    await checkpoint('after-autoscale', ref)
    await checkpoint('before-plan-delete', ref)
    const live = await this.#stillMarked(open)
    if (!live) return false
    const { plan, mark } = live
    if (plan) await marks.deletePlan(plan)
    if (mark) await marks.deleteMark(mark)
    return true
  }

  /** Its objects as they stand just before a deletion; null when the mark has been taken away. */
  async #stillMarked(open: OpenUninstall): Promise<LiveMarks | null> {
    if (open.backend === 'LLMSERVICE' && !(await this.#serviceIsGone(open))) return null
    const live = await this.#options.marks.read(open.ref)
    // A deletion that nobody asked Swiss for has no mark; what is left of it goes in the same way.
    if (open.marked === null) return live
    const stands = standing(live, open.planUid)
    return stands === 'MARKED' || stands === 'BARE' ? live : null
  }

  /** True on a live NotFound only: neither a 403 nor a kind that is no longer served says so. */
  async #serviceIsGone({ ref }: OpenUninstall): Promise<boolean> {
    try {
      await this.#options.client.get(Kinds.LLMService, ref)
      return false
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return true
      throw error
    }
  }

  async #deleteAutoscale({ ref }: OpenUninstall): Promise<void> {
    const { client } = this.#options
    const name = { namespace: ref.namespace, name: autoscaleName(ref.name) }
    try {
      await client.delete(Kinds.ConfigMap, name)
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error
    }
  }

  /** Best effort: one that stays is an orphan, which the leader deletes. */
  async #removeLock({ ref }: OpenUninstall): Promise<void> {
    const { locks, logger } = this.#options
    try {
      await locks.remove(ref)
    } catch (error) {
      if (!isKubeError(error)) throw error
      logger.debug({ err: error, ...ref }, 'the lock of a release that has left is still there')
    }
  }
}
