/** A row per release, kept up to date one release at a time as the caches change. Everybody reads it, nobody writes to it. */
import { isDeepStrictEqual } from 'node:util'
import { type CanaryKeys, DEFAULT_CANARY_KEYS } from '../canary/relationship.ts'
import { autoscaleName, mayBeCut, releaseOfAutoscale } from '../plans/names.ts'
import type { PlanObject } from '../plans/planObject.ts'
import { matchingLabels } from '../pods/counting.ts'
import { AppLabels } from './appLabels.ts'
import type { AutoscalePolicies } from './autoscalePolicies.ts'
import { type ClusterCaches, matchingPods } from './caches.ts'
import { type ChangeCause, goneCause, type RowChange } from './change.ts'
import { derive } from './derive.ts'
import type { ReleaseInputs } from './inputs.ts'
import type { DeploymentLister, Page, PageArgs } from './lister.ts'
import { type DeploymentFilter, matches } from './listing.ts'
import type { LLMServiceObject } from './llmService.ts'
import { labelChart } from './openUninstall.ts'
import { comparePlaces, placeOf } from './ordering.ts'
import { countByPhase, cutPage, phaseCounts } from './paging.ts'
import type { Retained, UninstallProgress } from './retained.ts'
import { type ReleaseRef, type Row, releaseKey } from './row.ts'
import { SortedRows } from './sortedRows.ts'

export interface ViewOptions {
  caches: ClusterCaches
  policies: AutoscalePolicies
  uninstalls: UninstallProgress
  /** The API server's time in milliseconds. */
  now: () => number
  /** Where LLMServices say that they belong to a canary; the usual keys by default. */
  canaryKeys?: CanaryKeys
}

export class DeploymentView implements DeploymentLister {
  readonly #caches: ClusterCaches
  readonly #policies: AutoscalePolicies
  readonly #uninstalls: UninstallProgress
  readonly #now: () => number
  readonly #canaryKeys: CanaryKeys
  readonly #rows = new SortedRows()
  readonly #uninstalling = new Set<string>()
  readonly #appLabels = new AppLabels()
  readonly #listeners = new Set<(change: RowChange, position: number) => void>()
  /** Releases that this gateway is changing: what the watch shows of them is its own doing. */
  readonly #attributed = new Map<string, { cause: ChangeCause }>()
  /** Orders and filters that were asked for since the last change. */
  readonly #selections = new Map<string, { rows: readonly Row[]; counts: Page['countsByPhase'] }>()
  #position = 0
  #ready = false

  constructor({ caches, policies, uninstalls, now, canaryKeys = DEFAULT_CANARY_KEYS }: ViewOptions) {
    this.#caches = caches
    this.#policies = policies
    this.#uninstalls = uninstalls
    this.#now = now
    this.#canaryKeys = canaryKeys
  }

  get ready(): boolean {
    return this.#ready
  }

  get position(): number {
    return this.#position
  }

