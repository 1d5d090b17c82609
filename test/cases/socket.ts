import { WebSocket } from 'ws'
import { callerHeaders } from './http.ts'
import type { Json } from './json.ts'
import type { Caller } from './stepFormat.ts'

interface Sink {
  next(payload: { data?: Json; errors?: Json }): void
  /** The stream has ended by itself, or was refused. */
  end(refusal: Json | undefined): void
}

/**
 * One connection of the graphql-transport-ws protocol. Written here and not taken from a library, because the
 * runner needs the socket's own ping: a pong says that everything the server sent before has arrived.
 */
export class GraphqlSocket {
  readonly #socket: WebSocket
  readonly #sinks = new Map<string, Sink>()
  #received = 0
  #closed: string | undefined
  #lastId = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => this.#receive(String(data)))
    socket.on('error', (error) => this.#close(error.message))
    socket.on('close', (code, reason) => this.#close(`${code} ${reason}`.trim()))
  }

  /** Connects and greets. Rejects when the server refuses. */
  static async open(url: string, caller: Caller): Promise<GraphqlSocket> {
    const address = url.replace(/^http/, 'ws')
    const socket = new WebSocket(address, 'graphql-transport-ws', { headers: callerHeaders(caller) })
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve)
      socket.once('error', reject)
    })
    await new Promise<void>((resolve, reject) => {
      socket.once('message', (data) => {
        const { type } = JSON.parse(String(data)) as { type?: string }
        if (type === 'connection_ack') resolve()
        else reject(new Error(`the gateway greeted with ${type}`))
      })
      socket.once('close', (code, reason) => reject(new Error(`the gateway closed with ${code} ${reason}`)))
      socket.send(JSON.stringify({ type: 'connection_init' }))
    })
    return new GraphqlSocket(socket)
  }

  /** Why the connection is over, or undefined while it stands. */
  get closed(): string | undefined {
    return this.#closed
  }

  subscribe(document: { query: string; variables?: { [key: string]: Json } }, sink: Sink): void {
    const id = String(++this.#lastId)
    this.#sinks.set(id, sink)
    this.#socket.send(JSON.stringify({ id, type: 'subscribe', payload: document }))
  }

  /** Resolves once nothing has come between a ping and its pong: what was sent before has then arrived. */
  async drain(): Promise<void> {
    for (let before = -1; before !== this.#received && this.#closed === undefined; ) {
      before = this.#received
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#socket.off('pong', done).off('close', done)
          resolve()
        }
        this.#socket.on('pong', done).on('close', done)
        this.#socket.ping(undefined, undefined, (error) => error && done())
      })
    }
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #receive(text: string): void {
    this.#received++
    const message = JSON.parse(text) as { id?: string; type: string; payload?: Json }
    if (message.type === 'ping') this.#socket.send(JSON.stringify({ type: 'pong' }))
    const id = message.id ?? ''
    const sink = this.#sinks.get(id)
    if (!sink) return
    if (message.type === 'next') sink.next(message.payload as { data?: Json; errors?: Json })
    if (message.type === 'error' || message.type === 'complete') {
      this.#sinks.delete(id)
      sink.end(message.type === 'error' ? (message.payload ?? null) : undefined)
    }
  }

  #close(reason: string): void {
    this.#closed ??= reason
    const sinks = [...this.#sinks.values()]
    this.#sinks.clear()
    for (const sink of sinks) sink.end(undefined)
  }
}
