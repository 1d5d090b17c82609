/** The SLO service over HTTP: one request at a time, bounded in time and size, never repeated. */
import { Agent, type Dispatcher } from 'undici'
import { boundText } from '../helm/bound.ts'
import type { Clock } from '../runtime/clock.ts'
import type { SloAccess } from './sloAccess.ts'

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_WORDS = 300

export type SloAnswer =
  | { kind: 'answer'; status: number; text: string }
  /** No answer that can be read. `sent`: the request may have been carried out all the same. */
  | { kind: 'none'; message: string; sent: boolean; retryable: boolean }

export class SloClient {
  readonly #clock: Clock
  readonly #agent = new Agent({ connections: 8 })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Never throws, and never says the token. */
  async send(
    { address, token }: SloAccess,
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<SloAnswer> {
    const limit = new AbortController()
    const cancel = this.#clock.setTimer(TIMEOUT_MS, () => limit.abort())
    try {
      const { origin, pathname } = new URL(address)
      return await this.#exchange({
        origin,
        path: `${pathname.replace(/\/+$/, '')}${path}`,
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${token}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        body: body ? JSON.stringify(body) : null,
        signal: limit.signal,
      })
    } catch (error) {
      if (limit.signal.aborted) {
        const message = `the SLO service has not answered within ${TIMEOUT_MS / 1000} s`
        return { kind: 'none', message, sent: true, retryable: true }
      }
      const { code, message } = error as { code?: string; message?: string }
      const why = boundText(code ?? String(message), MAX_WORDS)
      const sent =
        code === undefined || !/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/.test(code)
      return { kind: 'none', message: `the SLO service cannot be reached (${why})`, sent, retryable: true }
    } finally {
      cancel()
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  async #exchange(options: Dispatcher.RequestOptions): Promise<SloAnswer> {
    // The time-outs are ours, on the passed-in clock; a redirection is an answer like any other.
    const { statusCode, body } = await this.#agent.request({ ...options, headersTimeout: 0, bodyTimeout: 0 })
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length
      // Leaving the loop cuts the connection.
      if (length > MAX_ANSWER_BYTES) {
        const message = 'the SLO service answers with more than 1 MiB'
        return { kind: 'none', message, sent: true, retryable: false }
      }
      chunks.push(chunk)
    }
    return { kind: 'answer', status: statusCode, text: Buffer.concat(chunks).toString('utf8') }
  }
}
