import type { ServerResponse } from 'node:http'
import type { ExecutionResult } from 'graphql'
import type { Clock } from '../services/runtime/clock.ts'
import type { Logger } from '../services/runtime/logger.ts'
import { isStream, type Operations, type ResultStream } from './operation.ts'
import { cursorOf } from './subscribe.ts'

/** Proxies cut a connection that is silent for a minute; a comment this often keeps it. */
export const HEARTBEAT_MS = 15_000
/** A client that has not taken its one pending event for so many heartbeats is cut off. */
const STALLED_HEARTBEATS = 4

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

export interface EventStreamsOptions {
  clock: Clock
  logger: Logger
  mask: Operations['mask']
}

/**
 * Server-sent events in the "distinct connections" form of graphql-sse: one operation per request, its
 * results as `event: next`, its end as `event: complete`. Where a result has a cursor it is sent as `id:`,
 * which a browser sends back as `Last-Event-ID` when it reconnects.
 */
export class EventStreams {
  readonly #options: EventStreamsOptions
  readonly #open = new Set<EventStream>()

  constructor(options: EventStreamsOptions) {
    this.#options = options
  }

  /** Streams that are open right now. */
  get size(): number {
    return this.#open.size
  }

  /** Answers with what `run` gives, until it ends, the client leaves, or `stop()`. Never rejects. */
  async serve(response: ServerResponse, run: () => Promise<ExecutionResult | ResultStream>): Promise<void> {
    const stream = new EventStream(response, this.#options)
    this.#open.add(stream)
    try {
      await stream.serve(run)
    } finally {
      this.#open.delete(stream)
    }
  }

  /**
   * Ends all streams in order. Without `complete`: the operations are not over, and a client that
   * reconnects goes on where it was.
   */
  stop(): void {
    for (const stream of this.#open) stream.stop()
  }
}

class EventStream {
  readonly #response: ServerResponse
  readonly #options: EventStreamsOptions
  #source: ResultStream | null = null
  #stopped = false
  #writing = false
  #stalled = 0

  constructor(response: ServerResponse, options: EventStreamsOptions) {
    this.#response = response
    this.#options = options
  }

  async serve(run: () => Promise<ExecutionResult | ResultStream>): Promise<void> {
    const response = this.#response
    response.on('close', () => this.#release())
    response.on('error', (error) => this.#options.logger.debug({ err: error }, 'an SSE client is gone'))
    response.writeHead(200, HEADERS)
    // The first bytes at once: some proxies and browsers hold back the headers until then.
    response.write(':\n\n')
    const cancelHeartbeat = this.#beat()
    try {
      await this.#send(run)
      if (!this.#stopped) await this.#write('event: complete\ndata:\n\n')
    } finally {
      cancelHeartbeat()
      this.#release()
      response.end()
    }
  }

  stop(): void {
    this.#release()
    this.#response.end()
  }

  async #send(run: () => Promise<ExecutionResult | ResultStream>): Promise<void> {
    try {
      const result = await run()
      if (!isStream(result)) return await this.#write(frame(result))
      this.#source = result
      if (this.#stopped) {
        await result.return?.()
        return
      }
      for await (const event of result) {
        if (this.#stopped) return
        await this.#write(frame(event))
      }
    } catch (error) {
      if (!this.#stopped) await this.#write(frame({ errors: [this.#options.mask(error)] }))
    }
  }

  /** Settles when the bytes have left for the client, so that one who does not read holds one event. */
  #write(text: string): Promise<void> {
    this.#writing = true
    return new Promise((resolve) => {
      this.#response.write(text, () => {
        this.#writing = false
        this.#stalled = 0
        resolve()
      })
    })
  }

  #release(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#source
      ?.return?.()
      .catch((error: unknown) => this.#options.logger.warn({ err: error }, 'an SSE stream failed to stop'))
  }

  #beat(): () => void {
    const { clock, logger } = this.#options
    let cancel = () => {}
    const arm = () => {
      cancel = clock.setTimer(HEARTBEAT_MS, () => {
        if (!this.#writing) this.#response.write(':\n\n')
        else if (++this.#stalled >= STALLED_HEARTBEATS) {
          logger.warn({}, 'an SSE client does not read what it asked for and is cut off')
          this.#response.destroy()
          return
        }
        arm()
      })
    }
    arm()
    return () => cancel()
  }
}

/** One result as a message. JSON has no line breaks, so `data:` is one line. */
function frame(result: ExecutionResult): string {
  const cursor = cursorOf(result)
  return `${cursor === null ? '' : `id: ${cursor}\n`}event: next\ndata: ${JSON.stringify(result)}\n\n`
}
