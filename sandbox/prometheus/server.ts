import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KubeClient } from '../client.ts'
import type { Clock } from '../clock.ts'
import { POD } from '../resourceTypes.ts'
import { loadOf } from './load.ts'
import { evaluate } from './query.ts'

export interface Prometheus {
  url: string
  stop(): Promise<void>
}

/** A body longer than this is no query of ours. */
const MAX_BODY = 64 * 1024

/** A small Prometheus for the sandbox: instant queries over the load of the pods that run in the cluster. */
export async function startPrometheus({
  client,
  clock,
}: {
  client: KubeClient
  clock: Clock
}): Promise<Prometheus> {
  const began = clock.now()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (url.pathname !== '/api/v1/query') return send(response, 404, { status: 'error', error: 'not found' })
    const body = request.method === 'POST' ? new URLSearchParams(await textOf(request)) : null
    const query = body?.get('query') ?? url.searchParams.get('query') ?? ''
    const { items } = await client.list(POD)
    const now = clock.now()
    const found = evaluate(query, loadOf(items, (now - began) / 1000))
    if ('error' in found) return send(response, 400, { status: 'error', errorType: 'bad_data', ...found })
    const result = found.map(({ labels, value }) => ({ metric: labels, value: [now / 1000, String(value)] }))
    send(response, 200, { status: 'success', data: { resultType: 'vector', result } })
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) =>
      send(response, 503, { status: 'error', error: error.message }),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) {
    text += chunk
    if (text.length > MAX_BODY) throw new Error('the query is too long')
  }
  return text
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
