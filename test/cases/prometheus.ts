import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a query has for an answer: one sample, several or none. */
export type Samples = number | number[]

/** The Prometheus of a case: it answers the queries that the case has named, as of the case's own clock. */
export class CasePrometheus {
  readonly url: string
  readonly #stop: () => void
  readonly #answers: Map<string, Samples>

  private constructor(url: string, answers: Map<string, Samples>, stop: () => void) {
    this.url = url
    this.#answers = answers
    this.#stop = stop
  }

  static async start(now: () => number): Promise<CasePrometheus> {
    const answers = new Map<string, Samples>()
    const server = createServer((request, response) => {
      const query = new URL(request.url ?? '', 'http://localhost').searchParams.get('query') ?? ''
      const values = [answers.get(query) ?? []].flat()
      const result = values.map((value) => ({ metric: {}, value: [now() / 1000, String(value)] }))
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return new CasePrometheus(`http://127.0.0.1:${port}`, answers, () => {
      server.closeAllConnections()
      server.close()
    })
  }

  /** From now on these queries, written as they arrive, have these samples; the others stay as they were. */
  set(answers: Readonly<Record<string, Samples>>): void {
    for (const [query, samples] of Object.entries(answers)) this.#answers.set(query, samples)
  }

  stop(): void {
    this.#stop()
  }
}
