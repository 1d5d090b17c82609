import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schema } from '../../../resolvers/index.ts'
import { READY_TABS } from '../../../server/graphiqlTabs.ts'
import { startTestGateway, type TestGateway } from './testGateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ graphiql: true })
})

afterAll(() => gateway.kill())

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const sent = request(new URL(path, gateway.url), {
    method,
    headers: { accept: BROWSER, ...headers },
    agent: false,
  })
  sent.end()
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }
}

describe('GraphiQL', () => {
  it('is where a browser looks first', async () => {
    const { status, headers } = await get('/')
    expect([status, headers.location]).toEqual([302, '/graphql'])
  })

  it('comes whole and compressed, with the ready tabs in it', async () => {
    const { status, headers, body } = await get('/graphql', { 'accept-encoding': 'gzip, br' })
    expect([status, headers['content-type'], headers['content-encoding']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'gzip',
    ])
    const page = gunzipSync(body).toString()
    for (const { query } of READY_TABS) expect(page).toContain(JSON.stringify(query))
    const plain = await get('/graphql')
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(plain.body.toString()).toBe(page)
  })

  it('is not sent twice to a browser that has it', async () => {
    const { headers } = await get('/graphql')
    const again = await get('/graphql', { 'if-none-match': String(headers.etag) })
    expect([again.status, again.body.length]).toEqual([304, 0])
  })

  it('may run its own script only, talk to us only, and be framed by nobody', async () => {
    const { headers, body } = await get('/graphql')
    const policy = String(headers['content-security-policy'])
    const script = /<script>([\s\S]*?)<\/script>/.exec(body.toString())?.[1] ?? ''
    expect(script.length).toBeGreaterThan(1_000_000)
    expect(policy).toContain(`'sha256-${createHash('sha256').update(script).digest('base64')}'`)
    for (const rule of ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"]) {
      expect(policy).toContain(rule)
    }
    expect(policy).not.toMatch(/https?:/)
  })

  it('leaves everything else at the same address alone', async () => {
    const query = `/graphql?query=${encodeURIComponent('{ hello }')}`
    expect((await get(query, { accept: '*/*' })).body.toString()).toBe('{"data":{"hello":"hello world"}}')
    expect((await get(query, {}, 'HEAD')).status).toBe(200)
    expect((await get(query, {}, 'POST')).status).toBe(415)
  })

  it('has tabs that the schema can answer as they are', () => {
    const documents = READY_TABS.map(({ query }) => parse(query))
    expect(documents.map((document) => validate(schema, document))).toEqual([[], [], []])
    const kinds = documents.flatMap(({ definitions }) =>
      definitions.map((one) => (one.kind === 'OperationDefinition' ? one.operation : one.kind)),
    )
    expect(kinds).toEqual(['query', 'subscription', 'mutation'])
  })

  it('can be switched off', async () => {
    const own = await startTestGateway({ graphiql: false })
    const response = await fetch(own.url, { headers: { accept: 'text/html, */*' } })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      400,
      'application/json; charset=utf-8',
    ])
    own.kill()
  })
})
