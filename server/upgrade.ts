import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { checkDoor, type DoorPolicy } from './guard.ts'
import { type Refusal, refusalBody } from './respond.ts'
import { isGraphql, notFound, urlOf } from './target.ts'

/** Whether a connection may become a WebSocket; null when it may. */
export function checkUpgrade(
  request: IncomingMessage,
  policy: DoorPolicy,
  stopping: boolean,
): Refusal | null {
  const refused = checkDoor(request.headers, policy)
  if (refused) return refused
  const path = urlOf(request).pathname
  if (!isGraphql(path)) return notFound(path)
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
    return { status: 400, code: 'BAD_REQUEST', message: 'The only upgrade is to a WebSocket.' }
  }
  if (stopping) return { status: 503, code: 'STOPPING', message: 'The gateway is stopping.' }
  return null
}

/** Answers as plain HTTP, by hand: for an upgrade there is no response object. */
export function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  const body = JSON.stringify(refusalBody(refusal))
  const lines = [
    `HTTP/1.1 ${refusal.status} Refused`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ]
  socket.end(lines.join('\r\n'))
}
