/**
 * Applies whose gateway died before they ended (contract, section 7). Their run is closed; the plan stays as the
 * apply has left it, shown as unfinished, until somebody applies, rolls back or uninstalls: how far helm came
 * nobody knows.
 */
import type { AuditLog, Run, RunEnd } from '../audit/run.ts'
import { isKubeError } from '../cluster/errors.ts'
import type { HeldLease } from '../cluster/heldLease.ts'
import type { ClusterCaches } from '../deployments/caches.ts'
import { isHeld } from '../deployments/lockFacts.ts'
import type { DeploymentView } from '../deployments/view.ts'
import type { Logger } from '../runtime/logger.ts'
import { LOST } from './applyFailure.ts'
import type { ReleaseLocks } from './lock.ts'
import type { Marks } from './marks.ts'
import { failed, succeeded } from './runs.ts'

const ACTIONS: ReadonlySet<Run['action']> = new Set(['INSTALL', 'APPLY', 'ROLLBACK', 'AUTOSCALE'])

export interface LostAppliesOptions {
  caches: ClusterCaches
  marks: Marks
  locks: ReleaseLocks
  view: DeploymentView
  audit: AuditLog
  now: () => number
  logger: Logger
}

export class LostApplies {
  readonly #options: LostAppliesOptions

  constructor(options: LostAppliesOptions) {
    this.#options = options
  }

  /** Closes open runs of applies on which nobody works any more, and shows the releases as they stand without. */
  async close(): Promise<void> {
    const { audit, caches, view, now, logger } = this.#options
    for (const row of view.snapshot({ phases: ['APPLYING'] })) view.refresh(row, 'REAP_LOOP')
    for (const run of await audit.open()) {
      if (!ACTIONS.has(run.action) || run.backend !== 'HELM' || isHeld(caches.lock(run), now())) continue
      try {
        await this.#close(run)
      } catch (error) {
        if (!isKubeError(error)) throw error
        logger.debug({ err: error, run: run.id }, 'an open run cannot be looked into yet')
      }
    }
  }

  /** Under the lock, so that what is still at work is never taken for lost. */
  async #close(run: Run): Promise<void> {
    const { locks, marks, audit } = this.#options
    let lock: HeldLease | null = null
    try {
      const attempt = await locks.tryAcquire(run)
      if (attempt.kind === 'busy') return
      lock = attempt.lock
    } catch (error) {
      // No Lease can be made there any more, so nobody holds one.
      if (!isKubeError(error, 'NotFound', 'NamespaceTerminating')) throw error
    }
    try {
      const { plan } = await marks.read(run)
      const status = plan?.status?.startedAt === run.startedAt ? plan.status : null
      const at = new Date(this.#options.now()).toISOString()
      audit.finish({ ...run, revision: status?.revision ?? run.revision }, endOf(status, at))
    } finally {
      await lock?.release()
    }
  }
}

/** What the apply's own status says; its gateway may have died after that was written. */
function endOf(status: { phase: string | null; error: string | null } | null, at: string): RunEnd {
  if (status?.phase === 'applied') return succeeded(at)
  return failed(at, status?.phase === 'failed' ? (status.error ?? LOST) : LOST)
}
