/**
 * The uninstalls that are not over, as this gateway knows them: rebuilt from the marks in the cluster, and
 * with them what the cluster does not say (a helm that runs here, a look-up that fails).
 */
import type { Run } from '../audit/run.ts'
import type { ClusterCaches } from '../deployments/caches.ts'
import type { Progress } from '../deployments/inputs.ts'
import { isDeleting, type LLMServiceObject } from '../deployments/llmService.ts'
import type { Retained, UninstallProgress } from '../deployments/retained.ts'
import {
  type Backend,
  type DeletionBlocker,
  type DeletionBlockerKind,
  type LeftBehind,
  type ReleaseRef,
  releaseKey,
} from '../deployments/row.ts'
import type { PlanObject } from '../plans/planObject.ts'
import type { UninstallFailure } from './outcome.ts'

/** How an uninstall ended for those who wait for it. */
export type UninstallEnd =
  | { kind: 'gone' }
  | { kind: 'failed'; failure: UninstallFailure }
  | { kind: 'dropped' }

/** How a helm run ended for those who wait for it: with helm's output, or as a failure. */
export type HelmEnd = { kind: 'done'; output: string } | { kind: 'failed'; failure: UninstallFailure }

/** One uninstall in progress. */
export class OpenUninstall {
  readonly ref: ReleaseRef
  /** Its audit row as this process last knew it; null before it is known. */
  run: Run | null = null
  /** resourceVersion of the plan that our mark replaced: what the caches still show at that version is old. */
  replaced: string | null = null
  /** The plan as it was last seen; kept when somebody deletes it. */
  plan: PlanObject | null = null
  /** The mark beside the plan, where the plan cannot carry it. */
  mark: PlanObject | null = null
  /** The LLMService as it was last seen being deleted; kept when it leaves, until the clean-up is done. */
  service: LLMServiceObject | null = null
  /** helm runs for it in this process. */
  helmRunning = false
  /** Milliseconds: helm is not started again by the loop before this moment. */
  helmNotBefore = 0
  /** A failure that is not written to the cluster yet. */
  unwrittenFailure: UninstallFailure | null = null
  /** Milliseconds of the last live look at it; 0 for never. */
  lookedAt = 0
  /** Its archives have been deleted since helm dropped the release. */
  archivesDeleted = false
  readonly #blockers = new Map<DeletionBlockerKind, DeletionBlocker>()
  readonly #leftBehind = new Map<string, LeftBehind>()
  readonly #ends: ((end: UninstallEnd) => void)[] = []
  readonly #helmEnds: ((end: HelmEnd) => void)[] = []

  constructor(ref: ReleaseRef) {
    this.ref = ref
  }

  /** The object that carries the mark: the one whose uid names this uninstall. */
  get marked(): PlanObject | null {
    return this.plan?.marked ? this.plan : this.mark
  }

  get backend(): Backend {
    return this.marked?.status?.run?.backend ?? (this.service ? 'LLMSERVICE' : 'HELM')
  }

  /** uid of the plan that it takes away; null for a release without one. */
  get planUid(): string | null {
    return this.marked?.status?.run?.planUid ?? this.plan?.uid ?? null
  }

