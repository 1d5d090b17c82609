import { type Clock, sleep } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { VersionedChange } from './changes.ts'
import type { KubeClient, Selection } from './client.ts'
import { KubeError } from './errors.ts'
import type { Kind, KubeObject } from './kinds.ts'
import { ObjectSet } from './objectSet.ts'
import { describeRef } from './paths.ts'
import { Recovery, type Step } from './recovery.ts'
import { TroubleLog } from './troubleLog.ts'
import type { WatchEnd, WatchEvent } from './watchStream.ts'

export interface ReflectorOptions<T> extends Selection {
  client: KubeClient
  kind: Kind
  metadataOnly?: boolean
  /**
   * The compact object to keep, or null for one that is not wanted. `managedFields` and kubectl's
   * last-applied annotation are gone already. Must depend on nothing but `raw`.
   */
  trim: (raw: KubeObject) => T | null
  /** Not being served, or being forbidden, means that there are none (contract, section 1.5). */
  optional?: boolean
  clock: Clock
  logger: Logger
  /** 0 ≤ x < 1. */
  random: () => number
  /** Called for each change, in order, while it is applied. */
  onChange: (change: VersionedChange<T>) => void
  /** Called when `status().state` or `status().synced` has changed. */
  onState?: () => void
}

export type ReflectorState = 'syncing' | 'synced' | 'absent' | 'forbidden' | 'failing'

/** How one list and watch is doing; what the health page shows. */
export interface ReflectorStatus {
  kind: string
  /** Absent: all namespaces. */
  namespace: string | undefined
  labelSelector: string | undefined
  /**
   * - `syncing`: not listed yet, nothing has failed
   * - `absent`: the kind is not served (optional kinds only)
   * - `forbidden`: may not be listed; objects of an optional kind have left, others are kept as they were
   * - `failing`: the last list or watch failed; what is kept may be old
   */
  state: ReflectorState
  /** Has been listed once, or it is settled that there is nothing to list (absent, forbidden). */
  synced: boolean
  /** When the last event, bookmark or list came, ms; null before the first. */
  lastEventAt: number | null
  /** Of the present trouble; null when there is none. */
  lastError: string | null
  /** The last one applied, bookmarks included; empty before the first list. */
  resourceVersion: string
  /** A watch is established. */
  open: boolean
  /** Since when, ms. */
  openSince: number | null
  /** Lines of the watch so far that were no event, and objects `trim` threw at. */
  oddLines: number
}

/** Objects of an absent or forbidden kind are looked for this often. */
const RECHECK_MS = 30_000
/**
 * A kind counts as forbidden only when it has been refused for so long: kube-apiserver answers 403 to everybody for
 * some moments after its start, until it has read the roles.
 */
const REFUSED_MS = 10_000
const LIST_NOW: Step = { list: true, waitMs: 0, trouble: null }
const WATCH_SECONDS = { min: 240, max: 300 }
const IDLE_MS = { min: 75_000, max: 90_000 }

/**
 * Keeps a set of objects equal to what the API server has, by a list and then a watch from its version, over
 * and over. The semantics are those of client-go's reflector; the library's own list-watch stops for good at
 * any error but 410, asks for no bookmarks, reads no pages and does not look at uids.
 *
 * One loop, one step at a time, so that there is never more than one watch. Every end of a watch and every
 * failure goes through `Recovery`:
 *
 * - 410, as a status or in the stream: list, compare, watch from the version of the list
 * - closed or cut: watch on from the last version
 * - silent: the version may be one the API server has never had (it was restored), so list
 * - an optional kind that is forbidden (for ten seconds) or not served: its objects leave, and it is looked for
 *   every 30 s
 * - anything else: what is kept stays, and it is tried again
 */
