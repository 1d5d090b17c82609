import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** Why a request is not answered: a status for HTTP, a code for programs, one sentence for people. */
export interface Refusal {
  status: number
  code: string
  message: string
}

/** Sends a value as JSON. Does nothing when the client has left or has been answered. */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  if (response.headersSent || response.destroyed) return
  const body = Buffer.from(JSON.stringify(value))
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...headers,
  })
  response.end(body)
}

/** The body of a refusal: the shape of a GraphQL error, also where no GraphQL is involved. */
export const refusalBody = ({ code, message }: Refusal): object => ({
  errors: [{ message, extensions: { code } }],
})

export function sendRefusal(
  response: ServerResponse,
  refusal: Refusal,
  headers: OutgoingHttpHeaders = {},
): void {
  sendJson(response, refusal.status, refusalBody(refusal), headers)
}
