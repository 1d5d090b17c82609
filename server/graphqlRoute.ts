import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionResult } from 'graphql'
import type { Actor } from '../services/auth/actor.ts'
import { isStream, type Operations } from '../subscriptions/operation.ts'
import type { EventStreams } from '../subscriptions/sse.ts'
import { type JsonType, readAccept } from './accept.ts'
import { paramsOfBody, paramsOfUrl } from './params.ts'
import { sendJson, sendRefusal } from './respond.ts'

export interface GraphqlRouteOptions {
  operations: Operations
  events: EventStreams
}

/** Answers one GET or POST of `/graphql` whose door has been checked. Never rejects for what a client sends. */
export async function serveGraphql(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  caller: { actor: Actor; signal: AbortSignal },
  { operations, events }: GraphqlRouteOptions,
): Promise<void> {
  const { method, headers } = request
  if (method !== 'GET' && method !== 'POST') {
    const message = 'GraphQL is answered to GET and POST only.'
    return sendRefusal(response, { status: 405, code: 'METHOD_NOT_ALLOWED', message }, { allow: 'GET, POST' })
  }
  const accepted = readAccept(headers.accept)
  if (!accepted.json && !accepted.events) {
    const message = 'The answer is application/graphql-response+json, application/json or text/event-stream.'
    return sendRefusal(response, { status: 406, code: 'NOT_ACCEPTABLE', message })
  }
  const read = method === 'GET' ? paramsOfUrl(url.searchParams) : await paramsOfBody(request)
  if ('refusal' in read) return sendRefusal(response, read.refusal)

  const lastEventId = headers['last-event-id'] ?? url.searchParams.get('lastEventId')
  const prepared = operations.prepare(read.params, {
    ...caller,
    headers,
    lastEventId:
      accepted.events && typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : null,
  })
  const failed = 'errors' in prepared
  // A client that takes both means JSON for a single result and a stream for a subscription.
  const streams = accepted.events && (!accepted.json || (!failed && prepared.kind === 'subscription'))

  if (failed) {
    const result = { errors: prepared.errors }
    if (streams) return events.serve(response, () => Promise.resolve(result))
    return sendResult(response, result, accepted.json)
  }
  if (prepared.kind === 'mutation' && method === 'GET') {
    const message = 'Mutations are sent by POST.'
    return sendRefusal(response, { status: 405, code: 'METHOD_NOT_ALLOWED', message }, { allow: 'POST' })
  }
  if (streams) return events.serve(response, prepared.run)
  if (prepared.kind === 'subscription') {
    const message = 'A subscription needs accept: text/event-stream, or a WebSocket.'
    return sendRefusal(response, { status: 406, code: 'NOT_ACCEPTABLE', message })
  }
  const result = await prepared.run()
  if (isStream(result)) throw new Error('only a subscription gives a stream')
  sendResult(response, result, accepted.json)
}

/**
 * Status by the GraphQL-over-HTTP specification: an operation that began is 200 whatever its errors; one
 * that did not is 400, but 200 for a client that asks for application/json, which cannot tell our 400 from a
 * proxy's.
 */
function sendResult(response: ServerResponse, result: ExecutionResult, type: JsonType | null): void {
  const began = result.data !== undefined
  const json = type ?? 'application/graphql-response+json'
  sendJson(response, began || json === 'application/json' ? 200 : 400, result, {
    'content-type': `${json}; charset=utf-8`,
  })
}
