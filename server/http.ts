import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { GraphQLSchema } from 'graphql'
import type { Actor } from '../services/auth/actor.ts'
import type { Clock } from '../services/runtime/clock.ts'
import type { Logger } from '../services/runtime/logger.ts'
import { EventStreams } from '../subscriptions/sse.ts'
import { WebSockets, type WebSocketsOptions } from '../subscriptions/webSocket.ts'
import { readAccept } from './accept.ts'
import { systemClock } from './clock.ts'
import { allowOrigin, answerPreflight } from './cors.ts'
import { GraphiqlPage } from './graphiql.ts'
import { serveGraphql } from './graphqlRoute.ts'
import { checkDoor, type DoorPolicy, namesOf } from './guard.ts'
import { makePipeline, type RequestInfo } from './pipeline.ts'
import { sendJson, sendRefusal } from './respond.ts'
import { GRAPHQL, isGraphql, notFound, urlOf } from './target.ts'
import { checkUpgrade, refuseUpgrade } from './upgrade.ts'

export interface Health {
  /** False when only a restart helps. */
  live: boolean
  /** True once reads are answered. */
  ready: boolean
  /** What `/readyz` shows: each cache, say. */
  report: object
}

export interface HttpServerOptions {
  schema: GraphQLSchema
  /** Makes the context of one operation. `info.lastEventId` belongs in it, for the subscriptions. */
  contextFor: (actor: Actor, info: RequestInfo) => object
  /** Who asks; the one place where a caller becomes an actor. */
  authenticate: (headers: IncomingHttpHeaders) => Actor
  health: () => Health
  logger: Logger
  host: string
  /** 0 picks a free one. */
  port: number
  graphiql: boolean
  allowedHosts?: readonly string[]
  allowedOrigins?: readonly string[]
  /**
   * Time of heartbeats and pings: the network's, hence the machine's, unless a test of these says otherwise.
   * A test that jumps its gateway's clock must leave this alone, or clients seem to be silent for hours.
   */
  clock?: Clock
  sockets?: Pick<WebSocketsOptions, 'keepAliveMs' | 'maxOperations' | 'maxBufferedBytes' | 'initTimeoutMs'>
}

export interface HttpServer {
  port: number
  /** Where GraphQL is answered: `http://127.0.0.1:4000/graphql`. */
  url: string
  /** Open WebSockets and SSE streams, for tests and metrics. */
  open: () => { sockets: number; eventStreams: number }
  /** Takes nothing new, closes WebSockets with 1001, ends SSE streams, and gives requests in flight 5 s. */
  stop(): Promise<void>
  /** Cuts all connections off at once, as a crash would. */
  kill(): void
}

/** What requests in flight are given to end when the server stops; their signals abort at once. */
const IN_FLIGHT_MS = 5_000

/**
 * Starts the HTTP side of the gateway: GraphQL over HTTP, SSE and WebSocket at `/graphql`, GraphiQL there for
 * browsers, `/healthz` and `/readyz`. Rejects with the error of `listen` (EADDRINUSE and the like).
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, logger, authenticate, clock = systemClock } = options
  const operations = makePipeline(options)
  const events = new EventStreams({ clock, logger, mask: operations.mask })
  const sockets = new WebSockets({ ...options.sockets, operations, clock, logger })
  const graphiql = options.graphiql ? new GraphiqlPage() : null
  const inFlight = new Set<AbortController>()
  const policy: DoorPolicy = {
    names: namesOf(host),
    port: options.port,
    allowedHosts: new Set(options.allowedHosts?.map((one) => one.toLowerCase())),
    allowedOrigins: new Set(options.allowedOrigins?.map((one) => one.toLowerCase())),
  }
  let stopping = false

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (stopping) response.shouldKeepAlive = false
    const refused = checkDoor(request.headers, policy)
    if (refused) return sendRefusal(response, refused)
    const origin = allowOrigin(request, response, policy)
    if (request.method === 'OPTIONS') return answerPreflight(response, origin)

    const url = urlOf(request)
    if (isGraphql(url.pathname)) {
      const shown = request.method === 'GET' || request.method === 'HEAD'
      if (graphiql && shown && readAccept(request.headers.accept).html)
        return graphiql.serve(request, response)
      return answerGraphql(request, response, url)
    }
    const page = pages[url.pathname]
    if (!page) return sendRefusal(response, notFound(url.pathname))
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const message = `${url.pathname} is answered to GET only.`
      return sendRefusal(
        response,
        { status: 405, code: 'METHOD_NOT_ALLOWED', message },
        { allow: 'GET, HEAD' },
      )
    }
    page(response)
  }

  async function answerGraphql(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const abort = new AbortController()
    inFlight.add(abort)
    response.on('close', () => {
      abort.abort()
      inFlight.delete(abort)
    })
    const caller = { actor: authenticate(request.headers), signal: abort.signal }
    await serveGraphql(request, response, url, caller, { operations, events })
  }

  const pages: Record<string, (response: ServerResponse) => void> = {
    '/': (response) => {
      response.writeHead(302, { location: GRAPHQL }).end()
    },
    '/healthz': (response) => {
      const { live } = options.health()
      sendJson(response, live ? 200 : 503, { live })
    },
    '/readyz': (response) => {
      const { ready, report } = options.health()
      const open = ready && !stopping
      sendJson(response, open ? 200 : 503, { ready: open, ...report })
    },
  }

  const server = createServer((request, response) => {
    answer(request, response)
      .catch((error: unknown) => {
        if (request.destroyed && !request.complete) return logger.debug({ err: error }, 'a client left early')
        logger.error({ err: error }, 'answering a request failed')
        const message = 'Something failed inside the gateway; its log says what.'
        sendRefusal(response, { status: 500, code: 'INTERNAL_SERVER_ERROR', message })
      })
      .finally(() => {
        if (stopping) setImmediate(() => server.closeIdleConnections())
      })
  })
  // Time for the request to arrive; answers and streams may take as long as they like.
  server.headersTimeout = 10_000
  server.requestTimeout = 30_000

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', (error) => logger.debug({ err: error }, 'a client left during its upgrade'))
    const refused = checkUpgrade(request, policy, stopping)
    if (refused) return refuseUpgrade(socket, refused)
    try {
      sockets.upgrade(request, socket, head, authenticate(request.headers))
    } catch (error) {
      logger.error({ err: error }, 'an upgrade failed')
      socket.destroy()
    }
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  policy.port = port

  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${GRAPHQL}`,
    open: () => ({ sockets: sockets.size, eventStreams: events.size }),
    async stop() {
      stopping = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      events.stop()
      for (const abort of inFlight) abort.abort()
      await sockets.stop()
      server.closeIdleConnections()
      const cancel = systemClock.setTimer(IN_FLIGHT_MS, () => server.closeAllConnections())
      await closed
      cancel()
    },
    kill() {
      stopping = true
      server.close()
      sockets.kill()
      server.closeAllConnections()
    },
  }
}
