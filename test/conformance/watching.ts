import type { IncomingMessage } from 'node:http'
import type { Json } from './json.ts'

/** The events of one watch, one by one. */
export class Watching {
  readonly #response: IncomingMessage
  readonly #lines: AsyncGenerator<string, void>

  constructor(response: IncomingMessage) {
    this.#response = response
    this.#lines = linesOf(response)
  }

  /** The next event; null when the stream has ended cleanly. Rejects when it is cut, or after `withinMs`. */
  async next(withinMs: number): Promise<Json | null> {
    const timer = setTimeout(() => {
      this.#response.destroy(new Error(`the watch has sent nothing for ${withinMs / 1000} s`))
    }, withinMs)
    try {
      const line = await this.#lines.next()
      return line.done === true ? null : (JSON.parse(line.value) as Json)
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    this.#response.on('error', () => {})
    this.#response.destroy()
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string, void> {
  let rest = ''
  response.setEncoding('utf8')
  for await (const chunk of response as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield line
  }
  if (rest !== '') yield rest
}
