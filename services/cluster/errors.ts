/**
 * What went wrong with one call to the API server. Each failure is classified once, here, from the HTTP
 * status and the machine-readable parts of the Status object; message texts differ between versions.
 *
 * - `NotFound`: the object is not there (404 with a Status object)
 * - `NotServed`: the kind is not served (404 that is no Status object)
 * - `Conflict`: a stale resourceVersion or a wrong precondition; look again, the messages do not tell which
 * - `Gone`: the resourceVersion or the continue token has expired
 * - `Unavailable`: 5xx, a time-out, the network, or an answer that makes no sense
 * - `NamespaceTerminating`: nothing can be created there any more
 */
export type KubeErrorReason =
  | 'NotFound'
  | 'NotServed'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Forbidden'
  | 'Unauthorized'
  | 'Gone'
  | 'Throttled'
  | 'Invalid'
  | 'Unavailable'
  | 'TooLarge'
  | 'NamespaceTerminating'

/** Reasons after which the same intent may succeed later (a conflict: after a fresh read). */
const RETRYABLE: ReadonlySet<KubeErrorReason> = new Set([
  'Conflict',
  'Gone',
  'Throttled',
  'Unauthorized', // tokens rotate
  'Unavailable',
])

const MESSAGE_LIMIT = 600

/** Takes bearer tokens and JSON Web Tokens out of a text that came from elsewhere, and bounds its length. */
export function redact(text: string): string {
  return text
    .slice(0, MESSAGE_LIMIT * 4)
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{4,}/gi, '$1 [redacted]')
    .replace(/\beyJ[\w-]{8,}(\.[\w-]*){0,2}/g, '[redacted]')
    .slice(0, MESSAGE_LIMIT)
}

/** A failed call to the API server. The message never contains credentials or values of an object. */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  readonly reason: KubeErrorReason
  /** HTTP status; null when there was no answer. */
  readonly status: number | null
  /** Seconds the API server asked to wait for; null when it did not. */
  readonly retryAfterSeconds: number | null
  readonly retryable: boolean

  constructor(
    reason: KubeErrorReason,
    message: string,
    details: { status?: number | null; retryAfterSeconds?: number | null; cause?: unknown } = {},
  ) {
    super(redact(message), details.cause === undefined ? undefined : { cause: details.cause })
    this.reason = reason
    this.status = details.status ?? null
    this.retryAfterSeconds = details.retryAfterSeconds ?? null
    this.retryable = RETRYABLE.has(reason)
  }

  /** The same error with what was tried in front of its message. */
  during(action: string): KubeError {
    return new KubeError(this.reason, `${action}: ${this.message}`, {
      status: this.status,
      retryAfterSeconds: this.retryAfterSeconds,
      cause: this.cause,
    })
  }
}

/** True for a KubeError, of one of `reasons` when some are given. */
export function isKubeError(error: unknown, ...reasons: KubeErrorReason[]): error is KubeError {
  return error instanceof KubeError && (reasons.length === 0 || reasons.includes(error.reason))
}

/** The parts of a `Status` object that are read. */
interface StatusBody {
  kind: 'Status'
  code?: unknown
  reason?: unknown
  message?: unknown
  details?: { retryAfterSeconds?: unknown; causes?: { reason?: unknown }[] | null } | null
}

// metav1.StatusReason → ours, for the reasons whose HTTP status alone does not decide.
const BY_STATUS_REASON: Readonly<Record<string, KubeErrorReason>> = {
  NotFound: 'NotFound',
  AlreadyExists: 'AlreadyExists',
  Conflict: 'Conflict',
  Forbidden: 'Forbidden',
  Unauthorized: 'Unauthorized',
  Gone: 'Gone',
  Expired: 'Gone',
  TooManyRequests: 'Throttled',
  RequestEntityTooLarge: 'TooLarge',
  Invalid: 'Invalid',
  BadRequest: 'Invalid',
  MethodNotAllowed: 'Invalid',
  NotAcceptable: 'Invalid',
  UnsupportedMediaType: 'Invalid',
  ServerTimeout: 'Unavailable',
  Timeout: 'Unavailable',
  InternalError: 'Unavailable',
  ServiceUnavailable: 'Unavailable',
}

function byHttpStatus(status: number): KubeErrorReason {
  switch (status) {
    case 401:
      return 'Unauthorized'
    case 403:
      return 'Forbidden'
    case 409:
      return 'Conflict'
    case 410:
      return 'Gone'
    case 413:
      return 'TooLarge'
    case 429:
      return 'Throttled'
    case 408:
      return 'Unavailable'
    default:
      return status >= 400 && status < 500 ? 'Invalid' : 'Unavailable'
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Classifies an answer that is not a success.
 *
 * @param headers with names in lower case; `retry-after` is read as seconds or as a date
 * @param bodyText the body as it came, possibly empty or no JSON
 */
export function classify(status: number, headers: Headers, bodyText: string): KubeError {
  const body = parseStatus(bodyText)
  return body ? fromStatus(body, status, headers) : withoutStatus(status, headers)
}

/** Classifies the object of an ERROR event of a watch (which arrives with HTTP status 200). */
export function classifyStatusObject(object: unknown): KubeError {
  if (!isStatus(object))
    return new KubeError('Unavailable', 'the watch sent an error that is no Status object')
  const code = typeof object.code === 'number' ? object.code : 500
  return fromStatus(object, code, {})
}

function fromStatus(body: StatusBody, status: number, headers: Headers): KubeError {
  const message = typeof body.message === 'string' && body.message !== '' ? body.message : `HTTP ${status}`
  const wanted = body.details?.retryAfterSeconds
  const retryAfterSeconds = retryAfter(headers) ?? (typeof wanted === 'number' && wanted > 0 ? wanted : null)
  return new KubeError(reasonOf(body, status), message, { status, retryAfterSeconds })
}

function reasonOf(body: StatusBody, status: number): KubeErrorReason {
  const known = typeof body.reason === 'string' ? BY_STATUS_REASON[body.reason] : undefined
  const reason = known ?? (status === 404 ? 'NotFound' : byHttpStatus(status))
  const terminating = body.details?.causes?.some((cause) => cause?.reason === 'NamespaceTerminating')
  return reason === 'Forbidden' && terminating ? 'NamespaceTerminating' : reason
}

function withoutStatus(status: number, headers: Headers): KubeError {
  const retryAfterSeconds = retryAfter(headers)
  // A proxy's page says nothing we could pass on, so the text of such a body is never used.
  if (status === 404) return new KubeError('NotServed', 'the API server does not serve this kind', { status })
  return new KubeError(byHttpStatus(status), `HTTP ${status}`, { status, retryAfterSeconds })
}

function parseStatus(text: string): StatusBody | null {
  if (!text.trimStart().startsWith('{')) return null
  try {
    const body: unknown = JSON.parse(text)
    return isStatus(body) ? body : null
  } catch {
    return null
  }
}

function isStatus(value: unknown): value is StatusBody {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'Status'
}

function retryAfter(headers: Headers): number | null {
  const raw = headers['retry-after']
  const text = (Array.isArray(raw) ? raw[0] : raw)?.trim()
  if (text === undefined || text === '') return null
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const sent = headers.date
  const from = Date.parse((Array.isArray(sent) ? sent[0] : sent) ?? '')
  const seconds = Math.ceil((Date.parse(text) - from) / 1000)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}
