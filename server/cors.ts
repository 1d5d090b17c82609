import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DoorPolicy } from './guard.ts'

/** Lets the browser hand our answer to a page of an origin that was allowed by name. True if it is one. */
export function allowOrigin(request: IncomingMessage, response: ServerResponse, policy: DoorPolicy): boolean {
  const origin = request.headers.origin
  if (origin === undefined || !policy.allowedOrigins.has(origin.toLowerCase())) return false
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('vary', 'origin')
  return true
}

/** Answers a browser that asks whether such a page may send a request. */
export function answerPreflight(response: ServerResponse, allowed: boolean): void {
  const headers = {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'content-type, last-event-id',
    'access-control-max-age': '600',
  }
  response.writeHead(204, { allow: 'GET, POST, OPTIONS', ...(allowed ? headers : {}) }).end()
}
