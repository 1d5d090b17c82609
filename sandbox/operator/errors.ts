import { ApiError, isConflict, isNotFound } from '../apiError.ts'

/** What was read no longer holds: look again. */
export class Stale extends Error {
  constructor(what: string) {
    super(`${what} has changed meanwhile`)
    this.name = 'Stale'
  }
}

/** True for everything that another look will settle: another writer, or an object that has gone. */
export const isStale = (error: unknown) => error instanceof Stale || isConflict(error) || isNotFound(error)

/** An object that the release needs the name of belongs to somebody else. */
export class Foreign extends Error {}

/** True when an object is refused for what it is: trying again with the same is of no use. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof Foreign || (error instanceof ApiError && [400, 403, 422].includes(error.status))
