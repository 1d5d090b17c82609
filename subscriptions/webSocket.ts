import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql'
import { handleProtocols, makeServer, type Server } from 'graphql-ws'
import { WebSocketServer } from 'ws'
import type { Actor } from '../services/auth/actor.ts'
import type { Clock } from '../services/runtime/clock.ts'
import type { Logger } from '../services/runtime/logger.ts'
import type { Operations, ResultStream } from './operation.ts'
import { CLOSE, Connection, type ConnectionLimits, type SocketExtra } from './socketConnection.ts'

export interface WebSocketsOptions extends ConnectionLimits {
  operations: Operations
  clock: Clock
  logger: Logger
  /** Operations that one socket may have open. */
  maxOperations?: number
  /** Longest message of a client, in bytes. */
  maxPayload?: number
  /** Milliseconds a client has for its `connection_init`. */
  initTimeoutMs?: number
}

interface RunnableArgs extends ExecutionArgs {
  run: () => Promise<ExecutionResult | ResultStream>
}

const refusal = (code: string, message: string) => [new GraphQLError(message, { extensions: { code } })]

/** GraphQL over WebSocket (`graphql-transport-ws`) for queries and subscriptions. */
export class WebSockets {
  readonly #options: WebSocketsOptions
  readonly #protocol: Server<SocketExtra>
  readonly #server: WebSocketServer
  readonly #open = new Set<Connection>()

  constructor(options: WebSocketsOptions) {
    this.#options = options
    this.#protocol = makeProtocol(options)
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: options.maxPayload ?? 256 * 1024,
      perMessageDeflate: false,
      handleProtocols,
    })
  }

  /** Sockets that are open right now. */
  get size(): number {
    return this.#open.size
  }

  /** Takes over a connection whose Host, Origin and caller have been checked. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, actor: Actor): void {
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const extra: SocketExtra = { actor, request, aborts: new Map() }
      const connection = new Connection(webSocket, this.#protocol, extra, this.#options)
      this.#open.add(connection)
      webSocket.on('close', () => this.#open.delete(connection))
    })
  }

  /** Closes every socket with 1001 and waits until they are closed; those that do not answer are cut off. */
  async stop(): Promise<void> {
    await Promise.all([...this.#open].map((one) => one.end(CLOSE.stopping, 'The gateway is stopping')))
  }

  /** Cuts all sockets off at once. */
  kill(): void {
    for (const connection of this.#open) connection.terminate()
  }
}

function makeProtocol({ operations, logger, maxOperations = 100, initTimeoutMs = 5_000 }: WebSocketsOptions) {
  return makeServer<Record<string, unknown>, SocketExtra>({
    connectionInitWaitTimeout: initTimeoutMs,

    // Whatever is thrown here would close the whole socket with 4500, so nothing is.
    onSubscribe(context, id, payload) {
      const { actor, request, aborts } = context.extra
      if (Object.keys(context.subscriptions).length > maxOperations) {
        const message = `This socket has ${maxOperations} operations open, which is the limit.`
        return refusal('TOO_MANY_OPERATIONS', message)
      }
      const abort = new AbortController()
      const prepared = operations.prepare(payload, {
        actor,
        headers: request.headers,
        signal: abort.signal,
        lastEventId: null,
      })
      if ('errors' in prepared) return prepared.errors
      if (prepared.kind === 'mutation') {
        return refusal('METHOD_NOT_ALLOWED', 'Mutations are sent by POST, not over a WebSocket.')
      }
      aborts.set(id, abort)
      const { schema, document, run } = prepared
      const args: RunnableArgs = { schema, document, contextValue: null, rootValue: null, run }
      if (payload.operationName) args.operationName = payload.operationName
      return args
    },

    execute: (args) => (args as RunnableArgs).run(),
    subscribe: (args) => (args as RunnableArgs).run(),

    onOperation(context, id, _payload, _args, result) {
      const abort = context.extra.aborts.get(id)
      return abort && Symbol.asyncIterator in result ? aborting(result as ResultStream, abort) : undefined
    },

    // A source that has failed: graphql-ws has wrapped the error, whose own message is not for the caller.
    onError: (_context, _id, _payload, errors) =>
      errors.map((error) => operations.mask(error.originalError ?? error).toJSON()),

    onComplete(context, id) {
      context.extra.aborts.delete(id)
    },

    onClose(context, code, reason) {
      for (const abort of context.extra.aborts.values()) abort.abort()
      logger.debug({ code, reason }, 'a WebSocket is closed')
    },
  })
}

/** The same stream, but stopping it also aborts what its resolver may be waiting for. */
function aborting(stream: ResultStream, abort: AbortController): ResultStream {
  return {
    next: () => stream.next(),
    return: (value?: unknown) => {
      abort.abort()
      return stream.return?.(value) ?? Promise.resolve({ done: true, value: undefined })
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
