import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { KubeObject } from './api/types.ts'
import { ApiError, errorOf, isNotFound, statusError } from './apiError.ts'
import type { ServerAccess } from './kubeconfig.ts'
import { groupPath, pathOf, type ResourceType } from './resourceTypes.ts'

export interface Selection {
  /** All namespaces when absent. */
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  /** Only kind, apiVersion and metadata of the objects. */
  metadataOnly?: boolean
}

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  object: KubeObject
}

export interface DeleteOptions {
  /** Seconds; the object's own when absent. */
  grace?: number
  uid?: string
  resourceVersion?: string
  propagation?: 'Background' | 'Foreground' | 'Orphan'
}

/** JSON over the Kubernetes API: no types, no retries, no caches. Every method throws ApiError or a network error. */
export interface KubeClient {
  readonly access: ServerAccess
  /** Any GET that answers JSON, such as `/version`. */
  read<T>(path: string): Promise<T>
  /** The type behind a manifest's apiVersion and kind, from discovery; undefined when it is not served. */
  discover(apiVersion: string, kind: string): Promise<ResourceType | undefined>
  /** Undefined when there is no object of that name; a kind that is not served is an ApiError. */
  get(type: ResourceType, namespace: string, name: string): Promise<KubeObject | undefined>
  /** Reads page by page, 500 objects each. */
  list(type: ResourceType, selection?: Selection): Promise<{ items: KubeObject[]; resourceVersion: string }>
  /** Resolves when the server ends the stream or the signal ends it; an ERROR event is thrown as ApiError. */
  watch(
    type: ResourceType,
    selection: Selection & { resourceVersion: string },
    onEvent: (event: WatchEvent) => void,
    signal: AbortSignal,
  ): Promise<void>
  create(
    type: ResourceType,
    object: unknown,
    namespace: string,
    name?: string,
    subresource?: string,
  ): Promise<KubeObject>
  /** PUT; without a resourceVersion in the object it is unconditional. */
  replace(type: ResourceType, object: KubeObject, subresource?: string): Promise<KubeObject>
  /** JSON merge patch. */
  patch(
    type: ResourceType,
    namespace: string,
    name: string,
    patch: unknown,
    subresource?: string,
  ): Promise<KubeObject>
  /** False when there was nothing to delete. */
  delete(type: ResourceType, namespace: string, name: string, options?: DeleteOptions): Promise<boolean>
  /** Closes idle connections. */
  close(): void
}

const pageSize = 500
const requestTimeoutMs = 30_000
/** Asked of the server, so that a watch never outlives a proxy's patience. */
const watchTimeoutSeconds = 290

interface Call {
  method: string
  path: string
  accept?: string
  body?: unknown
  contentType?: string
  signal?: AbortSignal
  timeoutMs?: number
}

