import { type ExecutionResult, graphql, parse, subscribe } from 'graphql'
import type { GatewayContext } from '../../../resolvers/context.ts'
import { schema } from '../../../resolvers/index.ts'

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of the query.
  data?: any
  errors?: { message: string; path?: unknown; extensions?: object }[]
}

/** The answer as a client gets it, as plain JSON. */
export async function ask(
  source: string,
  contextValue: GatewayContext,
  variableValues: Record<string, unknown> = {},
): Promise<Answer> {
  const result = await graphql({ schema, source, contextValue, variableValues })
  return JSON.parse(JSON.stringify(result))
}

/** Begins a subscription: a stream of answers, or one answer with errors. */
export async function listen(
  source: string,
  contextValue: GatewayContext,
  variableValues: Record<string, unknown> = {},
): Promise<AsyncGenerator<ExecutionResult> | ExecutionResult> {
  const result = await subscribe({ schema, document: parse(source), contextValue, variableValues })
  return result as AsyncGenerator<ExecutionResult> | ExecutionResult
}
