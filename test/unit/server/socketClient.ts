import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Message {
  id?: string
  type: string
  payload?: unknown
}

/** A client of `graphql-transport-ws` that shows every message as it came. */
export class SocketClient {
  readonly socket: WebSocket
  /** Settles with the code and the reason once the socket is closed. */
  readonly closed: Promise<{ code: number; reason: string }>
  readonly #messages: Message[] = []
  #wake = () => {}
  #ids = 0

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data) => {
      this.#messages.push(JSON.parse(String(data)))
      this.#wake()
    })
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        resolve({ code, reason: String(reason) })
        this.#wake()
      })
    })
  }

  /** Connects without greeting. */
  static async connect(url: string, options: object = {}): Promise<SocketClient> {
    const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', options)
    const client = new SocketClient(socket)
    await once(socket, 'open')
    return client
  }

  /** Connects, greets, and has been acknowledged. */
  static async open(url: string, options: object = {}): Promise<SocketClient> {
    const client = await SocketClient.connect(url, options)
    client.send({ type: 'connection_init' })
    await client.next()
    return client
  }

  send(message: Message): void {
    this.socket.send(JSON.stringify(message))
  }

  /** Starts an operation and gives its id. */
  subscribe(query: string, more: object = {}): string {
    const id = `op${++this.#ids}`
    this.send({ id, type: 'subscribe', payload: { query, ...more } })
    return id
  }

  /** The next message, in the order of the server. */
  async next(): Promise<Message> {
    for (;;) {
      const message = this.#messages.shift()
      if (message) return message
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error('the socket is closed')
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** What has come and has not been looked at. */
  get unread(): readonly Message[] {
    return this.#messages
  }

  /** Resolves when the server has taken in all that was sent before. */
  async drained(): Promise<void> {
    this.send({ type: 'ping' })
    for (;;) if ((await this.next()).type === 'pong') return
  }

  async close(): Promise<void> {
    this.socket.close()
    await this.closed
  }
}
