import {
  type ExecutionResult,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql'
import { createYoga, isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Actor } from '../services/auth/actor.ts'
import type { Logger } from '../services/runtime/logger.ts'
import type {
  Caller,
  OperationParams,
  Operations,
  PreparedOperation,
  ResultStream,
} from '../subscriptions/operation.ts'
import { makeSubscribe } from '../subscriptions/subscribe.ts'
import { coded, makeMask, requestError } from './errors.ts'
import { DocumentCache, DocumentSizeRule, PARSE_LIMITS } from './limits.ts'

/** What is known of a request beside its actor. */
export type RequestInfo = Omit<Caller, 'actor'>

export interface PipelineOptions {
  schema: GraphQLSchema
  /** Makes the context of one operation. */
  contextFor: (actor: Actor, info: RequestInfo) => object
  logger: Logger
}

/**
 * The pipeline behind HTTP, SSE and WebSocket. It is yoga's (caches of parsed and validated documents,
 * masked errors, plug-ins), without yoga's HTTP layer: three transports share it, two of which yoga does not
 * have in the form we need, and a request that goes straight to it costs a fraction.
 */
export function makePipeline({ schema, contextFor, logger }: PipelineOptions): Operations {
  const mask = makeMask(logger)
  const yoga = createYoga({
    schema,
    logging: false,
    graphiql: false,
    landingPage: false,
    maskedErrors: { maskError: mask },
    // Errors are not kept: a client can send any number of broken documents.
    parserAndValidationCache: {
      documentCache: new DocumentCache(),
      errorCache: { get: () => undefined, set: () => {} },
    },
    plugins: [limits, executor(logger)],
  })

  return {
    mask,
    prepare(params: OperationParams, { actor, ...info }: Caller) {
      try {
        const enveloped = yoga.getEnveloped({ ...contextFor(actor, info) })
        const document = enveloped.parse(params.query, PARSE_LIMITS)
        const errors: readonly GraphQLError[] = enveloped.validate(enveloped.schema, document)
        if (errors.length > 0)
          return { errors: errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED')) }
        const operation = getOperationAST(document, params.operationName)
        if (!operation) return { errors: [unknownOperation(params.operationName)] }

        const run: PreparedOperation['run'] = async () => {
          try {
            const args = {
              schema: enveloped.schema,
              document,
              contextValue: await enveloped.contextFactory(),
              variableValues: params.variables ?? {},
              operationName: params.operationName,
            }
            const streams = operation.operation === 'subscription'
            const result: ExecutionResult | ResultStream = await (streams
              ? enveloped.subscribe(args)
              : enveloped.execute(args))
            return isAsyncIterable(result) ? result : withCodes(result)
          } catch (error) {
            return { errors: [mask(error)] }
          }
        }
        return { kind: operation.operation, schema: enveloped.schema, document, run }
      } catch (error) {
        return { errors: [coded(mask(error), 'GRAPHQL_PARSE_FAILED')] }
      }
    },
  }
}

const limits: Plugin = {
  onValidate: ({ addValidationRule }) => addValidationRule(DocumentSizeRule),
}

/** graphql-js for everything, with our own subscribe step. */
function executor(logger: Logger): Plugin {
  const subscribe = makeSubscribe(logger)
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe),
  }
}

/** An operation that did not even begin has errors without a code: its variables do not fit. */
function withCodes(result: ExecutionResult): ExecutionResult {
  if (!result.errors || result.data !== undefined) return result
  return { ...result, errors: result.errors.map((error) => coded(error, 'BAD_USER_INPUT')) }
}

function unknownOperation(name: string | null | undefined): GraphQLError {
  const message = name
    ? `The document has no operation named ${JSON.stringify(name)}.`
    : 'The document does not have exactly one operation; say which one with operationName.'
  return requestError('OPERATION_RESOLUTION_FAILURE', message)
}