/** A client of one API server. `userAgent` is what the server's logs will show. */
export function createClient(access: ServerAccess, userAgent: string): KubeClient {
  const secure = access.server.startsWith('https:')
  const agent = secure
    ? new HttpsAgent({
        keepAlive: true,
        cert: access.certificate,
        key: access.key,
        ca: access.certificateAuthority,
        servername: access.serverName,
        rejectUnauthorized: access.insecureSkipVerify !== true,
      })
    : new HttpAgent({ keepAlive: true })
  const send = secure ? httpsRequest : httpRequest

  function open(call: Call): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const payload = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body))
      const request = send(access.server + call.path, {
        agent,
        method: call.method,
        ...(call.signal ? { signal: call.signal } : {}),
        headers: {
          accept: call.accept ?? 'application/json',
          'user-agent': userAgent,
          ...(access.token ? { authorization: `Bearer ${access.token}` } : {}),
          ...(payload
            ? { 'content-type': call.contentType ?? 'application/json', 'content-length': payload.length }
            : {}),
        },
      })
      const timeoutMs = call.timeoutMs ?? requestTimeoutMs
      if (timeoutMs > 0) {
        request.setTimeout(timeoutMs, () =>
          request.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)),
        )
      }
      request.once('error', reject)
      request.once('response', resolve)
      request.end(payload)
    })
  }

  async function json<T>(call: Call): Promise<T> {
    const response = await open(call)
    const text = await readAll(response)
    const status = response.statusCode ?? 0
    if (status >= 200 && status < 300) return JSON.parse(text) as T
    throw errorOf(status, text, response.headers['retry-after'])
  }

  const query = (selection: Selection, more: Record<string, string>) => {
    const parameters = new URLSearchParams(more)
    if (selection.labelSelector) parameters.set('labelSelector', selection.labelSelector)
    if (selection.fieldSelector) parameters.set('fieldSelector', selection.fieldSelector)
    return `?${parameters}`
  }

  const client: KubeClient = {
    access,
    read: (path) => json({ method: 'GET', path }),

    async discover(apiVersion, kind) {
      try {
        const group = await json<{ resources: { name: string; kind: string; namespaced: boolean }[] }>({
          method: 'GET',
          path: groupPath(apiVersion),
        })
        const found = group.resources.find((it) => it.kind === kind && !it.name.includes('/'))
        return found && { apiVersion, kind, plural: found.name, namespaced: found.namespaced }
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined
        throw error
      }
    },

    async get(type, namespace, name) {
      try {
        return await json<KubeObject>({ method: 'GET', path: pathOf(type, namespace, name) })
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },

    async list(type, selection = {}) {
      const items: KubeObject[] = []
      let token = ''
      for (;;) {
        const more = { limit: String(pageSize), ...(token === '' ? {} : { continue: token }) }
        const page = await json<{
          items: KubeObject[] | null
          metadata: { resourceVersion: string; continue?: string }
        }>({
          method: 'GET',
          path: pathOf(type, selection.namespace) + query(selection, more),
          accept: accepted(selection, 'PartialObjectMetadataList'),
        })
        // Items of a list carry neither kind nor apiVersion.
        for (const item of page.items ?? [])
          items.push({ ...item, apiVersion: type.apiVersion, kind: type.kind })
        token = page.metadata.continue ?? ''
        if (token === '') return { items, resourceVersion: page.metadata.resourceVersion }
      }
    },

    async watch(type, selection, onEvent, signal) {
      const more = {
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: selection.resourceVersion,
        timeoutSeconds: String(watchTimeoutSeconds),
      }
      const path = pathOf(type, selection.namespace) + query(selection, more)
      const accept = accepted(selection, 'PartialObjectMetadata')
      const response = await open({ method: 'GET', path, accept, signal, timeoutMs: 0 })
      const status = response.statusCode ?? 0
      if (status !== 200) throw errorOf(status, await readAll(response), response.headers['retry-after'])
      for await (const line of lines(response)) {
        const event = JSON.parse(line) as { type: string; object: Record<string, unknown> }
        if (event.type === 'ERROR') throw statusError(Number(event.object.code), event.object)
        // A partial object says so in its kind; here every object bears the kind that was asked for.
        onEvent({
          type: event.type,
          object: { ...event.object, apiVersion: type.apiVersion, kind: type.kind },
        } as WatchEvent)
      }
    },

    create: (type, object, namespace, name, subresource) =>
      json({ method: 'POST', path: pathOf(type, namespace, name, subresource), body: object }),

    replace: (type, object, subresource) =>
      json({
        method: 'PUT',
        path: pathOf(type, object.metadata.namespace, object.metadata.name, subresource),
        body: object,
      }),

    patch: (type, namespace, name, patch, subresource) =>
      json({
        method: 'PATCH',
        path: pathOf(type, namespace, name, subresource),
        body: patch,
        contentType: 'application/merge-patch+json',
      }),

    async delete(type, namespace, name, options = {}) {
      const { uid, resourceVersion } = options
      const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
      const body = {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        ...(options.grace === undefined ? {} : { gracePeriodSeconds: options.grace }),
        ...(uid || resourceVersion ? { preconditions } : {}),
        ...(options.propagation ? { propagationPolicy: options.propagation } : {}),
      }
      try {
        await json({ method: 'DELETE', path: pathOf(type, namespace, name), body })
        return true
      } catch (error) {
        if (isNotFound(error)) return false
        throw error
      }
    },

    close: () => agent.destroy(),
  }
  return client
}

const accepted = ({ metadataOnly }: Selection, as: string) =>
  metadataOnly ? `application/json;as=${as};g=meta.k8s.io;v=v1` : 'application/json'

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Splits on bytes, so that a character cut in two by the network is put together again. */
async function* lines(response: IncomingMessage): AsyncGenerator<string> {
  let rest: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      rest.push(chunk.subarray(from, end))
      const line = Buffer.concat(rest).toString('utf8')
      rest = []
      from = end + 1
      if (line.trim() !== '') yield line
    }
    if (from < chunk.length) rest.push(chunk.subarray(from))
  }
}
