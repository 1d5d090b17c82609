import type { KindDef } from './kinds.ts'
import { resourceOf } from './kinds.ts'

export interface StatusCause {
  reason: string
  message: string
  field?: string
}

/** `meta/v1 Status`: how the server says what became of a call. */
export interface StatusBody {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { continue?: string }
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: {
    name?: string
    group?: string
    kind?: string
    uid?: string
    causes?: StatusCause[]
    retryAfterSeconds?: number
  }
  /** Absent where all went well. */
  code?: number
}

/** A failure with no more than code, reason and text. */
export function failure(code: number, reason: string, message: string): StatusBody {
  const body: StatusBody = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    code,
  }
  return reason === '' ? body : { ...body, reason }
}

function about(body: StatusBody, def: KindDef, name: string, causes?: StatusCause[]): StatusBody {
  const details: NonNullable<StatusBody['details']> = { kind: def.plural }
  if (name !== '') details.name = name
  if (def.group !== '') details.group = def.group
  if (causes !== undefined) details.causes = causes
  return { ...body, details }
}

export function notFound(def: KindDef, name: string): StatusBody {
  return about(failure(404, 'NotFound', `${resourceOf(def)} "${name}" not found`), def, name)
}

export function alreadyExists(def: KindDef, name: string): StatusBody {
  return about(failure(409, 'AlreadyExists', `${resourceOf(def)} "${name}" already exists`), def, name)
}

/** A DELETE whose precondition does not hold: told by the kind, not by the resource. */
export function unmetPrecondition(def: KindDef, name: string, why: string): StatusBody {
  const message = `Operation cannot be fulfilled on ${qualifiedKind(def)} "${name}": ${why}`
  const body = about(failure(409, 'Conflict', message), def, name)
  return { ...body, details: { ...body.details, kind: def.kind } }
}

export function conflict(def: KindDef, name: string, why: string): StatusBody {
  const message = `Operation cannot be fulfilled on ${resourceOf(def)} "${name}": ${why}`
  return about(failure(409, 'Conflict', message), def, name)
}

export function staleVersion(def: KindDef, name: string): StatusBody {
  const why = 'the object has been modified; please apply your changes to the latest version and try again'
  return conflict(def, name, why)
}

export function forbidden(def: KindDef, name: string, why: string, causes?: StatusCause[]): StatusBody {
  const what = name === '' ? resourceOf(def) : `${resourceOf(def)} "${name}"`
  return about(failure(403, 'Forbidden', `${what} is forbidden: ${why}`), def, name, causes)
}

/** 422: the causes are what is wrong, field by field. */
export function invalid(def: KindDef, name: string, causes: StatusCause[]): StatusBody {
  const texts = causes.map((cause) => `${cause.field}: ${cause.message}`)
  const told = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const message = `${qualifiedKind(def)} "${name}" is invalid: ${told}`
  const body = about(failure(422, 'Invalid', message), def, name, causes)
  return { ...body, details: { ...body.details, kind: def.kind } }
}

/** 422 for a write without the version it needs: told by the resource, not by the kind. */
export function versionRequired(def: KindDef, name: string): StatusBody {
  const message = 'Invalid value: 0: must be specified for an update'
  const field = 'metadata.resourceVersion'
  const told = `${resourceOf(def)} "${name}" is invalid: ${field}: ${message}`
  return about(failure(422, 'Invalid', told), def, name, [{ reason: 'FieldValueInvalid', message, field }])
}

/** 422 for a patch whose result cannot be read as an object of its kind. */
export function unreadablePatch(why: string): StatusBody {
  const message = `Invalid value: ${why}`
  const causes = [{ reason: 'FieldValueInvalid', message, field: 'patch' }]
  return { ...failure(422, 'Invalid', ` "" is invalid: patch: ${message}`), details: { causes } }
}

export function badRequest(message: string): StatusBody {
  return failure(400, 'BadRequest', message)
}

export function expired(message: string): StatusBody {
  return failure(410, 'Expired', message)
}

export function methodNotAllowed(): StatusBody {
  const message = 'the server does not allow this method on the requested resource'
  return { ...failure(405, 'MethodNotAllowed', message), details: {} }
}

/** A path inside a built-in group that nothing is served at. */
export const noSuchResource: StatusBody = {
  ...failure(404, 'NotFound', 'the server could not find the requested resource'),
  details: {},
}

export function unsupportedMediaType(accepted: string[]): StatusBody {
  const told = accepted.join(', ')
  const message = `the body of the request was in an unknown format - accepted media types include: ${told}`
  return failure(415, 'UnsupportedMediaType', message)
}

export function notAcceptable(message: string): StatusBody {
  return failure(406, 'NotAcceptable', message)
}

export const unauthorized: StatusBody = failure(401, 'Unauthorized', 'Unauthorized')

/** What a DELETE answers when the object is gone. */
export function deletedStatus(def: KindDef, name: string, uid: string | undefined): StatusBody {
  const body: StatusBody = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }
  const full = about(body, def, name)
  if (uid !== undefined) full.details = { ...full.details, uid }
  return full
}

/** A list or watch that asks for a version which has not been given out yet. */
export function tooLargeVersion(asked: number, current: number): StatusBody {
  const body = failure(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`)
  const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }
  return { ...body, details: { causes: [cause], retryAfterSeconds: 1 } }
}

function qualifiedKind(def: KindDef): string {
  return def.group === '' ? def.kind : `${def.kind}.${def.group}`
}
