/**
 * helm's part of an apply: one run under the lock, detached from the request, and what came of it in the plan and
 * in the audit log. A run is never repeated by itself: an apply that was half done is for people to look at.
 */
import type { AuditLog, Run } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import type { HeldLease } from '../cluster/heldLease.ts'
import type { ClusterCaches } from '../deployments/caches.ts'
import { type ReleaseRef, releaseKey } from '../deployments/row.ts'
import type { DeploymentView } from '../deployments/view.ts'
import { lookupHelm } from '../helm/lookup.ts'
import { newest } from '../helm/records.ts'
import { type HelmResult, outputOf } from '../helm/result.ts'
import type { HelmRunner } from '../helm/runner.ts'
import { type UpgradeChart, upgradeChart } from '../helm/upgrade.ts'
import { pruneArchives } from '../plans/archives.ts'
import { LAYERS, layerKey, type PlanData, readLayers, readPlan } from '../plans/document.ts'
import type { Checkpoint } from '../runtime/checkpoint.ts'
import { type Clock, sleep } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Task, TaskTracker } from '../runtime/tasks.ts'
import { ADVICE, type ApplyFailure, applyFailure } from './applyFailure.ts'
import type { MadePlan } from './applyHelm.ts'
import type { Operation } from './operation.ts'
import type { ApplyOutcome } from './outcome.ts'
import type { PlanWrites } from './planWrites.ts'
import { failed, succeeded } from './runs.ts'
import { untilSeen } from './seen.ts'
import { within } from './within.ts'

/** helm's own budget; when it is over helm is killed with its children and the apply has failed. */
const BUDGET_MS = 15 * 60_000
/** Milliseconds between the tries to write down what came of helm; the lock is held meanwhile. */
const RETRY_MS = [500, 1000, 2000, 4000, 8000, 16_000]
/** How long the audit store is waited for before the lock is given back. */
const FLUSH_MS = 2000

export interface ApplyRunsOptions {
  helm: HelmRunner
  client: KubeClient
  plans: PlanWrites
  tasks: TaskTracker
  audit: AuditLog
  caches: ClusterCaches
  view: DeploymentView
  clock: Clock
  checkpoint: Checkpoint
  /** Aborts when the gateway is shut down: helm ends with it. */
  stopping: AbortSignal
  logger: Logger
}

/** An operation whose plan is written. */
export interface ApplyRun {
  operation: Operation
  made: MadePlan
  /** Its open row in the audit log. */
  run: Run
  lock: HeldLease
  /** Feed position just before it. */
  position: number
  /** What the watch shows from here on is not its doing any more. */
  unattribute: () => void
}

/** What came of helm, as far as it could be written down. */
interface Ended {
  run: Run
  failure: ApplyFailure | null
  output: string
}

export class ApplyRuns {
  readonly #options: ApplyRunsOptions

  constructor(options: ApplyRunsOptions) {
    this.#options = options
  }

  /** Starts helm and owns the lock from here on; resolves when all is over. */
  start(apply: ApplyRun): Promise<ApplyOutcome> {
    const { ref } = apply.operation
    return new Promise((resolve, reject) => {
      this.#options.tasks.run(`helm upgrade ${releaseKey(ref)}`, async (task) => {
        try {
          const ended = await this.#run(apply, task)
          // The caches show it in their own time; whoever reads after the answer should see it.
          await task.park(this.#seen(ref, ended.run))
          resolve(this.#outcome(apply, ended))
        } catch (error) {
          reject(error as Error)
          throw error
        } finally {
          apply.unattribute()
        }
      })
    })
  }

  async #run(apply: ApplyRun, task: Task): Promise<Ended> {
    const { checkpoint, audit, clock } = this.#options
    const { operation, run, lock } = apply
    try {
      await checkpoint('before-helm', operation.ref)
      const running = this.#helm(apply)
      await checkpoint('during-helm', operation.ref)
      const result = await task.park(running)
      await checkpoint('after-helm', operation.ref)
      const failure = applyFailure(result, this.#options.stopping.aborted)
      const revision = await this.#writeDown(apply, failure, task)
      await checkpoint('after-status', operation.ref)
      const at = new Date(this.#options.client.now()).toISOString()
      const output = outputOf(result)
      const end = failure ? failed(at, failure.error, output || null) : succeeded(at, output || null)
      const ended = { ...run, revision, ...end }
      await checkpoint('before-audit', operation.ref)
      audit.finish({ ...run, revision }, end)
      // Another gateway that finds the lock free must not take an open run for one that was lost.
      await within(clock, FLUSH_MS, audit.flush())
      if (!failure) await this.#prune(operation.ref)
      return { run: ended, failure, output }
    } finally {
      await lock.release()
    }
  }

  #helm({ operation, made, lock }: ApplyRun): Promise<HelmResult> {
    const { helm, stopping } = this.#options
    const options = { lease: lock, signal: stopping, budgetMs: BUDGET_MS }
    if (made.rollbackTo !== undefined) return helm.rollback(operation.ref, made.rollbackTo, options)
    const { forceConflicts } = operation
    const upgrade = { chart: chartOf(made.plan), layers: layersOf(made.plan), forceConflicts }
    return helm.upgrade(operation.ref, upgrade, options)
  }

