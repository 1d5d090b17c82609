import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Change, VersionedChange } from './changes.ts'
import type { KubeClient } from './client.ts'
import { Index } from './indexes.ts'
import type { Kind, KubeObject } from './kinds.ts'
import { objectKey } from './objectSet.ts'
import { SharedObject } from './overlap.ts'
import { Reflector, type ReflectorStatus } from './reflector.ts'

/** One of the selections a cache is made of. */
export interface CacheSelector {
  labelSelector?: string
  fieldSelector?: string
}

export interface KindCacheOptions<T> {
  client: KubeClient
  kind: Kind
  /** Watched one by one; absent or empty: all namespaces in one. Ignored for cluster-scoped kinds. */
  namespaces?: readonly string[] | undefined
  /** Watched one by one, in each namespace; they may overlap. Absent: everything. */
  selectors?: readonly CacheSelector[] | undefined
  metadataOnly?: boolean
  /** See `ReflectorOptions.trim`. */
  trim: (raw: KubeObject) => T | null
  /** See `ReflectorOptions.optional`. */
  optional?: boolean
  clock: Clock
  logger: Logger
  random: () => number
}

/**
 * All objects of one kind that the gateway looks at, in memory, with indexes: what reads are answered from.
 * Made of one reflector per namespace and selector. What it returns is shared and must not be changed.
 */
export class KindCache<T extends object> {
  readonly #reflectors: Reflector<T>[]
  readonly #logger: Logger
  readonly #kind: Kind
  readonly #objects = new Map<string, T>()
  /** Only where selectors may overlap. */
  readonly #shared: Map<string, SharedObject<T>> | null
  readonly #indexes = new Map<string, Index<T>>()
  readonly #listeners = new Set<(change: Change<T>) => void>()
  readonly #stateListeners = new Set<() => void>()
  /** Resolves when every reflector has listed once or has nothing to list. Never rejects. */
  readonly synced: Promise<void>
  readonly #markSynced: () => void

  constructor(options: KindCacheOptions<T>) {
    const { namespaces, selectors, ...common } = options
    this.#kind = options.kind
    this.#logger = options.logger
    const everywhere = !options.kind.namespaced || namespaces === undefined || namespaces.length === 0
    const places = everywhere ? [undefined] : [...new Set(namespaces)]
    const selections = selectors === undefined || selectors.length === 0 ? [{}] : selectors
    this.#shared = selections.length > 1 ? new Map() : null
    let markSynced = (): void => {}
    this.synced = new Promise((resolve) => {
      markSynced = resolve
    })
    this.#markSynced = markSynced
    this.#reflectors = places
      .flatMap((namespace) => selections.map((selector) => ({ ...selector, namespace })))
      .map(
        (selection, stream) =>
          new Reflector<T>({
            ...common,
            ...selection,
            onChange: (change) => this.#apply(stream, change),
            onState: () => this.#stateChanged(),
          }),
      )
  }

  /** Begins to list and watch, once; the returned function ends it. What is kept stays. */
  start(): () => void {
    const stops = this.#reflectors.map((reflector) => reflector.start())
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** @param namespace empty for cluster-scoped kinds */
  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(objectKey(namespace, name))
  }

  all(): T[] {
    return [...this.#objects.values()]
  }

  get size(): number {
    return this.#objects.size
  }

  /**
   * Adds an index. `keysOf` must be pure; it is called again with the same object when that leaves.
   *
   * @throws Error when there is one of that name
   */
  index(name: string, keysOf: (object: T) => string[]): void {
    if (this.#indexes.has(name)) throw new Error(`${this.#kind.kind} has an index ${name} already`)
    const index = new Index(keysOf)
    for (const object of this.#objects.values()) index.add(object)
    this.#indexes.set(name, index)
  }

  /** The objects with that key, in no particular order. */
  lookup(index: string, key: string): T[] {
    const found = this.#indexes.get(index)
    if (!found) throw new Error(`${this.#kind.kind} has no index ${index}`)
    return found.lookup(key)
  }

  /** `listener` is called for each change once the cache and its indexes have it. Its errors are logged. */
  subscribe(listener: (change: Change<T>) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** `listener` is called when a reflector has changed its state: absent, forbidden, failing, synced. */
  onState(listener: () => void): () => void {
    this.#stateListeners.add(listener)
    return () => this.#stateListeners.delete(listener)
  }

  get isSynced(): boolean {
    return this.#reflectors.every((reflector) => reflector.status().synced)
  }

  /** One per namespace and selector. */
  status(): ReflectorStatus[] {
    return this.#reflectors.map((reflector) => reflector.status())
  }

  #apply(stream: number, change: VersionedChange<T>): void {
    const { namespace, name, cause } = change
    if (this.#shared === null) {
      this.#set(change)
      return
    }
    const key = objectKey(namespace, name)
    const shared = this.#shared.get(key) ?? new SharedObject<T>()
    this.#shared.set(key, shared)
    const { old, now } = shared.apply(stream, change)
    if (shared.value === undefined) this.#shared.delete(key)
    if (old && now && old.uid !== now.uid) {
      this.#set({ old: old.value, now: undefined, cause, namespace, name })
      this.#set({ old: undefined, now: now.value, cause, namespace, name })
    } else if (old?.value !== now?.value && !isDeepStrictEqual(old?.value, now?.value)) {
      this.#set({ old: old?.value, now: now?.value, cause, namespace, name })
    }
  }

  #set({ now, cause, namespace, name }: Change<T>): void {
    const key = objectKey(namespace, name)
    const old = this.#objects.get(key)
    if (now === undefined) this.#objects.delete(key)
    else this.#objects.set(key, now)
    for (const index of this.#indexes.values()) {
      if (old !== undefined) this.#safely(() => index.remove(old))
      if (now !== undefined) this.#safely(() => index.add(now))
    }
    const change: Change<T> = { old, now, cause, namespace, name }
    for (const listener of this.#listeners) this.#safely(() => listener(change))
  }

  #stateChanged(): void {
    if (this.isSynced) this.#markSynced()
    for (const listener of this.#stateListeners) this.#safely(listener)
  }

  #safely(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#logger.error({ err: error }, `an index or a listener of ${this.#kind.kind} failed`)
    }
  }
}
