import type { IncomingMessage } from 'node:http'
import type { Server } from 'graphql-ws'
import type { WebSocket } from 'ws'
import type { Actor } from '../services/auth/actor.ts'
import type { Clock } from '../services/runtime/clock.ts'
import type { Logger } from '../services/runtime/logger.ts'

/** Close codes of our own choice; the rest are graphql-ws's (44xx) and the protocol's. */
export const CLOSE = {
  /** The gateway is stopping. Clients come back. */
  stopping: 1001,
  /** The client does not read what it asked for. Clients come back, and get a RESYNC if need be. */
  slowReader: 1013,
  /** A bug: the message that was handled is in the log. */
  failed: 1011,
} as const

export interface ConnectionLimits {
  /** Milliseconds from one ping to the next; a socket that has not answered by then is ended. */
  keepAliveMs?: number
  /** Bytes that may wait for a client that does not read. */
  maxBufferedBytes?: number
}

interface ConnectionOptions extends ConnectionLimits {
  clock: Clock
  logger: Logger
}

const KEEP_ALIVE_MS = 12_000
/** How long a socket that is being closed may take to answer. */
const CLOSING_MS = 2_000

/** What is known of a socket. */
export interface SocketExtra {
  actor: Actor
  request: IncomingMessage
  /** One per open operation, by its id. */
  aborts: Map<string, AbortController>
}

/** One socket: what graphql-ws needs of it, keep-alive, and an end that frees everything at once. */
export class Connection {
  readonly #socket: WebSocket
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #keepAliveMs: number
  readonly #maxBufferedBytes: number
  readonly #closed: Promise<void>
  /** Tells graphql-ws that the socket is gone: it stops all operations. Only the first call counts. */
  readonly #release: (code: number, reason: string) => void
  #awaitsPong = false
  #cancelTimer = () => {}

  constructor(
    socket: WebSocket,
    protocol: Server<SocketExtra>,
    extra: SocketExtra,
    { clock, logger, keepAliveMs = KEEP_ALIVE_MS, maxBufferedBytes = 1024 * 1024 }: ConnectionOptions,
  ) {
    this.#socket = socket
    this.#clock = clock
    this.#logger = logger
    this.#keepAliveMs = keepAliveMs
    this.#maxBufferedBytes = maxBufferedBytes

    let handle: (message: string) => Promise<void> = () => Promise.resolve()
    const opened = protocol.opened(
      {
        protocol: socket.protocol,
        send: (data) => this.#send(data),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (callback) => {
          handle = callback
        },
      },
      extra,
    )
    let released = false
    this.#release = (code, reason) => {
      if (released) return
      released = true
      opened(code, reason).catch((error: unknown) => this.#failed(error))
    }
    socket.on('message', (data) => {
      // A client may go on talking until it has seen the close; nothing new is begun for it.
      if (released) return
      handle(String(data)).catch((error: unknown) => {
        this.#failed(error)
        socket.close(CLOSE.failed, 'Internal error')
      })
    })
    socket.on('pong', () => {
      this.#awaitsPong = false
    })
    // ws closes the socket itself, with 1009 for a message that is too long, say.
    socket.on('error', (error) => logger.debug({ err: error }, 'a WebSocket client broke the protocol'))
    this.#closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        this.#cancelTimer()
        this.#release(code, String(reason))
        resolve()
      })
    })
    this.#armKeepAlive()
  }

  /** Closes with a code and a reason; what the socket had open is freed now, not when the client answers. */
  end(code: number, reason: string): Promise<void> {
    this.#close(code, reason)
    return this.#closed
  }

  #close(code: number, reason: string): void {
    this.#cancelTimer()
    this.#socket.close(code, reason)
    this.#release(code, reason)
    this.#cancelTimer = this.#clock.setTimer(CLOSING_MS, () => this.#socket.terminate())
  }

  terminate(): void {
    this.#socket.terminate()
  }

  /**
   * Settles when the message has been handed to the network, so that an operation never has more than one
   * on its way. graphql-ws waits for it, and the stream behind it holds no events, only a position.
   */
  #send(data: string): Promise<void> {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return Promise.resolve()
    if (socket.bufferedAmount > this.#maxBufferedBytes) {
      this.#endSlowReader()
      return Promise.resolve()
    }
    return new Promise((resolve) => socket.send(data, () => resolve()))
  }

  #armKeepAlive(): void {
    this.#cancelTimer = this.#clock.setTimer(this.#keepAliveMs, () => {
      if (this.#awaitsPong) {
        // With bytes still waiting it is there but does not read; otherwise nobody is there any more.
        return this.#socket.bufferedAmount > 0 ? this.#endSlowReader() : this.#socket.terminate()
      }
      this.#awaitsPong = true
      this.#socket.ping()
      this.#armKeepAlive()
    })
  }

  #endSlowReader(): void {
    this.#logger.warn(
      { bufferedBytes: this.#socket.bufferedAmount },
      'a WebSocket client does not read; closing',
    )
    this.#close(CLOSE.slowReader, 'Slow reader: the client does not read what it asked for')
  }

  #failed(error: unknown): void {
    this.#logger.error({ err: error }, 'handling a WebSocket message failed')
  }
}
