import { type ClientRequest, get, type IncomingMessage, request } from 'node:http'

/** One message of an event stream: its fields, as they came. */
export interface Frame {
  id?: string
  event?: string
  data?: string
}

/** A client of server-sent events over a connection of its own, which reads when the test asks it to. */
export class EventSource {
  readonly response: IncomingMessage
  readonly #request: ClientRequest
  readonly #chunks: AsyncIterator<Buffer>
  #text = ''

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request
    this.response = response
    this.#chunks = response[Symbol.asyncIterator]()
  }

  static open(url: string, query: string, headers: Record<string, string> = {}): Promise<EventSource> {
    const address = new URL(url)
    address.searchParams.set('query', query)
    return EventSource.connect(
      get(address, { headers: { accept: 'text/event-stream', ...headers }, agent: false }),
    )
  }

  static post(url: string, body: object, headers: Record<string, string> = {}): Promise<EventSource> {
    const sent = request(url, {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
      agent: false,
    })
    sent.end(JSON.stringify(body))
    return EventSource.connect(sent)
  }

  private static connect(sent: ClientRequest): Promise<EventSource> {
    return new Promise((resolve, reject) => {
      sent.once('error', reject)
      sent.once('response', (response) => {
        sent.on('error', () => {})
        response.on('error', () => {})
        resolve(new EventSource(sent, response))
      })
    })
  }

  /** The next block of lines, comments as `{}`; null when the stream has ended in order. */
  async next(): Promise<Frame | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return parse(block)
      }
      const { done, value } = await this.#chunks.next()
      if (done) return null
      this.#text += String(value)
    }
  }

  /** The next message that is not a comment. */
  async message(): Promise<Frame | null> {
    for (;;) {
      const frame = await this.next()
      if (frame === null || Object.keys(frame).length > 0) return frame
    }
  }

  /** The `deploymentPhaseChanged` of the next message. */
  async phase(): Promise<Record<string, unknown>> {
    const frame = await this.message()
    return JSON.parse(frame?.data ?? 'null').data.deploymentPhaseChanged
  }

  close(): void {
    this.#request.destroy()
  }
}

function parse(block: string): Frame {
  const frame: Record<string, string> = {}
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) frame[line.slice(0, colon)] = line.slice(colon + 1).trim()
  }
  return frame
}
