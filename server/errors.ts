import { GraphQLError } from 'graphql'
import type { Logger } from '../services/runtime/logger.ts'

/** An error of a request as such: a code for programs, one sentence for people. */
export const requestError = (code: string, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } })

/** The same error with `code`, unless it has one; without what yoga keeps in it for its HTTP layer. */
export function coded(error: GraphQLError, code: string): GraphQLError {
  const { http: _, ...extensions } = error.extensions
  return new GraphQLError(error.message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    originalError: error.originalError ?? null,
    extensions: { code, ...extensions },
  })
}

/**
 * Makes the function that decides what of an error a caller sees. A GraphQLError that somebody threw on
 * purpose passes. Anything else is a bug or an outage: it is logged, and the caller is told only that.
 */
export function makeMask(logger: Logger): (error: unknown) => GraphQLError {
  return (error) => {
    if (isMeantForTheCaller(error)) return error
    logger.error({ err: error instanceof GraphQLError ? error.originalError : error }, 'an operation failed')
    const seen = error instanceof GraphQLError ? error : null
    return new GraphQLError('Something failed inside the gateway; its log says what.', {
      nodes: seen?.nodes ?? null,
      path: seen?.path ?? null,
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    })
  }
}

function isMeantForTheCaller(error: unknown): error is GraphQLError {
  if (!(error instanceof GraphQLError)) return false
  return error.originalError === undefined || isMeantForTheCaller(error.originalError)
}