export class Reflector<T> {
  readonly #options: ReflectorOptions<T>
  readonly #objects: ObjectSet<T>
  readonly #name: string
  readonly #log: TroubleLog
  #started = false
  readonly #recovery: Recovery
  #watchError: KubeError | null = null
  /** When lists began to be refused with 403, ms. */
  #refusedSince: number | null = null
  #state: ReflectorState = 'syncing'
  #synced = false
  #lastEventAt: number | null = null
  #lastError: string | null = null
  #resourceVersion = ''
  #openSince: number | null = null
  #oddLines = 0

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#objects = new ObjectSet(options.trim, (error) =>
      this.#odd(`an object that cannot be trimmed (${error instanceof Error ? error.name : 'error'})`),
    )
    this.#name =
      describeRef(options.kind, options) + (options.labelSelector ? ` (${options.labelSelector})` : '')
    this.#recovery = new Recovery(options.random)
    this.#log = new TroubleLog(this.#name, options.clock, options.logger)
  }

  /** Begins to list and watch, once; the returned function ends it, and nothing is left running. */
  start(): () => void {
    if (this.#started) throw new Error(`the reflector of ${this.#name} has been started before`)
    this.#started = true
    const stop = new AbortController()
    const { killed } = this.#options.client
    const onKill = () => stop.abort()
    if (killed.aborted) stop.abort()
    killed.addEventListener('abort', onKill, { once: true })
    this.#run(stop.signal)
      .catch((error: unknown) =>
        this.#options.logger.error({ err: error }, `the reflector of ${this.#name} ended`),
      )
      .finally(() => killed.removeEventListener('abort', onKill))
    return () => stop.abort()
  }

  status(): ReflectorStatus {
    return {
      kind: this.#options.kind.kind,
      namespace: this.#options.namespace,
      labelSelector: this.#options.labelSelector,
      state: this.#state,
      synced: this.#synced,
      lastEventAt: this.#lastEventAt,
      lastError: this.#lastError,
      resourceVersion: this.#resourceVersion,
      open: this.#openSince !== null,
      openSince: this.#openSince,
      oddLines: this.#oddLines,
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    let step: Step = LIST_NOW
    while (!signal.aborted) {
      if (step.waitMs > 0) await sleep(this.#options.clock, step.waitMs, signal)
      if (signal.aborted) return
      step = step.list ? await this.#list(signal) : await this.#watch(signal)
    }
  }

  async #list(signal: AbortSignal): Promise<Step> {
    const { client, kind } = this.#options
    try {
      const selection = { ...this.#selection(), signal }
      const list = await client.listInto(kind, selection, (raw) => this.#objects.keep(raw))
      if (signal.aborted) return LIST_NOW
      this.#resourceVersion = list.resourceVersion
      this.#refusedSince = null
      this.#lastEventAt = this.#options.clock.now()
      this.#emit(this.#objects.replace(list.items))
      // A list that works does not end the trouble of a watch that fails.
      if (this.#state === 'absent' || this.#state === 'forbidden') this.#recovery.reset()
      if (this.#watchError) this.#set('failing', true, this.#watchError)
      else this.#set('synced', true)
      return { list: false, waitMs: 0, trouble: null }
    } catch (error) {
      if (signal.aborted) return LIST_NOW
      return this.#listFailed(asKnown(error))
    }
  }

  #listFailed(error: KubeError): Step {
    const { optional } = this.#options
    if (error.reason === 'Forbidden' && this.#mayBeStarting()) {
      this.#set('failing', this.#synced, error)
      const step = this.#recovery.listFailed(error)
      return { ...step, waitMs: Math.min(step.waitMs, REFUSED_MS / 4) }
    }
    if (error.reason === 'Forbidden' || (error.reason === 'NotServed' && optional)) {
      if (optional) {
        this.#resourceVersion = ''
        this.#emit(this.#objects.clear())
      }
      this.#watchError = null
      this.#set(error.reason === 'Forbidden' ? 'forbidden' : 'absent', true, error)
      return { list: true, waitMs: RECHECK_MS, trouble: null }
    }
    this.#set('failing', this.#synced, error)
    return this.#recovery.listFailed(error)
  }

  /** After a 403: it may be another one in a moment. What has been forbidden or absent is looked for slowly anyhow. */
  #mayBeStarting(): boolean {
    if (this.#state === 'forbidden' || this.#state === 'absent') return false
    const now = this.#options.clock.now()
    this.#refusedSince ??= now
    return now - this.#refusedSince < REFUSED_MS
  }

  async #watch(signal: AbortSignal): Promise<Step> {
    const { client, kind, clock, random } = this.#options
    const between = (range: { min: number; max: number }) =>
      Math.round(range.min + random() * (range.max - range.min))
    let openedAt: number | null = null
    let end: WatchEnd
    try {
      const watch = await client.watch(
        kind,
        {
          ...this.#selection(),
          resourceVersion: this.#resourceVersion,
          timeoutSeconds: between(WATCH_SECONDS),
          idleLimitMs: between(IDLE_MS),
          signal,
        },
        {
          onEvent: (event) => this.#event(event),
          onOddLine: (what) => this.#odd(what),
        },
      )
      openedAt = clock.now()
      this.#openSince = openedAt
      this.#watchError = null
      this.#set('synced', true)
      end = await watch.ended
    } catch (error) {
      end = { how: 'failed', error: asKnown(error) }
    } finally {
      this.#openSince = null
    }
    if (signal.aborted) return LIST_NOW
    const step = this.#recovery.watchEnded(end, openedAt === null ? null : clock.now() - openedAt)
    if (step.trouble) {
      this.#watchError = step.trouble
      this.#set('failing', this.#synced, step.trouble)
    }
    return step
  }

  #event(event: WatchEvent): void {
    this.#lastEventAt = this.#options.clock.now()
    const { resourceVersion } = event.object.metadata
    if (event.type !== 'BOOKMARK') this.#emit(this.#objects.apply(event))
    if (typeof resourceVersion === 'string' && resourceVersion !== '') this.#resourceVersion = resourceVersion
  }

  #emit(changes: VersionedChange<T>[]): void {
    for (const change of changes) {
      try {
        this.#options.onChange(change)
      } catch (error) {
        this.#options.logger.error({ err: error }, `a listener of ${this.#name} failed`)
      }
    }
  }

  #odd(what: string): void {
    this.#oddLines++
    if (this.#oddLines === 1) this.#options.logger.warn({ what }, `the watch of ${this.#name} sent ${what}`)
  }

  #set(state: ReflectorState, synced: boolean, error?: KubeError): void {
    const changed = state !== this.#state || synced !== this.#synced
    this.#state = state
    this.#synced = synced
    this.#lastError = error?.message ?? null
    this.#log.report(state, error ?? null)
    if (changed) this.#options.onState?.()
  }

  #selection() {
    const { namespace, labelSelector, fieldSelector, metadataOnly } = this.#options
    return { namespace, labelSelector, fieldSelector, metadataOnly }
  }
}

function asKnown(error: unknown): KubeError {
  return error instanceof KubeError
    ? error
    : new KubeError('Unavailable', 'unexpected failure', { cause: error })
}
