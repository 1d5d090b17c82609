import { createReadStream, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { GATEWAY_USER } from './access.ts'

/** As the API server writes it, as far as it is looked at here. */
export type AuditEvent = {
  stage: string
  verb: string
  requestURI: string
  user: { username: string }
  userAgent?: string
  objectRef?: { resource: string; namespace?: string; name?: string; apiGroup?: string; subresource?: string }
  responseStatus?: { code: number }
}

/** Where the log ends now, for `requestsSince`. */
export const auditPosition = (log: string): number => statSync(log).size

/** The gateways' own requests that were answered after that position; those of the helm they run are left out. */
export async function requestsSince(log: string, position: number): Promise<AuditEvent[]> {
  const found: AuditEvent[] = []
  for await (const line of createInterface({ input: createReadStream(log, { start: position }) })) {
    if (!line.includes(GATEWAY_USER)) continue
    const event = JSON.parse(line) as AuditEvent
    if (event.user.username === GATEWAY_USER && event.userAgent?.startsWith('swiss-gateway/'))
      found.push(event)
  }
  return found
}
