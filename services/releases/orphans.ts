/** What a gateway that died left open although nothing of the release is there any more. */
import type { AuditLog, Run } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds } from '../cluster/kinds.ts'
import type { ClusterCaches } from '../deployments/caches.ts'
import { isHeld } from '../deployments/lockFacts.ts'
import { helmState } from '../helm/records.ts'
import type { Logger } from '../runtime/logger.ts'
import type { ReleaseLocks } from './lock.ts'
import type { Marks } from './marks.ts'
import { failed, MARK_REMOVED, succeeded } from './runs.ts'
import type { UninstallTracker } from './tracker.ts'

/** Leases removed in one pass, so that a pass stays short. */
const LOCKS_A_PASS = 20

export interface OrphansOptions {
  client: KubeClient
  caches: ClusterCaches
  marks: Marks
  locks: ReleaseLocks
  tracker: UninstallTracker
  audit: AuditLog
  now: () => number
  logger: Logger
}

export class Orphans {
  readonly #options: OrphansOptions

  constructor(options: OrphansOptions) {
    this.#options = options
  }

  /**
   * Closes open runs of uninstalls that nobody carries on: the object a run names by uid has left (whatever
   * bears the name by now), or stands there without a mark.
   */
  async closeRuns(): Promise<void> {
    const { audit, tracker, logger } = this.#options
    for (const run of await audit.open()) {
      if (run.action !== 'UNINSTALL' || tracker.get(run)) continue
      try {
        await this.#close(run)
      } catch (error) {
        if (!isKubeError(error)) throw error
        logger.debug({ err: error, run: run.id }, 'an open run cannot be looked into yet')
      }
    }
  }

  async #close(run: Run): Promise<void> {
    const { marks, audit, tracker, now } = this.#options
    const live = await marks.read(run)
    // It may have been marked, or finished, while it was looked at.
    if (tracker.get(run)) return
    const named = [live.plan, live.mark].find((object) => object?.uid === run.objectUid)
    if (named?.marked || (run.backend === 'LLMSERVICE' && (await this.#serviceIsThere(run)))) return
    const at = new Date(now()).toISOString()
    audit.finish(run, named ? failed(at, MARK_REMOVED) : succeeded(at))
  }

  async #serviceIsThere(run: Run): Promise<boolean> {
    try {
      const service = await this.#options.client.get(Kinds.LLMService, run)
      return service.metadata.uid === run.objectUid
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return false
      throw error
    }
  }

  /** Deletes locks of names that are no release any more: neither a plan, a mark, an LLMService nor helm knows them. */
  async removeLocks(): Promise<void> {
    const { caches, locks, now, logger } = this.#options
    // LLMServices that could not be listed yet are not known to be none.
    if (!caches.ready || !caches.llmServices.isSynced) return
    const orphaned = caches.locks.all().filter((lock) => {
      const ref = { namespace: lock.namespace, name: lock.release }
      return (
        !isHeld(lock, now()) &&
        !caches.plan(ref) &&
        !caches.mark(ref) &&
        !caches.llmServices.get(ref.namespace, ref.name) &&
        !helmState(caches.helmRecords(ref)).exists
      )
    })
    for (const lock of orphaned.slice(0, LOCKS_A_PASS)) {
      try {
        await locks.remove({ namespace: lock.namespace, name: lock.release })
      } catch (error) {
        if (!isKubeError(error)) throw error
        logger.debug({ err: error, lock: lock.release }, 'an orphaned lock could not be removed')
      }
    }
  }
}
