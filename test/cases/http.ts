import { Pool } from 'undici'
import type { Json } from './json.ts'
import type { Caller } from './stepFormat.ts'

/** An answer over HTTP: GraphQL's `{data, errors}`. */
export interface Response {
  data?: Json
  errors?: Json
}

/** The headers by which a gateway under test knows its caller. */
export const callerHeaders = (caller: Caller): Record<string, string> => ({
  'x-test-user': caller.user,
  'x-test-groups': caller.groups.join(','),
})

/** Who asks where a case does not say. */
export const defaultCaller: Caller = { user: 'case', groups: ['operators'] }

/** Header that names a request, so that the one who starts it can see it arrive. */
export const requestHeader = 'x-test-request'

/** Sends documents to one gateway over HTTP. */
export class HttpClient {
  readonly #pool: Pool
  readonly #path: string

  constructor(url: string) {
    const { origin, pathname } = new URL(url)
    this.#path = pathname
    this.#pool = new Pool(origin, { connections: 16, headersTimeout: 0, bodyTimeout: 0 })
  }

  /** Posts one document. Rejects when no GraphQL answer comes back (the gateway died, or spoke something else). */
  async post(
    document: { query: string; variables?: { [key: string]: Json } },
    caller: Caller,
    requestId?: string,
  ): Promise<Response> {
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: this.#path,
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json',
        ...callerHeaders(caller),
        ...(requestId === undefined ? {} : { [requestHeader]: requestId }),
      },
      body: JSON.stringify(document),
    })
    const text = await body.text()
    let answer: unknown
    try {
      answer = JSON.parse(text)
    } catch {
      answer = undefined
    }
    if (typeof answer !== 'object' || answer === null || !('data' in answer || 'errors' in answer)) {
      throw new Error(`the gateway answered ${statusCode}: ${text.slice(0, 500)}`)
    }
    return answer as Response
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}
