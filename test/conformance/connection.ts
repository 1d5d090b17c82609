import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { Access } from './kubeconfig.ts'

export interface Request {
  method: string
  /** With its query. */
  path: string
  headers: Record<string, string>
  body?: string | Buffer
}

export interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** Plain HTTP/1.1 to one API server, sharing no code with what is tested. */
export class Connection {
  readonly #access: Access
  readonly #agent: Agent

  constructor(access: Access) {
    this.#access = access
    const { ca, cert, key } = access
    const tls = access.server.startsWith('https:')
    const options = { keepAlive: true, maxSockets: 64 }
    this.#agent = tls
      ? new TlsAgent({ ...options, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) })
      : new Agent(options)
  }

  /** The credentials of the kubeconfig, as a header; empty where they are a certificate. */
  get credentials(): Record<string, string> {
    const { token } = this.#access
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  async ask(asked: Request): Promise<RawAnswer> {
    const response = await this.open(asked)
    return { status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response) }
  }

  /** Resolves when the headers have come; the body is the caller's. */
  open({ method, path, headers, body }: Request): Promise<IncomingMessage> {
    const { server } = this.#access
    const send = server.startsWith('https:') ? tlsRequest : request
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    return new Promise((resolve, reject) => {
      const options = { method, headers: { ...headers, ...length }, agent: this.#agent }
      const sent = send(server + path, options, (response) => {
        // The API server may answer and close before it has read a body that is too large.
        sent.on('error', () => {})
        resolve(response)
      })
      sent.once('error', reject)
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

export async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
