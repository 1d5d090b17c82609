import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type {
  CallOptions,
  DeleteOptions,
  KubeClientOptions,
  ReadOptions,
  Selection,
  Watch,
  WatchOptions,
} from './clientOptions.ts'
import { KubeError } from './errors.ts'
import { apiVersionOf, type Kind, type KubeObject, type NewKubeObject, type ObjectRef } from './kinds.ts'
import { type ListPage, listPages, selectionQuery } from './listing.ts'
import { accept, collectionPath, describeRef, objectPath } from './paths.ts'
import { type Send, Transport } from './transport.ts'
import { readWatch, type WatchHandlers } from './watchStream.ts'

export type {
  CallOptions,
  DeleteOptions,
  KubeClientOptions,
  ReadOptions,
  Selection,
  Watch,
  WatchOptions,
} from './clientOptions.ts'

const MERGE_PATCH = 'application/merge-patch+json'
const JSON_PATCH = 'application/json-patch+json'

/**
 * The API server, as raw JSON both ways: nothing is dropped from an object that is read, changed and written
 * back (the typed client of the library drops fields it does not know). One per gateway, so that everything
 * the gateway asks of the cluster is counted in one place.
 *
 * Every method throws `KubeError` and nothing else. No call is ever repeated by the client: whether a write
 * that got no answer has happened is for the caller to find out.
 */
export class KubeClient {
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #logger: Logger

  constructor(options: KubeClientOptions) {
    this.#transport = new Transport(options)
    this.#clock = options.clock
    this.#logger = options.logger
  }

  /** Requests not answered yet. An established watch does not count, opening one does. */
  get inFlight(): number {
    return this.#transport.inFlight
  }

  /** Requests sent since the start. */
  get calls(): number {
    return this.#transport.calls
  }

  /** The API server's time in ms: our clock, corrected when `Date` headers show that it is off. */
  now(): number {
    return this.#clock.now() + this.#transport.clockOffsetMs
  }

  /** How far the API server's clock is ahead of ours, in ms; 0 while that is within the headers' resolution. */
  get clockOffsetMs(): number {
    return this.#transport.clockOffsetMs
  }

  /** Cuts everything under way; all later calls throw `Unavailable`. What a crash looks like from outside. */
  kill(): void {
    this.#transport.kill()
  }

  /** Aborts with `kill()`: whoever runs a loop over this client ends it then. */
  get killed(): AbortSignal {
    return this.#transport.killed
  }

