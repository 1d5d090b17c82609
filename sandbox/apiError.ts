/** An answer of the API server that is no success. `reason` is empty when the answer was no Status object. */
export class ApiError extends Error {
  readonly status: number
  readonly reason: string
  /** Seconds to wait, when the server said so. */
  readonly retryAfter: number | undefined

  constructor(status: number, reason: string, message: string, retryAfter?: number) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.reason = reason
    this.retryAfter = retryAfter
  }
}

/** True for "no object of that name"; false for "this kind is not served", which has no Status. */
export const isNotFound = (error: unknown) =>
  error instanceof ApiError && error.status === 404 && error.reason === 'NotFound'

/** A precondition that did not hold, or a name that is taken: look again. */
export const isConflict = (error: unknown) => error instanceof ApiError && error.status === 409

/** The error behind an answer's status and text. */
export function errorOf(status: number, text: string, retryAfter: string | undefined): ApiError {
  const seconds = retryAfter === undefined ? undefined : Number(retryAfter)
  try {
    return statusError(status, JSON.parse(text), seconds)
  } catch {
    return new ApiError(status, '', text.trim() || `the server answered ${status}`, seconds)
  }
}

/** The error behind a Status object. */
export function statusError(status: number, body: Record<string, unknown>, retryAfter?: number): ApiError {
  if (body.kind !== 'Status') return new ApiError(status, '', `the server answered ${status}`, retryAfter)
  return new ApiError(status, String(body.reason ?? ''), String(body.message ?? ''), retryAfter)
}
