import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KubeObject } from '../../../../services/cluster/kinds.ts'

export interface Received {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  /** The body as it came. */
  text: string
  body: unknown
}

/** Handles a request itself by returning true. */
export type Intercept = (request: Received, response: ServerResponse) => boolean | Promise<boolean>

/** A watch as the server sees it. */
export interface ServerWatch {
  request: Received
  response: ServerResponse
  send(type: string, object: unknown): void
  raw(bytes: string | Buffer): void
}

/**
 * A small API server for one kind, on a free loopback port: enough of list and watch to break them in every
 * way. What `intercept` does not handle is answered from `objects`.
 */
export class FakeApi {
  url = ''
  version = 100
  readonly objects = new Map<string, KubeObject>()
  readonly requests: Received[] = []
  readonly watches = new Set<ServerWatch>()
  peakWatches = 0
  intercept: Intercept = () => false
  date: (() => string) | null = null
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch(() => response.destroy())
  })

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  get lists(): Received[] {
    return this.requests.filter((request) => request.method === 'GET' && !request.query.has('watch'))
  }

  get watchRequests(): Received[] {
    return this.requests.filter((request) => request.query.get('watch') === 'true')
  }

  /** The only open watch. */
  get watch(): ServerWatch {
    const [only, ...more] = this.watches
    if (!only || more.length > 0) throw new Error(`${this.watches.size} watches are open`)
    return only
  }

  /** Writes an object and tells the open watches. */
  put(object: KubeObject, tell = true): KubeObject {
    const key = keyOf(object)
    const type = this.objects.has(key) ? 'MODIFIED' : 'ADDED'
    const stored = withVersion(object, ++this.version)
    this.objects.set(key, stored)
    if (tell) for (const watch of this.watches) watch.send(type, stored)
    return stored
  }

  remove(namespace: string, name: string, tell = true): void {
    const key = `${namespace}/${name}`
    const object = this.objects.get(key)
    if (!object) throw new Error(`no ${key}`)
    this.objects.delete(key)
    const last = withVersion(object, ++this.version)
    if (tell) for (const watch of this.watches) watch.send('DELETED', last)
  }

  bookmark(): void {
    const object = { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: String(++this.version) } }
    for (const watch of this.watches) watch.send('BOOKMARK', object)
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const url = new URL(request.url ?? '/', 'http://localhost')
    const received: Received = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    }
    this.requests.push(received)
    if (this.date) response.setHeader('Date', this.date())
    if (await this.intercept(received, response)) return
    if (received.query.get('watch') === 'true') this.openWatch(received, response)
    else json(response, 200, this.page(received.query))
  }

  openWatch(request: Received, response: ServerResponse): ServerWatch {
    const watch: ServerWatch = {
      request,
      response,
      send: (type, object) => void response.write(`${JSON.stringify({ type, object })}\n`),
      raw: (bytes) => void response.write(bytes),
    }
    this.watches.add(watch)
    this.peakWatches = Math.max(this.peakWatches, this.watches.size)
    response.on('close', () => this.watches.delete(watch))
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.flushHeaders()
    return watch
  }

  page(query: URLSearchParams): unknown {
    const limit = Number(query.get('limit') ?? 500)
    const from = Number(query.get('continue') ?? 0)
    const all = [...this.objects.values()]
    const next = from + limit
    return {
      kind: 'List',
      metadata: {
        resourceVersion: String(this.version),
        ...(next < all.length && { continue: String(next) }),
      },
      items: all.slice(from, next),
    }
  }
}

export function json(response: ServerResponse, status: number, body: unknown, headers = {}): true {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
  return true
}

/** A failure as the API server answers it. */
export function failure(response: ServerResponse, status: number, reason: string, headers = {}): true {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason,
    message: `${reason} it is`,
    code: status,
  }
  return json(response, status, body, headers)
}

export function notServed(response: ServerResponse): true {
  response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' })
  response.end('404 page not found\n')
  return true
}

export function pod(
  name: string,
  extra: { uid?: string; phase?: string; namespace?: string } = {},
): KubeObject {
  const { namespace = 'team-a', uid = `uid-${name}`, phase = 'Running' } = extra
  return { metadata: { name, namespace, uid, resourceVersion: '' }, status: { phase } }
}

function withVersion(object: KubeObject, version: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
}

function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`
}
