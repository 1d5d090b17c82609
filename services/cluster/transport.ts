import { setMaxListeners } from 'node:events'
import type { Readable } from 'node:stream'
import type { Clock } from '../runtime/clock.ts'
import { parseJson, printJson } from '../runtime/json.ts'
import { ClockOffset } from './clockOffset.ts'
import type { Connection } from './connectionTypes.ts'
import { classify, KubeError } from './errors.ts'

export interface TransportOptions {
  connection: Connection
  clock: Clock
  userAgent: string
  /** Milliseconds until the headers (a watch) or the whole answer (all else) must have come. Default 30,000. */
  requestTimeoutMs?: number
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Send {
  method: Method
  /** Path with query, below the server's base path. */
  path: string
  accept: string
  body?: unknown
  contentType?: string
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
}

/** An answer whose headers have come and whose body is being read by the caller. */
export interface OpenAnswer {
  body: Readable
  /** Cuts the connection. */
  abort(reason: Error): void
  /** To be called once the body has ended, however that was. */
  done(): void
}

/**
 * One HTTP exchange with the API server: authentication, time-outs on the passed-in clock, classification of
 * what fails, and the counters. It never tries anything twice.
 */
export class Transport {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #userAgent: string
  readonly #timeoutMs: number
  readonly #basePath: string
  readonly #origin: string
  readonly #offset = new ClockOffset()
  readonly #open = new Set<AbortController>()
  readonly #killed = new AbortController()
  #inFlight = 0
  #calls = 0

  constructor(options: TransportOptions) {
    this.#connection = options.connection
    this.#clock = options.clock
    this.#userAgent = options.userAgent
    this.#timeoutMs = options.requestTimeoutMs ?? 30_000
    // One listener per reflector and held lease: many, and each is taken off again.
    setMaxListeners(0, this.#killed.signal)
    const server = new URL(options.connection.server)
    this.#origin = server.origin
    this.#basePath = server.pathname.replace(/\/+$/, '')
  }

  /** Requests not answered yet. A watch counts while it is being opened. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Requests sent so far. */
  get calls(): number {
    return this.#calls
  }

  get clockOffsetMs(): number {
    return this.#offset.ms
  }

  /** Aborts with `kill()`. */
  get killed(): AbortSignal {
    return this.#killed.signal
  }

  /** Cuts every exchange and refuses all later ones: what a crash looks like from outside. */
  kill(): void {
    const reason = killedError()
    this.#killed.abort(reason)
    for (const controller of this.#open) controller.abort(reason)
  }

  /**
   * Sends a request and reads the whole answer as JSON.
   *
   * @throws KubeError for every answer but 2xx, and for none
   */
  async json(send: Send): Promise<unknown> {
    this.#inFlight++
    try {
      return await this.#exchange(send, async (answer) => {
        const text = await readText(answer.body)
        try {
          return parseJson(text)
        } catch {
          throw new KubeError('Unavailable', 'the answer is not JSON', { status: answer.status })
        }
      })
    } finally {
      this.#inFlight--
    }
  }

  /** Sends a request and hands the body over as soon as the headers are there; the time-out ends with them. */
  async stream(send: Send): Promise<OpenAnswer> {
    this.#inFlight++
    try {
      return await this.#exchange(send, (answer, exchange) => {
        exchange.keepOpen()
        return { body: answer.body, abort: exchange.abort, done: exchange.done }
      })
    } finally {
      this.#inFlight--
    }
  }

  async #exchange<R>(
    send: Send,
    use: (answer: { status: number; body: Readable }, exchange: Exchange) => R | Promise<R>,
  ): Promise<R> {
    if (this.#killed.signal.aborted) throw killedError()
    if (send.signal?.aborted) throw abortedError()
    const exchange = this.#begin(send)
    try {
      const answer = await this.#request(send, exchange.signal)
      if (answer.status < 200 || answer.status > 299) {
        const failure = classify(answer.status, answer.headers, await readText(answer.body))
        if (failure.reason === 'Unauthorized') this.#connection.unauthorized()
        throw failure
      }
      return await use(answer, exchange)
    } catch (error) {
      exchange.done()
      throw exchange.signal.aborted ? exchange.signal.reason : asKubeError(error)
    } finally {
      exchange.settled()
    }
  }

  /** Ties the caller's signal, the time-out and `kill` to one abort controller. */
  #begin(send: Send): Exchange {
    const controller = new AbortController()
    const abort = (reason: Error) => controller.abort(reason)
    const onCaller = () => abort(abortedError())
    send.signal?.addEventListener('abort', onCaller, { once: true })
    const timeoutMs = send.timeoutMs ?? this.#timeoutMs
    const stopTimer = this.#clock.setTimer(timeoutMs, () =>
      abort(new KubeError('Unavailable', `no answer within ${Math.round(timeoutMs / 1000)} s`)),
    )
    this.#open.add(controller)
    let kept = false
    const done = () => {
      stopTimer()
      send.signal?.removeEventListener('abort', onCaller)
      this.#open.delete(controller)
    }
    return {
      signal: controller.signal,
      abort,
      done,
      keepOpen: () => {
        kept = true
        stopTimer()
      },
      settled: () => {
        if (!kept) done()
      },
    }
  }

  async #request(send: Send, signal: AbortSignal) {
    const headers: Record<string, string> = {
      ...(await credentials(this.#connection, signal)),
      accept: send.accept,
      'user-agent': this.#userAgent,
    }
    if (send.body !== undefined) headers['content-type'] = send.contentType ?? 'application/json'
    // An abort while the credentials were fetched must not send anything.
    if (signal.aborted) throw signal.reason
    const sentAt = this.#clock.now()
    this.#calls++
    const answer = await this.#connection.dispatcher.request({
      origin: this.#origin,
      path: this.#basePath + send.path,
      method: send.method,
      headers,
      body: send.body === undefined ? null : printJson(send.body),
      signal,
      // The time-outs are ours, on the passed-in clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const date = answer.headers.date
    this.#offset.observe(Array.isArray(date) ? date[0] : date, sentAt, this.#clock.now())
    return { status: answer.statusCode, headers: answer.headers, body: answer.body as Readable }
  }
}

/** The headers, unless the time-out or an abort comes first: an exec plug-in may hang. */
function credentials(connection: Connection, signal: AbortSignal): Promise<Record<string, string>> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    const settled = () => signal.removeEventListener('abort', onAbort)
    connection.headers().then(
      (headers) => {
        settled()
        resolve(headers)
      },
      (error: unknown) => {
        settled()
        const text = error instanceof Error ? error.message : String(error)
        reject(new KubeError('Unavailable', `no credentials for the cluster: ${text}`))
      },
    )
  })
}

interface Exchange {
  signal: AbortSignal
  abort(reason: Error): void
  done(): void
  keepOpen(): void
  settled(): void
}

async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function killedError(): KubeError {
  return new KubeError('Unavailable', 'the gateway has been killed')
}

function abortedError(): KubeError {
  return new KubeError('Unavailable', 'aborted by the caller')
}

/** Network failures, TLS failures and failing credentials: no answer came, so nothing is known. */
export function asKubeError(error: unknown): KubeError {
  if (error instanceof KubeError) return error
  const parts: string[] = []
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 3; at = at.cause, depth++) {
    const code = (at as { code?: unknown }).code
    const text = at.message === '' && typeof code === 'string' ? code : at.message
    if (text !== '' && !parts.includes(text)) parts.push(text)
  }
  return new KubeError('Unavailable', parts.join(': ') || 'the connection failed', { cause: error })
}
