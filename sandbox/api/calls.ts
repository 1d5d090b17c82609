import type { IncomingMessage, ServerResponse } from 'node:http'
import type { KindDef } from './kinds.ts'
import type { ResourcePath } from './paths.ts'
import type { Identity } from './reviews.ts'
import type { StatusBody } from './status.ts'
import { failure, forbidden } from './status.ts'
import type { Fault } from './types.ts'

/** One call for a resource, as it goes through the handlers. */
export interface Call {
  request: IncomingMessage
  response: ServerResponse
  verb: string
  def: KindDef
  path: ResourcePath
  params: URLSearchParams
  /** The JSON body, undefined when there is none. */
  body: unknown
  contentType: string
  /** The object's name: of the path, of the body for a create, of the field selector for a list or watch. */
  name: string
  identity: Identity
  userAgent: string
  token: string
}

const reasons: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

/** The Status a fault answers with. */
export function faultStatus(fault: Fault, call: Call): StatusBody {
  const code = fault.status ?? 500
  const reason = fault.reason ?? reasons[code] ?? ''
  if (code === 403 && fault.message === undefined) {
    const refused = forbidden(call.def, call.path.name, forbiddenWhy(call))
    return { ...refused, reason }
  }
  const body = failure(code, reason, fault.message ?? `${call.verb} ${call.def.plural}: ${reason}`)
  if (code === 401) return { ...body, message: fault.message ?? 'Unauthorized' }
  const details: NonNullable<StatusBody['details']> = { kind: call.def.plural }
  if (call.name !== '') details.name = call.name
  if (call.def.group !== '') details.group = call.def.group
  if (fault.retryAfter !== undefined) details.retryAfterSeconds = fault.retryAfter
  return { ...body, details }
}

/** In the words of RBAC: who may not do what, and where. */
function forbiddenWhy(call: Call): string {
  const { def, path, verb, identity } = call
  const resource = path.subresource === '' ? def.plural : `${def.plural}/${path.subresource}`
  const where = path.namespace === '' ? 'at the cluster scope' : `in the namespace "${path.namespace}"`
  return `User "${identity.user}" cannot ${verb} resource "${resource}" in API group "${def.group}" ${where}`
}
