// A network between a gateway and the API server that can be cut. Bytes pass as they are: TLS is the API server's.
import { connect, createServer, type Server, type Socket } from 'node:net'

export class Wire {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly port: number
  #cut = false

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
  }

  /** To another loopback port. */
  static async start(to: string): Promise<Wire> {
    const target = Number(new URL(to).port)
    const server = createServer({ pauseOnConnect: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const wire = new Wire(server, typeof address === 'object' && address !== null ? address.port : 0)
    server.on('connection', (socket) => wire.#take(socket, target))
    return wire
  }

  get server(): string {
    return `https://127.0.0.1:${this.port}`
  }

  /** Ends all connections, and refuses new ones until `mend`. */
  cut(): void {
    this.#cut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#cut = false
  }

  async stop(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #take(socket: Socket, target: number): void {
    if (this.#cut) {
      socket.destroy()
      return
    }
    const upstream = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.#sockets.add(one)
      one.on('error', () => {}) // followed by 'close'
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
    socket.resume()
  }
}