  /**
   * Writes what came of helm into the plan, again and again for a while when the API server does not answer: helm
   * has ended, and that is known here only. Gives helm's newest revision, if it could be looked up.
   */
  async #writeDown({ operation, run }: ApplyRun, failure: ApplyFailure | null, task: Task) {
    const { client, plans, clock, logger, stopping } = this.#options
    const { ref, action } = operation
    let revision: number | null = null
    for (const delay of [...RETRY_MS, null]) {
      try {
        revision ??= newest((await lookupHelm(client, ref)).records)?.revision ?? null
        await plans.end(ref, run.startedAt, {
          phase: failure ? 'failed' : 'applied',
          action: run.action === 'INSTALL' ? 'install' : action,
          error: failure?.error ?? null,
          ...(revision === null ? {} : { revision }),
        })
        return revision
      } catch (error) {
        if (!isKubeError(error)) throw error
        const message = 'what came of helm could not be written into the plan'
        logger.warn({ err: error, ...ref }, message)
        if (delay === null || stopping.aborted || client.killed.aborted) break
        await task.park(sleep(clock, delay, stopping))
      }
    }
    return revision
  }

  /** Best effort: what stays is taken away after the next apply. */
  async #prune(ref: ReleaseRef): Promise<void> {
    try {
      await pruneArchives(this.#options.client, ref)
    } catch (error) {
      if (!isKubeError(error)) throw error
      this.#options.logger.debug({ err: error, ...ref }, 'old archives are still there')
    }
  }

  #seen(ref: ReleaseRef, run: Run): Promise<void> {
    const { caches, clock, stopping } = this.#options
    const shows = () => {
      const status = caches.plan(ref)?.status
      const isWritten = status?.startedAt === run.startedAt && status.phase !== 'applying'
      const revision = newest(caches.helmRecords(ref))?.revision ?? null
      return isWritten && (run.revision === null || (revision !== null && revision >= run.revision))
    }
    const watch = (listener: () => void) => {
      const stops = [caches.plans.subscribe(listener), caches.helm.subscribe(listener)]
      return () => {
        for (const stop of stops) stop()
      }
    }
    return untilSeen(clock, watch, shows, stopping)
  }

  #outcome({ operation, position }: ApplyRun, { run, failure, output }: Ended): ApplyOutcome {
    const { ref } = operation
    if (failure) {
      const what = WORDS[run.action] ?? 'change'
      const message = `helm could not ${what} ${releaseKey(ref)}: ${failure.error}`
      const advice = ADVICE.test(failure.error)
        ? '; roll it back to a revision that has run, or uninstall it'
        : ''
      return {
        kind: 'HelmFailed',
        message: `${message}${advice}`,
        output: failure.output,
        exitCode: failure.exitCode,
        run,
      }
    }
    const row = this.#options.view.get(ref) ?? null
    return { kind: 'Apply', ...ref, changed: true, revision: run.revision, output, row, run, position }
  }
}

const WORDS: Partial<Record<Run['action'], string>> = {
  INSTALL: 'install',
  APPLY: 'upgrade',
  AUTOSCALE: 'scale',
  ROLLBACK: 'roll back',
}

/** The chart of a plan that has been looked at. */
function chartOf(plan: PlanData): UpgradeChart {
  const { chart, chartPath } = readPlan(plan)
  const found = upgradeChart(chart, chartPath)
  if (typeof found === 'string') throw new Error(found)
  return found
}

/** The layers that hold something, each with its text as it is stored: helm reads it as it is. */
function layersOf(plan: PlanData): { name: string; text: string }[] {
  const read = readLayers(plan)
  if (!read.ok) throw new Error(read.reason)
  const filled = new Set(read.layers.map(({ name }) => name))
  return LAYERS.filter((name) => filled.has(name)).map((name) => ({
    name,
    text: plan[layerKey(name)] ?? '',
  }))
}
