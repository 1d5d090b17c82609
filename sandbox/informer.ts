import type { KubeObject } from './api/types.ts'
import { ApiError } from './apiError.ts'
import type { KubeClient, Selection } from './client.ts'
import type { Clock } from './clock.ts'
import type { ResourceType } from './resourceTypes.ts'

/** A copy of all objects of one kind, kept by list and watch. */
export interface Informer {
  readonly type: ResourceType
  /** `namespace/name` of an object. */
  get(key: string): KubeObject | undefined
  values(): IterableIterator<KubeObject>
  /** Resolves once the first list has been taken in. A kind that is not served counts as empty. */
  readonly synced: Promise<void>
  stop(): Promise<void>
}

/** Told after the copy has changed; `now` is undefined when the object has gone. */
export type OnChange = (key: string, now: KubeObject | undefined, before: KubeObject | undefined) => void

const pauseMs = 1_000

export const keyOf = (object: KubeObject) => `${object.metadata.namespace ?? ''}/${object.metadata.name}`

export interface InformerOptions {
  client: KubeClient
  clock: Clock
  type: ResourceType
  selection?: Selection
  onChange: OnChange
  /** Told of every failed list or watch, but for a kind that is not served and a version that is too old. */
  onError: (message: string) => void
}

/**
 * Starts list and watch. After any error, 410 included, it lists anew; after that, and after a stream that ended
 * at once, with a pause of a second.
 */
export function startInformer(options: InformerOptions): Informer {
  const { client, clock, type, selection = {}, onChange, onError } = options
  const objects = new Map<string, KubeObject>()
  const ending = new AbortController()
  let tellSynced: () => void = () => {}
  const synced = new Promise<void>((resolve) => {
    tellSynced = resolve
  })

  function put(object: KubeObject): void {
    const key = keyOf(object)
    const before = objects.get(key)
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion) return
    // A name that came back while we did not look: the old object has gone first.
    if (before && before.metadata.uid !== object.metadata.uid) remove(before)
    objects.set(key, object)
    onChange(key, object, before?.metadata.uid === object.metadata.uid ? before : undefined)
  }

  function remove(object: KubeObject): void {
    const key = keyOf(object)
    const before = objects.get(key)
    if (!before || before.metadata.uid !== object.metadata.uid) return
    objects.delete(key)
    onChange(key, undefined, object)
  }

  async function listOnce(): Promise<string> {
    const { items, resourceVersion } = await client.list(type, selection)
    const seen = new Set(items.map(keyOf))
    for (const [key, object] of objects) if (!seen.has(key)) remove(object)
    for (const item of items) put(item)
    return resourceVersion
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        let resourceVersion = await listOnce()
        tellSynced()
        while (!ending.signal.aborted) {
          const began = clock.now()
          const from = { ...selection, resourceVersion }
          await client.watch(
            type,
            from,
            ({ type: change, object }) => {
              resourceVersion = object.metadata.resourceVersion ?? resourceVersion
              if (change === 'DELETED') remove(object)
              else if (change !== 'BOOKMARK') put(object)
            },
            ending.signal,
          )
          if (clock.now() - began < pauseMs && !ending.signal.aborted) await pause()
        }
      } catch (error) {
        const status = error instanceof ApiError ? error.status : 0
        if (status === 404) {
          for (const object of objects.values()) remove(object)
          tellSynced()
        } else if (status !== 410 && !ending.signal.aborted) {
          onError(`${type.plural}: ${(error as Error).message}`)
        }
        if (!ending.signal.aborted) await pause()
      }
    }
  }

  const pause = () =>
    new Promise<void>((resolve) => {
      const cancel = clock.setTimer(pauseMs, done)
      ending.signal.addEventListener('abort', done, { once: true })
      function done() {
        cancel()
        ending.signal.removeEventListener('abort', done)
        resolve()
      }
    })

  const running = run()
  return {
    type,
    get: (key) => objects.get(key),
    values: () => objects.values(),
    synced,
    async stop() {
      ending.abort()
      tellSynced()
      await running
    },
  }
}
