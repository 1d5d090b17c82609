import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What is kept of a route; whatever a caller merges into it. */
export type SloConfig = Record<string, unknown>

export interface SloServer {
  /** `http://127.0.0.1:…` */
  url: string
  /** Configurations by route. */
  configs: Map<string, SloConfig>
  stop(): Promise<void>
}

const limit = 1024 * 1024

/**
 * The SLO API of the sandbox: `GET`, `PUT` (which merges) and `DELETE` of `/config/<route>` with a bearer token, and
 * `/readyz` without one.
 */
export async function startSloServer(
  token: string,
  configs: Record<string, SloConfig> = {},
): Promise<SloServer> {
  const kept = new Map(Object.entries(configs))
  const server = createServer((request, response) => {
    answer(request, response, token, kept).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    configs: kept,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  configs: Map<string, SloConfig>,
): Promise<void> {
  const send = (status: number, body: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname === '/readyz') return send(200, { ready: true })
  if (request.headers.authorization !== `Bearer ${token}`) return send(401, { error: 'unauthorized' })
  const [, encoded] = /^\/config\/([^/]+)$/.exec(pathname) ?? []
  if (encoded === undefined) return send(404, { error: 'not found' })
  const route = decodeURIComponent(encoded)
  const before = configs.get(route)
  if (request.method === 'PUT') {
    const change = await bodyOf(request)
    if (change === undefined) return send(400, { error: 'the body is no JSON object' })
    if (change.route !== undefined && change.route !== route)
      return send(400, { error: 'route is another one' })
    const next = { ...before, ...change, route }
    configs.set(route, next)
    return send(200, next)
  }
  if (before === undefined) return send(404, { error: `no route ${route}` })
  if (request.method === 'DELETE') {
    configs.delete(route)
    return send(200, {})
  }
  return request.method === 'GET' ? send(200, before) : send(405, { error: 'method not allowed' })
}

async function bodyOf(request: IncomingMessage): Promise<SloConfig | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += (chunk as Buffer).length
    if (length > limit) return undefined
    chunks.push(chunk as Buffer)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as SloConfig)
      : undefined
  } catch {
    return undefined
  }
}
