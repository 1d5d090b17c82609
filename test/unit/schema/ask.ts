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

export type Stream = AsyncGenerator<ExecutionResult>

/** Begins a subscription that is not to be refused. */
export async function begin(source: string, context: GatewayContext): Promise<Stream> {
  const stream = await listen(source, context)
  if (!(Symbol.asyncIterator in stream)) throw new Error(JSON.stringify(stream))
  return stream
}

/** The next event of a stream with one field; null when it has completed. */
export async function nextEvent(
  stream: Stream,
): Promise<(Record<string, unknown> & { cursor: string }) | null> {
  const { done, value } = await stream.next()
  if (done) return null
  if (value.errors) throw new Error(JSON.stringify(value.errors))
  const [event] = Object.values(JSON.parse(JSON.stringify(value.data)))
  return event as Record<string, unknown> & { cursor: string }
}
