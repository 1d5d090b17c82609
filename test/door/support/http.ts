import { type IncomingHttpHeaders, request } from 'node:http'
import { expect } from 'vitest'

export interface HttpAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: string
  /** The body as JSON, null when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: what it holds is known to the test that asks
  json: any
  /** Code of the first error. */
  code: string | undefined
}

export interface HttpCall {
  method?: string
  path?: string
  headers?: Record<string, string>
  body?: string | Buffer | undefined
}

/** Longer than any answer may take: what has not come by then hangs. */
const HANGS_MS = 20_000

/**
 * One request, word for word: Host and Origin too, which `fetch` sets by itself. A stream is answered by what
 * has come of it with its first event.
 */
export function send(
  url: string,
  { method = 'GET', path, headers = {}, body }: HttpCall,
): Promise<HttpAnswer> {
  const { hostname, port, pathname } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path: path ?? pathname, method, headers, agent: false })
    sent.setTimeout(HANGS_MS, () => sent.destroy(new Error(`${method}: no answer within ${HANGS_MS} ms`)))
    sent.once('error', reject)
    sent.once('response', (response) => {
      let text = ''
      const done = () => {
        const json = parse(text)
        const code = json?.errors?.[0]?.extensions?.code
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, json, code })
      }
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (!response.headers['content-type']?.startsWith('text/event-stream')) return
        if (!/^data: .*\n/m.test(text)) return
        sent.destroy()
        done()
      })
      response.once('error', reject)
      response.once('end', done)
    })
    sent.end(body)
  })
}

function parse(text: string): HttpAnswer['json'] {
  const [, data] = /^data: (.*)$/m.exec(text) ?? []
  try {
    return JSON.parse(data ?? text)
  } catch {
    return null
  }
}

/** Sends it, and looks at what no answer may have: a 5xx, a stack, a word about the inside. */
export async function sendHarmless(url: string, call: HttpCall): Promise<HttpAnswer> {
  const answer = await send(url, call)
  expect(answer.status).toBeLessThan(500)
  expect(answer.body).not.toMatch(/node_modules|\n\s+at |\.[jt]s:\d|INTERNAL_SERVER_ERROR/)
  return answer
}

/** The message of the only error of an answer, which must be one sentence. */
export function sentenceOf({ json }: HttpAnswer): string {
  expect(json.errors).toHaveLength(1)
  const { message } = json.errors[0]
  expect(message).toMatch(/^\S[^\n]{4,298}$/)
  return message
}