  /** Follows the caches from now on; the first rows appear, without events, when all caches are filled. */
  start(): () => void {
    const { plans, helm, pods, nodes, llmServices, locks } = this.#caches
    const each = <T>(keysOf: (object: T) => string[]) => {
      return (change: { old: T | undefined; now: T | undefined; cause: string }) => {
        if (!this.#ready && !this.#fill()) return
        const keys = new Set([
          ...(change.old ? keysOf(change.old) : []),
          ...(change.now ? keysOf(change.now) : []),
        ])
        for (const key of keys) this.#refreshSeen(key, change.cause === 'unreadable')
      }
    }
    const stops = [
      plans.subscribe(each((plan) => [releaseKey({ namespace: plan.namespace, name: plan.release })])),
      helm.subscribe(each((record) => [releaseKey({ namespace: record.namespace, name: record.release })])),
      pods.subscribe(
        each((pod) => [
          ...(pod.instance === null ? [] : [`${pod.namespace}/${pod.instance}`]),
          ...(pod.app === null ? [] : this.#appLabels.releasesOf(`${pod.namespace}/${pod.app}`)),
        ]),
      ),
      nodes.subscribe(each(() => [...this.#uninstalling])),
      llmServices.subscribe(
        each((service) => [`${service.metadata.namespace ?? ''}/${service.metadata.name}`]),
      ),
      locks.subscribe(each((lock) => [releaseKey({ namespace: lock.namespace, name: lock.release })])),
      this.#policies.subscribe((object) => {
        if (!this.#ready && !this.#fill()) return
        for (const key of this.#keysOfPolicy(object)) this.#refreshSeen(key, false)
      }),
    ]
    for (const cache of this.#caches.all) {
      cache.synced.then(
        () => this.#fill(),
        () => undefined,
      )
    }
    // One that fails at start is never synced, and still lets the others be shown.
    for (const cache of this.#caches.dispensable) stops.push(cache.onState(() => void this.#fill()))
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** What a watch has shown is the doing of whoever is known to work on the release. */
  #refreshSeen(key: string, unreadable: boolean): void {
    this.#refresh(key, this.#attributed.get(key)?.cause ?? 'INFORMER', unreadable)
  }

  /** A name that had to be cut does not say whose policy it is. */
  #keysOfPolicy({ namespace, objectName }: { namespace: string; objectName: string }): string[] {
    const release = mayBeCut(objectName) ? null : releaseOfAutoscale(objectName)
    if (release !== null) return [`${namespace}/${release}`]
    return this.#rows.all
      .filter((row) => row.namespace === namespace && autoscaleName(row.name) === objectName)
      .map(releaseKey)
  }

  /** Makes all rows once every cache has been filled; true when the view is ready. */
  #fill(): boolean {
    if (this.#ready) return true
    if (!this.#caches.ready) return false
    const keys = new Set<string>()
    for (const plan of this.#caches.plans.all())
      keys.add(releaseKey({ namespace: plan.namespace, name: plan.release }))
    for (const { metadata } of this.#caches.llmServices.all())
      keys.add(`${metadata.namespace ?? ''}/${metadata.name}`)
    for (const key of keys) {
      const row = this.#derive(this.#inputs(key))
      if (row) this.#put(key, row)
    }
    this.#ready = true
    return true
  }

  #derive(inputs: ReleaseInputs): Row | null {
    return derive(inputs, this.#now(), this.#canaryKeys)
  }

  /** Derives the row of a release again: something that is no object in the cluster has changed. */
  refresh(ref: ReleaseRef, cause: ChangeCause): void {
    if (this.#ready) this.#refresh(releaseKey(ref), cause, false)
  }

  /**
   * Until the result is called, what the watch shows of this release is told with this cause: this gateway has
   * begun to change it, and no other may.
   */
  attribute(ref: ReleaseRef, cause: ChangeCause): () => void {
    const key = releaseKey(ref)
    const entry = { cause }
    this.#attributed.set(key, entry)
    return () => {
      if (this.#attributed.get(key) === entry) this.#attributed.delete(key)
    }
  }

  subscribe(listener: (change: RowChange, position: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get(ref: ReleaseRef): Row | undefined {
    const row = this.#rows.get(ref)
    return row && this.#fresh(row)
  }

  page(args: PageArgs): Page {
    const { rows, counts } = this.#select(args.filter, args.orderBy)
    const page = cutPage(rows, args)
    return {
      ...page,
      edges: page.edges.map(({ cursor, node }) => ({ cursor, node: this.#fresh(node) })),
      totalCount: rows.length,
      countsByPhase: counts,
      position: this.#position,
    }
  }

  snapshot(filter: DeploymentFilter | undefined): Row[] {
    const { rows } = this.#select(filter, { field: 'NAMESPACE_NAME', direction: 'ASC' })
    return rows.map((row) => this.#fresh(row))
  }

  /** The inputs of a release as the caches hold them now. */
  inputs(ref: ReleaseRef): ReleaseInputs {
    return this.#inputs(releaseKey(ref))
  }

  /**
   * A release that is being uninstalled changes with time alone, and so does one that is being applied when its
   * lock runs out: their rows are made anew for this read.
   */
  #fresh(row: Row): Row {
    if (row.phase !== 'UNINSTALLING' && row.phase !== 'APPLYING') return row
    return this.#derive(this.#inputs(releaseKey(row))) ?? row
  }

  #select(filter: DeploymentFilter | undefined, orderBy: PageArgs['orderBy']) {
    const inOrder = orderBy.field === 'NAMESPACE_NAME' && orderBy.direction === 'ASC'
    if (!filter && inOrder) return { rows: this.#rows.all, counts: phaseCounts(this.#rows.counts) }
    const name = JSON.stringify([filter, orderBy])
    const known = this.#selections.get(name)
    if (known) return known
    const rows = this.#rows.all.filter((row) => matches(row, filter))
    if (!inOrder) {
      const { field } = orderBy
      rows.sort((a, b) => comparePlaces(placeOf(a, field), placeOf(b, field), orderBy))
    }
    const selection = { rows, counts: phaseCounts(countByPhase(rows)) }
    if (this.#selections.size >= MAX_SELECTIONS) this.#selections.clear()
    this.#selections.set(name, selection)
    return selection
  }

  #inputs(key: string): ReleaseInputs {
    const slash = key.indexOf('/')
    const ref = { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
    const retained = this.#uninstalls.retained(ref)
    const cached = this.#living(this.#caches.plan(ref))
    // The watch brings our own mark back in a moment, unless it is dead; the version it replaced is old news.
    const isOld = cached !== null && cached.resourceVersion === retained?.replaced
    const plan = (isOld ? null : cached) ?? this.#living(retained?.plan ?? null)
    const mark = this.#living(this.#caches.mark(ref)) ?? this.#living(retained?.mark ?? null)
    const labels = matchingLabels(ref.name, labelChart(plan, mark))
    this.#appLabels.learn(key, labels.app === null ? null : `${ref.namespace}/${labels.app}`)
    return {
      ref,
      plan,
      mark,
      helm: this.#caches.helmRecords(ref),
      llmService: this.#service(ref, retained),
      pods: matchingPods(this.#caches, ref.namespace, labels),
      nodeState: (name) => this.#caches.nodeState(name),
      lock: this.#caches.lock(ref),
      autoscale: this.#policies.get(ref),
      progress: this.#uninstalls.progress(ref),
    }
  }

  #service(ref: ReleaseRef, retained: Retained | null): LLMServiceObject | null {
    const service = this.#caches.llmServices.get(ref.namespace, ref.name) ?? retained?.service ?? null
    return service && this.#uninstalls.reaped(service.metadata.uid) ? null : service
  }

  #living(plan: PlanObject | null): PlanObject | null {
    return plan && this.#uninstalls.reaped(plan.uid) ? null : plan
  }

  #refresh(key: string, cause: ChangeCause, unreadable: boolean): void {
    const inputs = this.#inputs(key)
    const before = this.#rows.get(inputs.ref) ?? null
    const after = this.#derive(inputs)
    if (after === null) {
      if (before === null) return
      this.#drop(key, inputs.ref)
      this.#tell({ before, after, gone: unreadable ? null : goneCause(before), cause })
      return
    }
    const recreated = before !== null && before.backend === after.backend && before.uid !== after.uid
    this.#put(key, after)
    if (recreated) {
      this.#tell({ before, after: null, gone: 'RECREATED', cause })
      this.#tell({ before: null, after, gone: null, cause })
    } else if (before === null || !isDeepStrictEqual(before, after)) {
      this.#tell({ before, after, gone: null, cause })
    }
  }

  #put(key: string, row: Row): void {
    this.#rows.put(row)
    if (row.phase === 'UNINSTALLING') this.#uninstalling.add(key)
    else this.#uninstalling.delete(key)
    this.#selections.clear()
  }

  #drop(key: string, ref: ReleaseRef): void {
    this.#rows.remove(ref)
    this.#uninstalling.delete(key)
    this.#appLabels.learn(key, null)
    this.#selections.clear()
  }

  #tell(change: Omit<RowChange, 'at'>): void {
    this.#position++
    const told = { ...change, at: new Date(this.#now()).toISOString() }
    for (const listener of this.#listeners) listener(told, this.#position)
  }
}

/** How many different lists are kept between two changes. */
const MAX_SELECTIONS = 100
