import type { IncomingMessage, ServerResponse } from 'node:http'
import { mediaType, parseJson, readBody } from './bodies.ts'
import type { Call } from './calls.ts'
import { faultStatus } from './calls.ts'
import { actsOnStreams } from './faults.ts'
import { parseFieldSelector } from './fieldSelectors.ts'
import { at, textOf } from './json.ts'
import type { KindDef } from './kinds.ts'
import { isOpenPath, otherReply } from './others.ts'
import { readResourcePath, verbOf } from './paths.ts'
import { truthy } from './query.ts'
import type { Registry } from './registry.ts'
import type { Room } from './resources.ts'
import { handleResource } from './resources.ts'
import type { Reply } from './responses.ts'
import { notJson, pageNotFound, send, statusReply, tooLarge } from './responses.ts'
import type { Identity } from './reviews.ts'
import * as status from './status.ts'
import type { ApiCall } from './types.ts'

/** Everything a request can reach. */
export interface ServerRoom extends Room {
  registry: Registry
  tokens: Map<string, Identity>
  listeners: Set<(call: ApiCall) => void>
}

/** Takes a request from its first byte to its answer. */
export class RequestHandler {
  private readonly room: ServerRoom
  private running = 0

  constructor(room: ServerRoom) {
    this.room = room
  }

  /** Requests that have no answer yet; a watch has one as soon as it has begun. */
  get inFlight(): number {
    return this.running
  }

  /** Answers a request, also when the server itself makes a mistake (500). */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.running += 1
    response.sendDate = false
    response.setHeader('Date', new Date(this.room.clock.now()).toUTCString())
    try {
      await this.answer(request, response)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (response.headersSent) response.destroy()
      else send(response, statusReply(status.failure(500, 'InternalError', message)))
    } finally {
      this.running -= 1
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://loopback')
    const token = bearerToken(request)
    const identity = token === undefined ? undefined : this.room.tokens.get(token)
    const path = readResourcePath(url.pathname)
    const def = path && this.room.registry.byPath(path.group, path.version, path.plural)
    const verb = path && verbOf(request.method ?? 'GET', path, truthy(url.searchParams.get('watch')))
    const userAgent = request.headers['user-agent'] ?? ''
    const answered = (reply: Reply | undefined, name = path?.name ?? ''): void => {
      if (reply !== undefined) send(response, reply)
      if (path === undefined || def === undefined || verb === undefined) return
      const call: ApiCall = {
        verb,
        kind: def.kind,
        userAgent,
        token: token ?? '',
        status: response.statusCode,
      }
      if (path.namespace !== '') call.namespace = path.namespace
      if (name !== '') call.name = name
      for (const listener of this.room.listeners) listener(call)
    }
    const open = request.method === 'GET' && isOpenPath(url.pathname) && token === undefined
    if (identity === undefined && !open) return answered(statusReply(status.unauthorized))
    const body = await readBody(request)
    if (body === 'too large') return answered(tooLarge)
    if (path === undefined || def === undefined || identity === undefined) {
      const { registry, tokens } = this.room
      return answered(otherReply(registry, tokens, request, url.pathname, body.text, identity))
    }
    if (verb === undefined) return answered(statusReply(status.methodNotAllowed()))
    const json = body.text === '' ? { value: undefined } : parseJson(body.text)
    const value = 'value' in json ? json.value : undefined
    const call: Call = {
      request,
      response,
      verb,
      def,
      path,
      params: url.searchParams,
      body: value,
      contentType: mediaType(request),
      name: path.name || nameIn(verb, def, url.searchParams, value),
      identity,
      userAgent,
      token: token ?? '',
    }
    const unreadable = 'problem' in json && call.contentType.endsWith('json') ? json.problem : undefined
    answered(await this.resource(call, unreadable), call.name)
  }

  /** No reply: a watch has begun. */
  private async resource(call: Call, unreadable: string | undefined): Promise<Reply | undefined> {
    const { def, path } = call
    const fault = this.room.faults.take({ ...call, kind: def.kind, namespace: path.namespace })
    if (fault?.first !== undefined) await fault.first()
    if (fault?.status !== undefined) return statusReply(faultStatus(fault, call), fault.retryAfter)
    if (!this.room.registry.isServed(def)) return pageNotFound
    if (unreadable !== undefined) return notJson(unreadable)
    return handleResource(this.room, call, fault !== undefined && actsOnStreams(fault) ? fault : undefined)
  }
}

/** The token of a request; empty for a header that holds none, undefined without one. */
function bearerToken(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization
  return header === undefined ? undefined : (/^Bearer\s+(.+)$/i.exec(header)?.[1] ?? '')
}

/** The one object a call without a name in its path is about, if there is such a one. */
function nameIn(verb: string, def: KindDef, params: URLSearchParams, body: unknown): string {
  if (verb === 'create') return textOf(at(body, 'metadata', 'name'))
  if (verb !== 'list' && verb !== 'watch') return ''
  const selector = parseFieldSelector(params.get('fieldSelector') ?? '', def.kind)
  return 'problem' in selector ? '' : (selector.name ?? '')
}