  get progress(): Progress {
    return {
      helmRunning: this.helmRunning,
      blockers: [...this.#blockers.values()],
      leftBehind: [...this.#leftBehind.values()],
    }
  }

  get blocked(): boolean {
    return this.#blockers.size > 0
  }

  /** Notes what holds it back; the moment it began is kept. Returns true when that is news. */
  block(kind: DeletionBlockerKind, name: string, message: string, at: string): boolean {
    const old = this.#blockers.get(kind)
    if (old?.name === name && old.message === message) return false
    this.#blockers.set(kind, { kind, name, message, since: old?.since ?? at })
    return true
  }

  unblock(kind: DeletionBlockerKind): boolean {
    return this.#blockers.delete(kind)
  }

  leaveBehind(left: LeftBehind): void {
    this.#leftBehind.set(`${left.kind}/${left.name}`, left)
  }

  /** Resolves when it is over, one way or the other. */
  over(): Promise<UninstallEnd> {
    return new Promise((resolve) => this.#ends.push(resolve))
  }

  /** Resolves when helm has had its say: not yet when a run was lost and helm is started again. */
  helmOver(): Promise<HelmEnd> {
    return new Promise((resolve) => this.#helmEnds.push(resolve))
  }

  endHelm(end: HelmEnd): void {
    for (const resolve of this.#helmEnds.splice(0)) resolve(end)
  }

  end(end: UninstallEnd): void {
    this.endHelm(end.kind === 'failed' ? end : { kind: 'done', output: '' })
    for (const resolve of this.#ends.splice(0)) resolve(end)
  }
}

export class UninstallTracker implements UninstallProgress {
  readonly #open = new Map<string, OpenUninstall>()
  /** uids of marked objects that this gateway has reaped, until the caches have dropped them. */
  readonly #reaped = new Set<string>()
  readonly #onNews: (open: OpenUninstall) => void

  /** @param onNews called when the caches show something new of an uninstall; never for one that is not open */
  constructor(onNews: (open: OpenUninstall) => void) {
    this.#onNews = onNews
  }

  /** Follows the marks in the caches. Begin this before the view, so that the view finds what has been retained. */
  follow(caches: ClusterCaches): () => void {
    const stops = [
      caches.plans.subscribe(({ old, now }) => {
        if (now) this.#seen(now)
        else if (old) this.#left(old)
      }),
      caches.llmServices.subscribe(({ old, now, cause }) => {
        if (now) this.#seenService(now)
        else if (old) this.#leftService(old, cause === 'unreadable')
      }),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  get all(): OpenUninstall[] {
    return [...this.#open.values()]
  }

  get(ref: ReleaseRef): OpenUninstall | undefined {
    return this.#open.get(releaseKey(ref))
  }

  /** The uninstall of that release, opened if need be, with what was just read or written of it. */
  open(
    ref: ReleaseRef,
    seen: { plan: PlanObject | null; mark: PlanObject | null; replaced?: string | null },
  ): OpenUninstall {
    const open = this.get(ref) ?? new OpenUninstall(ref)
    open.plan = seen.plan
    open.mark = seen.mark
    open.replaced = seen.replaced ?? null
    this.#open.set(releaseKey(ref), open)
    return open
  }

  /** It is over: those who wait are told, and the caches' last word on its objects no longer counts. */
  close(open: OpenUninstall, end: UninstallEnd): void {
    if (this.get(open.ref) === open) this.#open.delete(releaseKey(open.ref))
    if (end.kind === 'gone') {
      for (const object of [open.plan, open.mark]) if (object) this.#reaped.add(object.uid)
      if (open.service) this.#reaped.add(open.service.metadata.uid)
    }
    open.end(end)
  }

  progress(ref: ReleaseRef): Progress | null {
    return this.get(ref)?.progress ?? null
  }

  retained(ref: ReleaseRef): Retained | null {
    const open = this.get(ref)
    if (!open) return null
    const { plan, mark, replaced, service } = open
    return { plan, mark, replaced, service }
  }

  reaped(uid: string): boolean {
    return this.#reaped.has(uid)
  }

  #seen(object: PlanObject): void {
    if (this.#reaped.has(object.uid)) return
    const ref = { namespace: object.namespace, name: object.release }
    let open = this.get(ref)
    if (!open) {
      if (!object.marked && object.role === 'plan') return
      open = new OpenUninstall(ref)
      this.#open.set(releaseKey(ref), open)
    }
    // A plan without its mark may be an older state that arrives late: the next check reads it live.
    if (object.role === 'mark') open.mark = object
    else if (object.marked) open.plan = object
    this.#onNews(open)
  }

  /** One that is being deleted is followed, whoever asked for that; one that is not (any more) is looked at. */
  #seenService(service: LLMServiceObject): void {
    const { uid, namespace = '', name } = service.metadata
    if (this.#reaped.has(uid)) return
    const ref = { namespace, name }
    let open = this.get(ref)
    if (isDeleting(service)) {
      if (!open) {
        open = new OpenUninstall(ref)
        this.#open.set(releaseKey(ref), open)
      }
      if (open.service === null || open.service.metadata.uid === uid) open.service = service
      return
    }
    if (open?.backend === 'LLMSERVICE') this.#onNews(open)
  }

  /** The kind has become forbidden or is no longer served: only what somebody asked Swiss for is kept. */
  #leftService(service: LLMServiceObject, unreadable: boolean): void {
    const { uid, namespace = '', name } = service.metadata
    this.#reaped.delete(uid)
    const open = this.get({ namespace, name })
    if (!open) return
    if (unreadable && open.marked === null) this.close(open, { kind: 'dropped' })
    else this.#onNews(open)
  }

  #left(object: PlanObject): void {
    this.#reaped.delete(object.uid)
    const open = this.get({ namespace: object.namespace, name: object.release })
    if (open) this.#onNews(open)
  }
}
