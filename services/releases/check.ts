/**
 * One check of an uninstall in progress (contract, section 3, step 8): decided from the caches, confirmed
 * with live reads. Level-based: it looks at what is, never at what has happened, so that any gateway can make
 * it at any time, after any crash.
 */
import type { AuditLog } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError, type KubeError } from '../cluster/errors.ts'
import { Kinds } from '../cluster/kinds.ts'
import type { ReleaseInputs } from '../deployments/inputs.ts'
import { isHeld } from '../deployments/lockFacts.ts'
import { labelChart } from '../deployments/openUninstall.ts'
import { judgePods } from '../deployments/podCounts.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import { lookupHelm } from '../helm/lookup.ts'
import { type HelmState, helmState } from '../helm/records.ts'
import type { HelmRunner } from '../helm/runner.ts'
import { deleteArchives } from '../plans/archives.ts'
import { matchingLabels, type NodeState, type PodFacts, trimNode, trimPod } from '../pods/counting.ts'
import type { Checkpoint } from '../runtime/checkpoint.ts'
import type { CheckRequest } from './checkRequest.ts'
import type { HelmRuns } from './helmRuns.ts'
import type { ReleaseLocks } from './lock.ts'
import type { LiveMarks, Marks } from './marks.ts'
import type { Reap } from './reap.ts'
import { failed, MARK_REMOVED, runOf, succeeded } from './runs.ts'
import type { ServiceCheck } from './serviceCheck.ts'
import { type Standing, standing } from './standing.ts'
import type { OpenUninstall, UninstallTracker } from './tracker.ts'

export interface CheckOptions {
  client: KubeClient
  helm: HelmRunner
  marks: Marks
  locks: ReleaseLocks
  tracker: UninstallTracker
  helmRuns: HelmRuns
  serviceCheck: ServiceCheck
  reap: Reap
  audit: AuditLog
  checkpoint: Checkpoint
  /** What the caches hold of a release. */
  inputs: (ref: ReleaseRef) => ReleaseInputs
  now: () => number
  /** Called when something that the cluster does not show has changed. */
  onNews: (open: OpenUninstall) => void
}

export class Check {
  readonly #options: CheckOptions

  constructor(options: CheckOptions) {
    this.#options = options
  }

  /** Never throws for what the API server answers: that is noted as what holds the uninstall back. */
  async run(open: OpenUninstall, request: CheckRequest): Promise<void> {
    if (open.backend === 'LLMSERVICE') return this.#options.serviceCheck.run(open, request)
    if (open.helmRunning) return
    if (open.unwrittenFailure) return this.#options.helmRuns.writeFailure(open)
    if (!request.live && !open.blocked && !this.#mayBeReady(open, request)) return
    open.lookedAt = this.#options.now()
    try {
      await this.#look(open, request)
    } catch (error) {
      if (!isKubeError(error)) throw error
      this.#failedLookup(open, "the release's objects", error)
    }
  }

  /** What the caches say: helm has dropped it and no pod counts. They may be behind, so this only saves calls. */
  #mayBeReady(open: OpenUninstall, request: CheckRequest): boolean {
    const inputs = this.#options.inputs(open.ref)
    // A helm that was lost is started by the first pass that may: a look a moment ago, which a watch had asked
    // for and which starts nothing, must not put that off.
    if (helmState(inputs.helm).exists) return request.mayRunHelm && !isHeld(inputs.lock, this.#options.now())
    if (!open.archivesDeleted) return true
    return !judgePods(inputs.pods, inputs.nodeState, this.#options.now()).some(
      ({ verdict }) => verdict.counts,
    )
  }

  async #look(open: OpenUninstall, request: CheckRequest): Promise<void> {
    const { client, marks } = this.#options
    const live = await marks.read(open.ref)
    const stands = standing(live, open.planUid)
    if (await this.#isOver(open, live, stands)) return
    let helm: HelmState
    try {
      helm = await lookupHelm(client, open.ref)
    } catch (error) {
      if (!isKubeError(error)) throw error
      return this.#failedLookup(open, "helm's records", error)
    }
    if (helm.exists) {
      if (stands === 'BARE' && !(await this.#isStillOurs(open, helm))) return
      this.#news(open, open.unblock('LOOKUP_FAILED'))
      if (request.mayRunHelm) await this.#startHelm(open, request)
      return
    }
    this.#news(open, open.unblock('HELM'))
    if (!open.archivesDeleted) await this.#deleteArchives(open)
    if (await this.#podsHoldIt(open)) {
      if (stands === 'BARE') await this.#remember(open)
      return
    }
    await this.#options.reap.run(open)
  }

  /** Takes in what was read; true when the uninstall is not ours to finish any more. */
  async #isOver(open: OpenUninstall, live: LiveMarks, stands: Standing): Promise<boolean> {
    if (stands === 'MARKED' || stands === 'BARE') {
      // A plan that is gone stays in mind: its row is shown until the uninstall is finished.
      open.plan = live.plan ?? open.plan
      open.mark = live.mark ?? open.mark
      return false
    }
    if (live.mark) await this.#options.marks.deleteMark(live.mark)
    this.#drop(open, stands === 'UNMARKED' ? MARK_REMOVED : null)
    return true
  }

  /** Stops following it; nothing of it is deleted. */
  #drop(open: OpenUninstall, error: string | null): void {
    const at = new Date(this.#options.now()).toISOString()
    this.#options.audit.finish(runOf(open, at), error === null ? succeeded(at) : failed(at, error))
    this.#options.tracker.close(open, { kind: 'dropped' })
    this.#options.onNews(open)
  }

  /**
   * Nothing carries the mark any more, and helm has a release of that name. It is ours to finish unless the mark
   * beside a release without a plan was taken away, or helm's records are another release's by now.
   */
  async #isStillOurs(open: OpenUninstall, helm: HelmState): Promise<boolean> {
    if (open.planUid === null) {
      this.#drop(open, MARK_REMOVED)
      return false
    }
    const helmUid = open.marked?.status?.run?.helmUid
    if (!helm.records.some((record) => record.uid === helmUid)) {
      this.#drop(open, null)
      return false
    }
    await this.#remember(open)
    return true
  }

  /** Somebody has deleted the plan: the uninstall gets a mark of its own, so that a restart does not lose it. */
  async #remember(open: OpenUninstall): Promise<void> {
    const run = open.marked?.status?.run
    if (!run) return
    try {
      open.mark = await this.#options.marks.remember(open.ref, run)
    } catch (error) {
      // A namespace that is being terminated takes no new objects; this process still finishes it.
      if (!isKubeError(error, 'NamespaceTerminating', 'Forbidden', 'NotFound')) throw error
    }
  }

