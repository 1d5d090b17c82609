/** helm's part of an uninstall: one run under the lock, detached from the request that asked for it. */
import type { AuditLog } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import type { HeldLease } from '../cluster/heldLease.ts'
import { lookupHelm } from '../helm/lookup.ts'
import { type HelmResult, notFound, outputOf } from '../helm/result.ts'
import type { HelmRunner } from '../helm/runner.ts'
import type { Checkpoint } from '../runtime/checkpoint.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Task, TaskTracker } from '../runtime/tasks.ts'
import { keptByHelm } from './keptByHelm.ts'
import type { Marks } from './marks.ts'
import type { UninstallFailure } from './outcome.ts'
import { failed, runOf } from './runs.ts'
import type { HelmEnd, OpenUninstall, UninstallTracker } from './tracker.ts'

/** helm's own budget; when it is over helm is killed with its children and the uninstall has failed. */
const BUDGET_MS = 15 * 60_000
/** Runs that ended without an exit code while their gateway lived, before the uninstall has failed. */
const MAX_ATTEMPTS = 3
const BACK_OFF_MS = 10_000

export interface HelmRunsOptions {
  helm: HelmRunner
  client: KubeClient
  marks: Marks
  tracker: UninstallTracker
  tasks: TaskTracker
  audit: AuditLog
  now: () => number
  checkpoint: Checkpoint
  /** Aborts when the gateway is shut down: helm is then left to whoever comes next. */
  stopping: AbortSignal
  logger: Logger
  /** Called when something that the cluster does not show has changed. */
  onNews: (open: OpenUninstall) => void
  /** Called when helm is over and the lock given back: time for a check. */
  onOver: (open: OpenUninstall) => void
}

export class HelmRuns {
  readonly #options: HelmRunsOptions

  constructor(options: HelmRunsOptions) {
    this.#options = options
  }

  /** Starts helm for an uninstall and owns the lock from here on. Does not wait; see `OpenUninstall.helmOver`. */
  start(open: OpenUninstall, lock: HeldLease): void {
    const { tasks, onNews, onOver } = this.#options
    open.helmRunning = true
    onNews(open)
    tasks.run(`helm uninstall ${open.ref.namespace}/${open.ref.name}`, async (task) => {
      let end: HelmEnd | null = null
      try {
        end = await this.#run(open, lock, task)
      } finally {
        await lock.release()
        open.helmRunning = false
        onNews(open)
        if (end) open.endHelm(end)
        onOver(open)
      }
    })
  }

  /** Null when helm will be started again. */
  async #run(open: OpenUninstall, lock: HeldLease, task: Task): Promise<HelmEnd | null> {
    const { helm, marks, checkpoint } = this.#options
    if (open.marked?.status?.run?.helmEnded) await marks.noteRun(open.ref, { helmEnded: null })
    await checkpoint('before-helm', open.ref)
    const running = helm.uninstall(open.ref, {
      lease: lock,
      signal: this.#options.stopping,
      budgetMs: BUDGET_MS,
    })
    await checkpoint('during-helm', open.ref)
    const result = await task.park(running)
    await checkpoint('after-helm', open.ref)
    switch (result.kind) {
      case 'exited':
        if (result.code === 0 || notFound(result)) return this.#done(open, result)
        return this.#fail(open, describe(result))
      case 'budget':
        return this.#fail(open, {
          error: 'helm did not end within 15 minutes and was stopped',
          output: outputOf(result),
          exitCode: null,
        })
      case 'killed':
        return this.#killed(open, result)
      case 'unstarted':
        this.#later(open, 1, result.message)
        return null
      case 'lost':
        this.#later(open, 1, 'helm was stopped because the lock could not be kept')
        return null
    }
  }

  /** Exit 0 with the record still there is no failure; what follows once helm has dropped it is the check's. */
  async #done(open: OpenUninstall, result: Exited): Promise<HelmEnd> {
    const { client, marks, logger } = this.#options
    for (const kept of keptByHelm(result.stdout)) open.leaveBehind(kept)
    try {
      const { exists } = await lookupHelm(client, open.ref)
      // Nobody starts helm again for this by itself: it said that it is done.
      if (exists) await marks.noteRun(open.ref, { helmEnded: 'helm returned success and kept its record' })
    } catch (error) {
      if (!isKubeError(error)) throw error
      logger.warn(
        { err: error, ...open.ref },
        'whether helm has dropped the release is left to the next check',
      )
    }
    return { kind: 'done', output: result.stdout.trim() }
  }

  /** Ended without an exit code, by a signal from elsewhere: it is started again, a few times. */
  async #killed(open: OpenUninstall, result: HelmResult): Promise<HelmEnd | null> {
    const attempts = (open.marked?.status?.run?.attempts ?? 0) + 1
    if (attempts >= MAX_ATTEMPTS) {
      return this.#fail(open, {
        error: `helm was killed ${attempts} times before it ended`,
        output: outputOf(result),
        exitCode: null,
      })
    }
    this.#later(open, attempts, `helm was killed before it ended (${attempts} of ${MAX_ATTEMPTS} times)`)
    await this.#options.marks.noteRun(open.ref, { attempts })
    return null
  }

  /** Leaves the next run to the loop, here or in another gateway. */
  #later(open: OpenUninstall, attempts: number, why: string): void {
    const { now, logger, onNews } = this.#options
    open.helmNotBefore = now() + BACK_OFF_MS * 2 ** (attempts - 1)
    open.block('HELM', 'helm', `${why}; it is started again`, new Date(now()).toISOString())
    logger.warn(open.ref, why)
    onNews(open)
  }

  /** Step 6: the error goes into status.yaml, the mark is taken away, everything else is kept. */
  async #fail(open: OpenUninstall, failure: UninstallFailure): Promise<HelmEnd> {
    open.unwrittenFailure = failure
    await this.writeFailure(open)
    return { kind: 'failed', failure }
  }

  /** Writes a failure that helm ended with; also called by the next check when it could not be written at once. */
  async writeFailure(open: OpenUninstall): Promise<void> {
    const { marks, audit, tracker, now, onNews } = this.#options
    const failure = open.unwrittenFailure
    if (!failure) return
    const at = new Date(now()).toISOString()
    const run = runOf(open, at)
    try {
      await marks.fail(open.ref, failure)
    } catch (error) {
      if (!isKubeError(error)) throw error
      open.block('HELM', 'helm', `${failure.error}; writing that down failed: ${error.message}`, at)
      onNews(open)
      return
    }
    open.unwrittenFailure = null
    const end = failed(at, failure.error, failure.output || null)
    audit.finish(run, end)
    open.run = { ...run, ...end }
    tracker.close(open, { kind: 'failed', failure })
    onNews(open)
  }
}

type Exited = Extract<HelmResult, { kind: 'exited' }>

function describe(result: Exited): UninstallFailure {
  const output = result.stderr.trim() || result.stdout.trim()
  return {
    error: output || `helm ended with exit code ${result.code} and printed nothing`,
    output,
    exitCode: result.code,
  }
}
