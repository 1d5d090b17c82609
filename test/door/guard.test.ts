/** Who is let in: not by GET, not from other pages, not under other names; the same at every door. */
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { SocketClient } from '../unit/server/socketClient.ts'
import { type Gateway, startSandbox } from './support/gateway.ts'
import { type HttpCall, sendHarmless, sentenceOf } from './support/http.ts'
import { Processes } from './support/processes.ts'
import { within } from './support/until.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 })

const PROTOCOL = 'graphql-transport-ws'
const JSON_TYPE = { 'content-type': 'application/json' }

const processes = new Processes()
let gateway: Gateway

beforeAll(async () => {
  gateway = await (await startSandbox(processes)).ready()
})

afterAll(() => processes.stop())

const call = (options: HttpCall) => sendHarmless(gateway.url, options)

describe('a mutation', () => {
  const query =
    'mutation { uninstallRelease(input: { namespace: "team-a", name: "research" }) { __typename } }'

  it.each([['application/json'], ['text/event-stream'], ['*/*']])(
    'by GET is refused, for %s too',
    async (accept) => {
      const path = `/graphql?query=${encodeURIComponent(query)}`
      const answer = await call({ path, headers: { accept } })
      expect([answer.status, answer.headers.allow, answer.code]).toEqual([405, 'POST', 'METHOD_NOT_ALLOWED'])
    },
  )

  it('by GET is not run because another operation is named', async () => {
    const two = encodeURIComponent(`query q { viewer { name } } ${query.replace('mutation', 'mutation m')}`)
    const answer = await call({ path: `/graphql?query=${two}&operationName=m` })
    expect([answer.status, answer.code]).toEqual([405, 'METHOD_NOT_ALLOWED'])
  })

  it('over a WebSocket is refused, and the socket goes on', async () => {
    const socket = await SocketClient.open(gateway.url)
    socket.subscribe(query)
    expect(await socket.next()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }],
    })
    socket.subscribe('{ viewer { name } }')
    expect(await socket.next()).toMatchObject({ type: 'next', payload: { data: { viewer: {} } } })
    await socket.close()
  })
})

describe('a caller who should not be one', () => {
  const list = '/graphql?query={viewer{name}}'
  const ways: Record<string, HttpCall> = {
    GET: { path: list },
    POST: { method: 'POST', headers: JSON_TYPE, body: '{"query":"{ viewer { name } }"}' },
    SSE: {
      path: '/graphql?query=subscription{deploymentPhaseChanged(snapshot:true){kind}}',
      headers: { accept: 'text/event-stream' },
    },
    GraphiQL: { headers: { accept: 'text/html' } },
    'the readiness': { path: '/readyz' },
    'a preflight': { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } },
  }
  const strangers: Record<string, Record<string, string>> = {
    'a rebound name': { host: 'rebound.example.com' },
    'a rebound name with our port': { host: 'rebound.example.com:PORT' },
    'our name and another port': { host: '127.0.0.1:1' },
    'a page elsewhere': { origin: 'https://elsewhere.example.com' },
    'a page on another port of this machine': { origin: 'http://127.0.0.1:1' },
    'a page without an origin': { origin: 'null' },
    'a page of another site that sends no Origin': {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
    },
  }
  const headersOf = (stranger: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(stranger).map(([name, value]) => [
        name,
        value.replace('PORT', new URL(gateway.url).port),
      ]),
    )

  describe.each(Object.entries(strangers))('%s', (_who, stranger) => {
    it.each(Object.entries(ways))('by %s is refused', async (_way, options) => {
      const answer = await call({ ...options, headers: { ...options.headers, ...headersOf(stranger) } })
      expect([answer.status, answer.code]).toEqual([
        403,
        expect.stringMatching(/^(HOST|ORIGIN)_NOT_ALLOWED$/),
      ])
      expect(answer.headers['access-control-allow-origin']).toBeUndefined()
      sentenceOf(answer)
    })

    it('by a WebSocket is refused', async () => {
      const socket = new WebSocket(gateway.url.replace('http', 'ws'), PROTOCOL, {
        headers: headersOf(stranger),
      })
      socket.on('error', () => {})
      const [, response] = await within('the refusal', once(socket, 'unexpected-response'), 20_000)
      expect(response.statusCode).toBe(403)
      socket.terminate()
    })
  })

  it.each(['127.0.0.1', 'localhost', '[::1]'])('but this machine is one, as %s', async (name) => {
    const host = `${name}:${new URL(gateway.url).port}`
    for (const options of [ways.GET, ways.POST, ways.SSE]) {
      const headers = { ...options?.headers, host, origin: `http://${host}` }
      expect((await call({ ...options, headers })).status).toBe(200)
    }
    const socket = await SocketClient.open(gateway.url, { headers: { host, origin: `http://${host}` } })
    await socket.close()
  })
})

it('has changed nothing, and left no line in the log', async () => {
  expect(await gateway.row('team-a', 'research', 'phase')).toMatchObject({ phase: 'APPLIED' })
  expect(await gateway.runs('team-a', 'research')).toEqual([])
  expect(gateway.child.stderr).toBe('')
})