  async get<T extends KubeObject = KubeObject>(
    kind: Kind,
    ref: ObjectRef,
    options: ReadOptions = {},
  ): Promise<T> {
    return this.#call<T>(`get ${describeRef(kind, ref)}`, options, () => ({
      method: 'GET',
      path: objectPath(kind, ref),
      accept: accept(options.metadataOnly, ''),
    }))
  }

  /** All objects of a selection, read in pages of 500. */
  async list<T extends KubeObject = KubeObject>(
    kind: Kind,
    options: Selection & ReadOptions = {},
  ): Promise<{ items: T[]; resourceVersion: string }> {
    return this.listInto(kind, options, (item: T) => item)
  }

  /**
   * Like `list`, but keeps only what `keep` makes of each item, page by page, so that a large list is never
   * held whole. Starts over when the continue token expires on the way.
   */
  async listInto<T extends KubeObject, R>(
    kind: Kind,
    options: Selection & ReadOptions,
    keep: (item: T) => R,
  ): Promise<{ items: R[]; resourceVersion: string }> {
    const action = `list ${describeRef(kind, options)}`
    return listPages(
      (query) =>
        this.#call<ListPage<T>>(action, options, () => ({
          method: 'GET',
          path: `${collectionPath(kind, options.namespace)}?${query}`,
          accept: accept(options.metadataOnly, 'List'),
        })),
      { action, selection: options, keep },
    )
  }

  async create<T extends KubeObject = KubeObject>(
    kind: Kind,
    object: NewKubeObject,
    options: CallOptions = {},
  ): Promise<T> {
    const { namespace, name } = object.metadata
    return this.#call<T>(`create ${describeRef(kind, object.metadata)}`, options, () => {
      if (kind.namespaced && !namespace) throw new KubeError('Invalid', `${name} needs a namespace`)
      return {
        method: 'POST',
        path: collectionPath(kind, namespace),
        accept: accept(false, ''),
        body: typed(kind, object),
      }
    })
  }

  /** Replaces an object. Its resourceVersion is the precondition: a stale one is a `Conflict`. */
  async update<T extends KubeObject = KubeObject>(
    kind: Kind,
    object: KubeObject,
    options: CallOptions & { subresource?: string } = {},
  ): Promise<T> {
    return this.#call<T>(`update ${describeRef(kind, object.metadata)}`, options, () => ({
      method: 'PUT',
      path: objectPath(kind, object.metadata, options.subresource),
      accept: accept(false, ''),
      body: typed(kind, object),
    }))
  }

  /**
   * @param type `merge`: a JSON merge patch; with `metadata.resourceVersion` in it a stale one is a `Conflict`.
   * `json`: a list of JSON patch operations; a failed `test` is `Invalid`
   */
  async patch<T extends KubeObject = KubeObject>(
    kind: Kind,
    ref: ObjectRef,
    type: 'merge' | 'json',
    body: unknown,
    options: CallOptions & { subresource?: string } = {},
  ): Promise<T> {
    return this.#call<T>(`patch ${describeRef(kind, ref)}`, options, () => ({
      method: 'PATCH',
      path: objectPath(kind, ref, options.subresource),
      accept: accept(false, ''),
      body,
      contentType: type === 'merge' ? MERGE_PATCH : JSON_PATCH,
    }))
  }

  /**
   * @returns `accepted`: the object while finalizers or a grace period still keep it, null when it is gone
   */
  async delete(
    kind: Kind,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<{ accepted: KubeObject | null }> {
    const { preconditions, propagationPolicy, gracePeriodSeconds } = options
    const answer = await this.#call<KubeObject>(`delete ${describeRef(kind, ref)}`, options, () => ({
      method: 'DELETE',
      path: objectPath(kind, ref),
      accept: accept(false, ''),
      body: {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        ...(preconditions && { preconditions }),
        ...(propagationPolicy && { propagationPolicy }),
        ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
      },
    }))
    return { accepted: answer.kind === 'Status' ? null : answer }
  }

  /**
   * Opens a watch with bookmarks. Resolves when the API server has accepted it; from then on `handlers` are
   * called, in order, until `ended` resolves.
   */
  async watch(kind: Kind, options: WatchOptions, handlers: WatchHandlers): Promise<Watch> {
    const action = `watch ${describeRef(kind, options)}`
    const answer = await this.#during(action, async () => {
      const query = selectionQuery(options)
      query.set('watch', 'true')
      query.set('allowWatchBookmarks', 'true')
      query.set('timeoutSeconds', String(options.timeoutSeconds))
      query.set('resourceVersion', options.resourceVersion)
      return this.#transport.stream({
        method: 'GET',
        path: `${collectionPath(kind, options.namespace)}?${query}`,
        accept: accept(options.metadataOnly, ''),
        signal: options.signal,
      })
    })
    const reading = readWatch(answer, handlers, { ...options, clock: this.#clock })
    return {
      ended: reading.then((end) =>
        end.how === 'failed' ? { how: 'failed', error: end.error.during(action) } : end,
      ),
    }
  }

  /** `GET /version`. */
  async version(options: CallOptions = {}): Promise<{ gitVersion: string }> {
    const answer = await this.#call<{ gitVersion?: unknown }>('version', options, () => ({
      method: 'GET',
      path: '/version',
      accept: 'application/json',
    }))
    return { gitVersion: typeof answer.gitVersion === 'string' ? answer.gitVersion : 'unknown' }
  }

  /** Asks whether the API server answers at all. */
  async ping(options: CallOptions = {}): Promise<void> {
    await this.version(options)
  }

  async #call<R>(action: string, options: CallOptions, prepare: () => Send): Promise<R> {
    return this.#during(action, async () => {
      const answer = await this.#transport.json({
        ...prepare(),
        signal: options.signal,
        timeoutMs: options.timeoutMs,
      })
      if (typeof answer !== 'object' || answer === null) {
        throw new KubeError('Unavailable', 'the answer is no object')
      }
      return answer as R
    })
  }

  /** Puts what was tried in front of a failure's message. */
  async #during<R>(action: string, work: () => Promise<R>): Promise<R> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      const named = error.during(action)
      this.#logger.debug({ reason: named.reason, status: named.status }, named.message)
      throw named
    }
  }
}

/** Items of a list carry no kind and apiVersion; custom resources are refused without. */
function typed(kind: Kind, object: NewKubeObject): NewKubeObject {
  return { ...object, apiVersion: object.apiVersion ?? apiVersionOf(kind), kind: object.kind ?? kind.kind }
}
