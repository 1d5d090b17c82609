import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startTestGateway, type TestGateway } from './testGateway.ts'

let gateway: TestGateway
const STRANGER = 'http://evil.example'

beforeAll(async () => {
  gateway = await startTestGateway({
    allowedHosts: ['swiss.example.com'],
    allowedOrigins: ['https://console.example.com'],
  })
})

afterAll(() => gateway.kill())

type Headers = Record<string, string>

async function answerOf(method: string, path: string, headers: Headers) {
  const sent = request({ host: '127.0.0.1', port: gateway.port, method, path, headers, agent: false })
  sent.end(method === 'POST' ? '{"query":"{ hello }"}' : undefined)
  const [response] = await once(sent, 'response')
  let body = ''
  for await (const chunk of response) body += chunk
  return { status: response.statusCode as number, headers: response.headers, body }
}

/** The status of an upgrade: 101 when it was taken. */
async function upgrade(headers: Headers, path = '/graphql'): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}${path}`, 'graphql-transport-ws', { headers })
  return new Promise((resolve) => {
    socket.on('error', () => {})
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0)
      response.destroy()
    })
    socket.on('open', () => {
      resolve(101)
      socket.terminate()
    })
  })
}

/** The same headers by every way in; all must agree. */
async function statuses(headers: Headers): Promise<number[]> {
  const post = { 'content-type': 'application/json', ...headers }
  return [
    (await answerOf('GET', '/graphql?query={hello}', headers)).status,
    (await answerOf('POST', '/graphql', post)).status,
    (await answerOf('GET', '/readyz', headers)).status,
    await upgrade(headers),
  ]
}

const IN = [200, 200, 200, 101]
const OUT = [403, 403, 403, 403]

describe('the Host header', () => {
  it.each(['127.0.0.1', 'localhost', 'LocalHost', '[::1]'])('may be %s with our port', async (name) => {
    expect(await statuses({ host: `${name}:${gateway.port}` })).toEqual(IN)
  })

  it('may be a proxy that was named', async () => {
    expect(await statuses({ host: 'swiss.example.com' })).toEqual(IN)
  })

  it.each([
    ['a name that somebody has pointed at loopback', () => `evil.example:${gateway.port}`],
    ['loopback with another port', () => '127.0.0.1:1'],
    ['loopback without a port', () => 'localhost'],
    ['a name that begins like ours', () => `localhost.evil.example:${gateway.port}`],
    ['a proxy that was named, with another port', () => 'swiss.example.com:444'],
  ])('must not be %s', async (_what, host) => {
    expect(await statuses({ host: host() })).toEqual(OUT)
  })

  it('must be there: an old client without one is refused', async () => {
    const socket = connect(gateway.port, '127.0.0.1')
    socket.write('GET /graphql?query={hello} HTTP/1.0\r\n\r\n')
    const [chunk] = await once(socket, 'data')
    expect(String(chunk)).toContain('403 Forbidden')
    socket.destroy()
  })

  it('is named in one sentence when it is refused', async () => {
    const { body } = await answerOf('GET', '/graphql?query={hello}', { host: 'evil.example' })
    expect(JSON.parse(body).errors).toEqual([
      {
        message: 'The Host header "evil.example" is not an address of this gateway; --allowed-host adds one.',
        extensions: { code: 'HOST_NOT_ALLOWED' },
      },
    ])
  })
})

describe('the Origin header', () => {
  it('may be our own, or of a page that was named', async () => {
    const host = `localhost:${gateway.port}`
    expect(await statuses({ host, origin: `http://${host}` })).toEqual(IN)
    expect(await statuses({ origin: 'https://console.example.com' })).toEqual(IN)
    expect(await statuses({ host: 'swiss.example.com', origin: 'https://swiss.example.com' })).toEqual(IN)
  })

  it.each([
    ['another site', STRANGER],
    ['no site: a file, or a frame in a sandbox', 'null'],
    ['loopback on another port', 'http://127.0.0.1:3000'],
    ['our address by another scheme', 'https://127.0.0.1'],
  ])('must not be %s', async (_what, origin) => {
    expect(await statuses({ origin })).toEqual(OUT)
  })

  it('must not be our other name: that is another origin for a browser', async () => {
    expect(await statuses({ origin: `http://localhost:${gateway.port}` })).toEqual(OUT)
  })

  it('is not needed: no browser, no Origin', async () => {
    expect(await statuses({})).toEqual(IN)
  })
})

describe('what a browser says of a request without an Origin', () => {
  it.each(['cross-site', 'same-site'])(
    '%s is another page that loads us as an image or a script',
    async (site) => {
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
      expect(await statuses(headers)).toEqual(OUT)
    },
  )

  it('a frame in another page is refused, a link that a person follows is not', async () => {
    const followed = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect((await answerOf('GET', '/readyz', { ...followed, 'sec-fetch-dest': 'iframe' })).status).toBe(403)
    expect((await answerOf('GET', '/readyz', { ...followed, 'sec-fetch-dest': 'document' })).status).toBe(200)
  })

  it.each(['same-origin', 'none'])('%s is our own page, or a person who typed the address', async (site) => {
    expect(await statuses({ 'sec-fetch-site': site })).toEqual(IN)
  })
})

describe('CORS', () => {
  it('lets a page that was named read the answer, and ask before', async () => {
    const headers = { origin: 'https://console.example.com' }
    const answer = await answerOf('GET', '/graphql?query={hello}', headers)
    expect(answer.headers['access-control-allow-origin']).toBe('https://console.example.com')
    const preflight = await answerOf('OPTIONS', '/graphql', headers)
    expect([preflight.status, preflight.headers['access-control-allow-methods']]).toEqual([204, 'GET, POST'])
  })

  it('tells nobody else anything', async () => {
    expect((await answerOf('OPTIONS', '/graphql', { origin: STRANGER })).status).toBe(403)
    const own = await answerOf('OPTIONS', '/graphql', {})
    expect(Object.keys(own.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

describe('an upgrade', () => {
  it('leads to the GraphQL path only, and to a WebSocket only', async () => {
    expect(await upgrade({}, '/other')).toBe(404)
    const sent = request({
      host: '127.0.0.1',
      port: gateway.port,
      path: '/graphql',
      headers: { connection: 'Upgrade', upgrade: 'h2c' },
      agent: false,
    })
    sent.end()
    const [response] = await once(sent, 'response')
    expect(response.statusCode).toBe(400)
    response.destroy()
  })
})
