import type { IncomingHttpHeaders } from 'node:http'
import type { DocumentNode, ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql'
import type { Actor } from '../services/auth/actor.ts'

/** A GraphQL request as a client sends it, over whichever transport. */
export interface OperationParams {
  query: string
  operationName?: string | null | undefined
  variables?: Record<string, unknown> | null | undefined
}

/** Who asks, and how. */
export interface Caller {
  actor: Actor
  headers: IncomingHttpHeaders
  /** Aborts when the caller has left, has stopped the operation, or the server is stopping. */
  signal: AbortSignal
  /** `Last-Event-ID` of an SSE client that comes back. */
  lastEventId: string | null
}

/** A stream of results. `return()` ends it at once, whatever its source is busy with. */
export type ResultStream = AsyncIterableIterator<ExecutionResult>

/** A document that has been parsed and found valid. */
export interface PreparedOperation {
  kind: 'query' | 'mutation' | 'subscription'
  schema: GraphQLSchema
  document: DocumentNode
  /** Never rejects. A stream may, with an error that is fit for the caller. */
  run(): Promise<ExecutionResult | ResultStream>
}

/** The one pipeline behind all transports: parse, validate, context, execute, with masked errors. */
export interface Operations {
  /** Never throws. `signal` and the like of the caller reach the context of the resolvers. */
  prepare(params: OperationParams, caller: Caller): PreparedOperation | { errors: readonly GraphQLError[] }
  /** An error as a caller may see it: one that says nothing of the inside; what it hides is logged. */
  mask(error: unknown): GraphQLError
}

/** True for a stream of results, false for a single one. */
export const isStream = (result: ExecutionResult | ResultStream): result is ResultStream =>
  Symbol.asyncIterator in result
