/**
 * The autoscale ConfigMaps of the releases, whole. No label marks them, and those that older tools have made are to
 * be seen: so the metadata of all ConfigMaps is watched, and one with such a name is read when it has changed.
 */
import { type AutoscaleObject, autoscaleObject } from '../autoscale/autoscale.ts'
import { backoffMs } from '../cluster/backoff.ts'
import type { KindCache } from '../cluster/cache.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import { objectKey } from '../cluster/objectSet.ts'
import { autoscaleName, releaseOfAutoscale } from '../plans/names.ts'
import { type Clock, sleep } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Task, TaskTracker } from '../runtime/tasks.ts'
import type { ReleaseRef } from './row.ts'

/** What the watch says of one. */
export interface AutoscaleMeta {
  namespace: string
  objectName: string
  uid: string
  resourceVersion: string
}

/** Null for every other ConfigMap. */
export function trimAutoscale({ metadata }: KubeObject): AutoscaleMeta | null {
  const { namespace, name, uid, resourceVersion } = metadata
  if (namespace === undefined || releaseOfAutoscale(name) === null) return null
  return { namespace, objectName: name, uid, resourceVersion }
}

export interface AutoscalePoliciesOptions {
  client: KubeClient
  clock: Clock
  random: () => number
  tasks: TaskTracker
  logger: Logger
  /** Aborts when the gateway is shut down. */
  stopping: AbortSignal
}

/** Objects that are read at the same time: a start may find thousands. */
const PARALLEL = 8

export class AutoscalePolicies {
  readonly #options: AutoscalePoliciesOptions
  readonly #objects = new Map<string, AutoscaleObject>()
  /** What is to be read, or is being read; `again` when it has changed meanwhile. */
  readonly #wanted = new Map<string, { meta: AutoscaleMeta; again: boolean }>()
  readonly #queue: string[] = []
  #readers = 0
  readonly #listeners = new Set<(object: AutoscaleMeta) => void>()

  constructor(options: AutoscalePoliciesOptions) {
    this.#options = options
  }

  /** The one of a release, as it was last read. */
  get({ namespace, name }: ReleaseRef): AutoscaleObject | null {
    return this.#objects.get(objectKey(namespace, autoscaleName(name))) ?? null
  }

  /** `listener` is called with each one that has come, changed or left. */
  subscribe(listener: (object: AutoscaleMeta) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Reads what the cache shows, from now on. */
  follow(cache: KindCache<AutoscaleMeta>): () => void {
    return cache.subscribe(({ old, now }) => {
      if (now) this.#want(now)
      else if (old) this.#drop(old)
    })
  }

  /** What a write was answered with: the watch will show nothing newer than that. */
  put(raw: KubeObject): void {
    const object = autoscaleObject(raw)
    this.#objects.set(objectKey(object.namespace, object.objectName), object)
    this.#tell(object)
  }

  #want(meta: AutoscaleMeta): void {
    const key = objectKey(meta.namespace, meta.objectName)
    const wanted = this.#wanted.get(key)
    if (wanted) {
      // Even when it is what we know from a write of ours: the read under way may bring an older state.
      wanted.meta = meta
      wanted.again = true
      return
    }
    const known = this.#objects.get(key)
    if (known?.uid === meta.uid && known.resourceVersion === meta.resourceVersion) return
    this.#wanted.set(key, { meta, again: false })
    this.#queue.push(key)
    if (this.#readers >= PARALLEL) return
    this.#readers++
    this.#options.tasks.run('read autoscale policies', (task) => this.#read(task))
  }

  #drop(meta: AutoscaleMeta): void {
    const key = objectKey(meta.namespace, meta.objectName)
    this.#wanted.delete(key)
    if (this.#objects.delete(key)) this.#tell(meta)
  }

  async #read(task: Task): Promise<void> {
    try {
      for (let key = this.#queue.shift(); key !== undefined; key = this.#queue.shift()) {
        await this.#readOne(key, task)
      }
    } finally {
      this.#readers--
    }
  }

  /** Until it is read as it now is, or has left. */
  async #readOne(key: string, task: Task): Promise<void> {
    const { client, clock, random, logger, stopping } = this.#options
    for (let attempt = 1; ; attempt++) {
      const wanted = this.#wanted.get(key)
      if (!wanted || stopping.aborted || client.killed.aborted) return
      wanted.again = false
      const { namespace, objectName } = wanted.meta
      try {
        const raw = await client.get(Kinds.ConfigMap, { namespace, name: objectName })
        if (this.#wanted.get(key) !== wanted) continue
        this.put(raw)
        if (wanted.again) continue
        this.#wanted.delete(key)
        return
      } catch (error) {
        if (!isKubeError(error)) throw error
        if (error.reason === 'NotFound') {
          // The watch says so in a moment; should it be there again by then, it says that, too.
          this.#wanted.delete(key)
          return
        }
        logger.debug({ err: error, namespace, name: objectName }, 'an autoscale policy could not be read')
        await task.park(sleep(clock, backoffMs(attempt, error.retryAfterSeconds ?? null, random), stopping))
      }
    }
  }

  #tell(object: AutoscaleMeta): void {
    for (const listener of this.#listeners) listener(object)
  }
}
