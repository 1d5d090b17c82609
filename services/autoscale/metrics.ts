/** Metrics of releases from a Prometheus, by instant queries over HTTP (contract, section 7). */
import { Agent, request } from 'undici'
import { boundText } from '../helm/bound.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Metric } from './decide.ts'

/** Samples that are older say nothing any more. */
const MAX_AGE_SECONDS = 60
const TIMEOUT_MS = 5000
const MAX_ANSWER_BYTES = 1024 * 1024
/** Longer queries go into the body: not every proxy takes a longer line. */
const MAX_LINE = 4000
const MAX_WORDS = 300

export interface MetricsOptions {
  /** Base URL, with a path where Prometheus has one, with user and password where it asks for them; null for none. */
  url: string | null
  clock: Clock
}

export class Metrics {
  readonly #options: MetricsOptions
  readonly #agent = new Agent({ connections: 8 })

  constructor(options: MetricsOptions) {
    this.#options = options
  }

  /** The one sample that the query has now, or why there is none. Never throws, and never says the address. */
  async query(query: string, signal?: AbortSignal): Promise<Metric> {
    const { url, clock } = this.#options
    if (url === null) return { missing: 'no Prometheus is configured (--prometheus-url)' }
    const limit = new AbortController()
    const end = () => limit.abort()
    const cancel = clock.setTimer(TIMEOUT_MS, end)
    if (signal?.aborted) end()
    signal?.addEventListener('abort', end, { once: true })
    try {
      return await this.#ask(url, query, limit.signal)
    } catch (error) {
      if (limit.signal.aborted) return { missing: 'Prometheus has not answered in time' }
      const { code, message } = error as { code?: string; message?: string }
      return { missing: `Prometheus cannot be reached (${boundText(code ?? String(message), MAX_WORDS)})` }
    } finally {
      cancel()
      signal?.removeEventListener('abort', end)
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  async #ask(base: string, query: string, signal: AbortSignal): Promise<Metric> {
    const { origin, pathname, username, password } = new URL(base)
    // Without the second one Prometheus goes back five minutes for a sample.
    const parameters = new URLSearchParams({ query, lookback_delta: `${MAX_AGE_SECONDS}s` })
    const path = `${origin}${pathname.replace(/\/+$/, '')}/api/v1/query`
    const inBody = String(parameters).length > MAX_LINE
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    const { statusCode, body } = await request(inBody ? path : `${path}?${parameters}`, {
      dispatcher: this.#agent,
      signal,
      method: inBody ? 'POST' : 'GET',
      headers: {
        accept: 'application/json',
        ...(username === '' ? {} : { authorization: `Basic ${Buffer.from(user).toString('base64')}` }),
        ...(inBody ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
      ...(inBody ? { body: String(parameters) } : {}),
    })
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length
      // Leaving the loop cuts the connection.
      if (length > MAX_ANSWER_BYTES) return { missing: 'the query has more samples than anybody could read' }
      chunks.push(chunk)
    }
    return readAnswer(statusCode, Buffer.concat(chunks).toString('utf8'), this.#options.clock.now())
  }
}

/**
 * The one sample in an answer of `/api/v1/query`, or why there is none. Pure.
 *
 * @param now milliseconds
 */
export function readAnswer(status: number, text: string, now: number): Metric {
  let answer: { status?: unknown; error?: unknown; data?: { resultType?: unknown; result?: unknown } | null }
  try {
    answer = Object(JSON.parse(text))
  } catch {
    return { missing: `Prometheus has answered ${status}, and no JSON` }
  }
  if (answer.status !== 'success') {
    const said = typeof answer.error === 'string' ? `: ${boundText(answer.error, MAX_WORDS)}` : ''
    return { missing: `Prometheus has answered ${status}${said}` }
  }
  const { resultType, result } = Object(answer.data) as { resultType?: unknown; result?: unknown }
  if (resultType === 'scalar') return sampleOf(result, now)
  if (resultType !== 'vector' || !Array.isArray(result))
    return { missing: 'the query has neither a vector nor a scalar for an answer' }
  if (result.length === 0) return { missing: `there is no sample of the last ${MAX_AGE_SECONDS} s` }
  if (result.length > 1) return { missing: `there are ${result.length} samples; aggregate them into one` }
  return sampleOf((Object(result[0]) as { value?: unknown }).value, now)
}

/** `[seconds, "value"]`. */
function sampleOf(pair: unknown, now: number): Metric {
  if (!Array.isArray(pair) || typeof pair[0] !== 'number' || typeof pair[1] !== 'string')
    return { missing: 'the sample is no number' }
  const age = now / 1000 - pair[0]
  if (age > MAX_AGE_SECONDS) return { missing: `the sample is ${Math.round(age)} s old` }
  const value = numberOf(pair[1])
  return Number.isFinite(value) ? { value } : { missing: `the sample is ${boundText(pair[1], 64)}` }
}

const numberOf = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text))
