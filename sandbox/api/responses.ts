import type { ServerResponse } from 'node:http'
import type { StatusBody } from './status.ts'
import { badRequest } from './status.ts'

/** An answer that is ready to be sent. */
export interface Reply {
  code: number
  headers: Record<string, string>
  text: string
}

/** A JSON text. */
export function jsonReply(code: number, text: string, contentType = 'application/json'): Reply {
  return { code, headers: { 'Content-Type': contentType, 'Cache-Control': 'no-cache, private' }, text }
}

/** A Status, under its own code. `retryAfter` is in seconds. */
export function statusReply(status: StatusBody, retryAfter?: number): Reply {
  const reply = jsonReply(status.code ?? 200, JSON.stringify(status))
  const seconds = retryAfter ?? status.details?.retryAfterSeconds
  if (seconds !== undefined) reply.headers['Retry-After'] = String(seconds)
  return reply
}

/** A body that is no JSON. */
export function notJson(problem: string): Reply {
  return statusReply(badRequest(`the body of the request is no JSON: ${problem}`))
}

/** A plain text, as the API server answers health checks. */
export function textReply(code: number, text: string): Reply {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }
  return { code, headers, text }
}

/** A path that nothing is served at: no Status, unlike an object that is not there. */
export const pageNotFound: Reply = textReply(404, '404 page not found\n')

/** A body over the limit: the code and nothing else. */
export const tooLarge: Reply = { code: 413, headers: {}, text: '' }

/** Sends an answer whole. */
export function send(response: ServerResponse, reply: Reply): void {
  const length = String(Buffer.byteLength(reply.text))
  response.writeHead(reply.code, { ...reply.headers, 'Content-Length': length })
  response.end(reply.text)
}