  /** helm still has it and nobody works on it: its run was lost with its gateway, or somebody asks again. */
  async #startHelm(open: OpenUninstall, request: CheckRequest): Promise<void> {
    const { helm, locks, helmRuns, marks, client, now } = this.#options
    const at = new Date(now()).toISOString()
    const ended = open.marked?.status?.run?.helmEnded
    if (!request.askedAgain) {
      if (ended) return this.#news(open, open.block('HELM', 'helm', `${ended}; uninstall it again`, at))
      if (now() < open.helmNotBefore) return
    }
    const available = await helm.available()
    if ('missing' in available) {
      return this.#news(open, open.block('HELM', 'helm', available.missing, at))
    }
    const attempt = await locks.tryAcquire(open.ref)
    if (attempt.kind === 'busy') return
    try {
      const live = await marks.read(open.ref)
      const { exists } = await lookupHelm(client, open.ref)
      if (!exists || standing(live, open.planUid) !== 'MARKED') return await attempt.lock.release()
    } catch (error) {
      await attempt.lock.release()
      throw error
    }
    this.#news(open, open.unblock('HELM'))
    helmRuns.start(open, attempt.lock)
  }

  async #deleteArchives(open: OpenUninstall): Promise<void> {
    try {
      await deleteArchives(this.#options.client, open.ref)
      open.archivesDeleted = true
      await this.#options.checkpoint('after-archives', open.ref)
      this.#news(open, open.unblock('CLEANUP_FAILED'))
    } catch (error) {
      if (!isKubeError(error)) throw error
      const at = new Date(this.#options.now()).toISOString()
      this.#news(open, open.block('CLEANUP_FAILED', 'archives', error.message, at))
    }
  }

  /** Counts the pods live. True while one counts, or while that cannot be said. */
  async #podsHoldIt(open: OpenUninstall): Promise<boolean> {
    // An untracked release waits for helm only: which pods are its own is not known without a plan.
    if (open.planUid === null) return false
    try {
      const pods = await this.#livePods(open)
      for (const pod of pods) {
        for (const claim of pod.claims) {
          open.leaveBehind({
            kind: 'PersistentVolumeClaim',
            name: claim,
            reason: `mounted by pod ${pod.name}; it stays unless it is part of the chart`,
          })
        }
      }
      const nodes = await this.#liveNodes(pods)
      this.#news(open, open.unblock('LOOKUP_FAILED'))
      const judged = judgePods(pods, (name) => nodes.get(name) ?? 'UNREADABLE', this.#options.now())
      return judged.some(({ verdict }) => verdict.counts)
    } catch (error) {
      if (!isKubeError(error)) throw error
      this.#failedLookup(open, 'its pods', error)
      return true
    }
  }

  async #livePods(open: OpenUninstall): Promise<PodFacts[]> {
    const { client } = this.#options
    const { instance, app } = matchingLabels(open.ref.name, labelChart(open.plan, open.mark))
    const found = new Map<string, PodFacts>()
    const list = async (label: string, value: string | null) => {
      if (value === null) return
      const { items } = await client.list(Kinds.Pod, {
        namespace: open.ref.namespace,
        labelSelector: `${label}=${value}`,
      })
      for (const item of items) {
        const pod = trimPod(item)
        if (pod) found.set(pod.uid, pod)
      }
    }
    await list('app.kubernetes.io/instance', instance)
    await list('app', app)
    return [...found.values()]
  }

  /** The nodes of the pods that have been told to go; a node that cannot be read is neither missing nor not ready. */
  async #liveNodes(pods: readonly PodFacts[]): Promise<Map<string, NodeState>> {
    const nodes = new Map<string, NodeState>()
    for (const { node, deletionTimestamp } of pods) {
      if (node === null || deletionTimestamp === null || nodes.has(node)) continue
      try {
        const read = trimNode(await this.#options.client.get(Kinds.Node, { name: node }))
        nodes.set(node, read.ready ? 'READY' : 'NOT_READY')
      } catch (error) {
        if (!isKubeError(error)) throw error
        nodes.set(node, error.reason === 'NotFound' ? 'MISSING' : 'UNREADABLE')
      }
    }
    return nodes
  }

  #failedLookup(open: OpenUninstall, what: string, error: KubeError): void {
    const at = new Date(this.#options.now()).toISOString()
    this.#news(open, open.block('LOOKUP_FAILED', what, `${what} cannot be read: ${error.message}`, at))
  }

  #news(open: OpenUninstall, isNews: boolean): void {
    if (isNews) this.#options.onNews(open)
  }
}
