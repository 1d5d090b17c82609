import { once } from 'node:events'
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'
import { connect } from 'node:net'
import { getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_BODY_BYTES } from '../../../server/limits.ts'
import { EventSource } from './eventSource.ts'
import { SocketClient } from './socketClient.ts'
import { startTestGateway, type TestGateway } from './testGateway.ts'
import { until } from './until.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.kill())

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
  /** The code of the first error. */
  code: string | undefined
}

/** One request over a connection of its own, with exactly these headers. */
async function send(options: RequestOptions, body?: string | Buffer, url = gateway.url): Promise<Answer> {
  const sent = request(url, { agent: false, ...options })
  sent.end(body)
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  let code: string | undefined
  try {
    code = JSON.parse(text).errors?.[0]?.extensions?.code
  } catch {
    // No JSON: a redirect, say.
  }
  return { status: response.statusCode, headers: response.headers, body: text, code }
}

const JSON_TYPE = { 'content-type': 'application/json' }

const post = (body: object | string | Buffer, headers: object = {}) =>
  send(
    { method: 'POST', headers: { ...JSON_TYPE, ...headers } },
    typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  )

const get = (query: string, headers: object = {}, more = '') =>
  send(
    { method: 'GET', headers: { ...headers } },
    undefined,
    `${gateway.url}?query=${encodeURIComponent(query)}${more}`,
  )

describe('an operation', () => {
  it('is answered to POST and to GET, with variables and an operation name', async () => {
    const query = 'query a { hello } query b($name: String) { hello(name: $name) }'
    const byPost = await post({ query, operationName: 'b', variables: { name: 'you' } })
    expect([byPost.status, byPost.body]).toEqual([200, '{"data":{"hello":"hello you"}}'])
    const byGet = await get(query, {}, '&operationName=b&variables={"name":"you"}')
    expect([byGet.status, byGet.body]).toEqual([200, '{"data":{"hello":"hello you"}}'])
  })

  it('is asked on behalf of the one actor that the headers stand for', async () => {
    const own = await startTestGateway({
      authenticate: ({ authorization }) => ({ name: String(authorization), groups: [] }),
    })
    const headers = { ...JSON_TYPE, authorization: 'you' }
    expect((await send({ method: 'POST', headers }, '{"query":"{ whoami }"}', own.url)).body).toBe(
      '{"data":{"whoami":"you"}}',
    )
    const socket = await SocketClient.open(own.url, { headers: { authorization: 'me' } })
    socket.subscribe('{ whoami }')
    expect((await socket.next()).payload).toEqual({ data: { whoami: 'me' } })
    own.kill()
  })

  it.each([
    [undefined, 'application/graphql-response+json; charset=utf-8'],
    ['*/*', 'application/graphql-response+json; charset=utf-8'],
    ['application/json', 'application/json; charset=utf-8'],
    [
      'application/graphql-response+json, application/json;q=0.9',
      'application/graphql-response+json; charset=utf-8',
    ],
    ['application/graphql-response+json;q=0.5, application/json', 'application/json; charset=utf-8'],
    ['text/event-stream, application/json', 'application/json; charset=utf-8'],
  ])('answers in the type the client likes best: %s', async (accept, type) => {
    const { status, headers } = await post({ query: '{ hello }' }, accept ? { accept } : {})
    expect([status, headers['content-type']]).toEqual([200, type])
  })

  it('streams a subscription to a client that takes streams and JSON', async () => {
    const body = { query: 'subscription { deploymentPhaseChanged(snapshot: true) { kind } }' }
    const client = await EventSource.post(gateway.url, body, {
      accept: 'application/json, text/event-stream',
    })
    expect(await client.phase()).toEqual({ kind: 'SNAPSHOT_COMPLETE' })
    client.close()
  })

  it('passes on the errors that are meant for the caller, beside the data', async () => {
    const { status, body } = await post({ query: '{ hello refused }' })
    expect(status).toBe(200)
    expect(JSON.parse(body)).toMatchObject({
      data: { hello: 'hello world', refused: null },
      errors: [{ message: 'You may not.', path: ['refused'], extensions: { code: 'FORBIDDEN' } }],
    })
  })

  it('says nothing of the inside when a resolver fails, and logs it once', async () => {
    gateway.log.length = 0
    const { status, body, code } = await post({ query: '{ hello boom }' })
    expect([status, code]).toEqual([200, 'INTERNAL_SERVER_ERROR'])
    expect(JSON.parse(body).data).toEqual({ hello: 'hello world', boom: null })
    expect(body).not.toMatch(/secret|stack|\.ts/)
    expect(gateway.log).toHaveLength(1)
    expect(String(Object.values(gateway.log[0]?.fields ?? {}))).toContain('secret')
  })

  it('changes something by POST only', async () => {
    expect((await post({ query: 'mutation { write(text: "x") }' })).body).toBe('{"data":{"write":"x"}}')
    const { status, code, headers } = await get('mutation { write(text: "x") }')
    expect([status, code, headers.allow]).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST'])
    const streamed = await get('mutation { write(text: "x") }', { accept: 'text/event-stream' })
    expect([streamed.status, streamed.code]).toEqual([405, 'METHOD_NOT_ALLOWED'])
  })

  it('sees its signal abort when the caller leaves', async () => {
    gateway.held = new Promise(() => {})
    const sent = request(gateway.url, { method: 'POST', headers: JSON_TYPE, agent: false })
    sent.on('error', () => {})
    const before = gateway.context
    sent.end('{"query":"{ held }"}')
    await until(() => gateway.context !== before)
    const signal = gateway.context?.signal
    expect(signal?.aborted).toBe(false)
    sent.destroy()
    await until(() => signal?.aborted === true)
  })

  it('can be introspected as GraphiQL does', async () => {
    const query = getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true })
    expect(JSON.parse((await post({ query })).body).errors).toBeUndefined()
  })
})

describe('bad input is an error with a code and one sentence', () => {
  const tree = (depth: number) => `{ ${'tree { '.repeat(depth)} leaf ${'}'.repeat(depth)} }`
  /** Fragments that double eleven times: a short text that selects 4,096 fields. */
  const doubling = Array.from(
    { length: 12 },
    (_, n) => `fragment f${n} on Tree { a: tree { ...f${n + 1} } b: tree { ...f${n + 1} } }`,
  )
  const bomb = `{ tree { ...f0 } } ${doubling.join(' ')} fragment f12 on Tree { leaf }`
  const cycle = '{ tree { ...a } } fragment a on Tree { tree { ...b } } fragment b on Tree { tree { ...a } }'

  it.each<[string, string | Buffer, number, string]>([
    ['an empty body', '', 400, 'BAD_REQUEST'],
    ['a body that is no JSON', '{"query": ', 400, 'BAD_REQUEST'],
    ['a body that is not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), 400, 'BAD_REQUEST'],
    ['null', 'null', 400, 'BAD_REQUEST'],
    ['a string', '"{ hello }"', 400, 'BAD_REQUEST'],
    ['a batch', '[{"query":"{ hello }"}]', 400, 'BAD_REQUEST'],
    ['no query', '{}', 400, 'BAD_REQUEST'],
    ['an empty query', '{"query":""}', 400, 'BAD_REQUEST'],
    ['a query that is no string', '{"query":1}', 400, 'BAD_REQUEST'],
    ['variables that are no object', '{"query":"{ hello }","variables":[1]}', 400, 'BAD_REQUEST'],
    ['an operation name that is no string', '{"query":"{ hello }","operationName":1}', 400, 'BAD_REQUEST'],
    ['a broken document', '{"query":"{ hello"}', 400, 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', '{"query":"{ nothing }"}', 400, 'GRAPHQL_VALIDATION_FAILED'],
    ['a missing argument', '{"query":"mutation { write }"}', 400, 'GRAPHQL_VALIDATION_FAILED'],
    ['a literal of the wrong type', '{"query":"{ hello(name: 1) }"}', 400, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a variable of the wrong type',
      '{"query":"query ($n: String) { hello(name: $n) }","variables":{"n":1}}',
      400,
      'BAD_USER_INPUT',
    ],
    ['a missing variable', '{"query":"mutation ($t: String!) { write(text: $t) }"}', 400, 'BAD_USER_INPUT'],
    [
      'an unknown operation',
      '{"query":"{ hello }","operationName":"other"}',
      400,
      'OPERATION_RESOLUTION_FAILURE',
    ],
    [
      'two operations and no name',
      '{"query":"query a { hello } query b { hello }"}',
      400,
      'OPERATION_RESOLUTION_FAILURE',
    ],
    ['fragments only', '{"query":"fragment a on Tree { leaf }"}', 400, 'GRAPHQL_VALIDATION_FAILED'],
    ['a document that is too deep', JSON.stringify({ query: tree(25) }), 400, 'DOCUMENT_TOO_LARGE'],
    [
      'too many aliases',
      JSON.stringify({ query: `{ ${Array.from({ length: 60 }, (_, n) => `a${n}: hello`).join(' ')} }` }),
      400,
      'DOCUMENT_TOO_LARGE',
    ],
    ['fragments that double', JSON.stringify({ query: bomb }), 400, 'DOCUMENT_TOO_LARGE'],
    [
      'fragments that go round in circles',
      JSON.stringify({ query: cycle }),
      400,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'too many tokens',
      JSON.stringify({ query: `{ ${'hello '.repeat(11_000)} }` }),
      400,
      'GRAPHQL_PARSE_FAILED',
    ],
    [
      'a document that is too long',
      JSON.stringify({ query: `{ hello(name: "${'x'.repeat(110_000)}") }` }),
      400,
      'GRAPHQL_PARSE_FAILED',
    ],
    [
      'a million opening braces',
      JSON.stringify({ query: '{'.repeat(1_000_000) }),
      400,
      'GRAPHQL_PARSE_FAILED',
    ],
    [
      'a subscription without a stream',
      '{"query":"subscription { deploymentPhaseChanged { kind } }"}',
      406,
      'NOT_ACCEPTABLE',
    ],
  ])('%s', async (_what, body, status, code) => {
    const answer = await post(body)
    expect([answer.status, answer.code]).toEqual([status, code])
    const { errors, data } = JSON.parse(answer.body)
    expect(data).toBeUndefined()
    expect(errors[0].message).toMatch(/^[^\n]{5,300}$/)
    expect(answer.body).not.toMatch(/stack|node_modules|\.ts:/)
  })

  it.each<[string, string, number, string]>([
    ['no parameters', '', 400, 'BAD_REQUEST'],
    ['variables that are no JSON', '?query={hello}&variables={', 400, 'BAD_REQUEST'],
    ['variables that are no object', '?query={hello}&variables=3', 400, 'BAD_REQUEST'],
    ['a broken document', '?query={', 400, 'GRAPHQL_PARSE_FAILED'],
  ])('in a URL: %s', async (_what, search, status, code) => {
    const answer = await send({ method: 'GET' }, undefined, `${gateway.url}${search}`)
    expect([answer.status, answer.code]).toEqual([status, code])
  })

  it('a document with errors is 200 for a client that asks for application/json', async () => {
    const answer = await post({ query: '{ nothing }' }, { accept: 'application/json' })
    expect([answer.status, answer.code]).toEqual([200, 'GRAPHQL_VALIDATION_FAILED'])
  })

  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/graphql'],
    [''],
  ])('a content type that a page could send, or no JSON: %s', async (type) => {
    const answer = await post('{"query":"mutation { write(text: \\"x\\") }"}', { 'content-type': type })
    expect([answer.status, answer.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  it('no content type at all', async () => {
    const answer = await send({ method: 'POST' }, '{"query":"{ hello }"}')
    expect([answer.status, answer.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  it.each(['application/json', 'application/json; charset=utf-8', 'application/graphql-response+json'])(
    'but %s is fine',
    async (type) => {
      expect((await post({ query: '{ hello }' }, { 'content-type': type })).status).toBe(200)
    },
  )

  it.each(['PUT', 'DELETE', 'PATCH', 'HEAD'])('another method: %s', async (method) => {
    const answer = await send({ method })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST'])
  })

  it.each(['text/plain', 'multipart/mixed', 'application/xml'])(
    'an answer nobody gives: %s',
    async (accept) => {
      const answer = await post({ query: '{ hello }' }, { accept })
      expect([answer.status, answer.code]).toEqual([406, 'NOT_ACCEPTABLE'])
    },
  )

  it.each(['/nothing', '/graphql/more', '//graphql', '/%00', '/graphqlx'])(
    'an unknown path: %s',
    async (path) => {
      const { port } = gateway
      const answer = await send({ path, port, host: '127.0.0.1', method: 'GET' })
      expect([answer.status, answer.code]).toEqual([404, 'NOT_FOUND'])
    },
  )

  it('a body of 10 MB, declared or not, is refused without being kept', async () => {
    const big = Buffer.alloc(10 * 1024 * 1024, 'x')
    const declared = await post(big)
    expect([declared.status, declared.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    const chunked = await send(
      { method: 'POST', headers: { ...JSON_TYPE, 'transfer-encoding': 'chunked' } },
      big,
    )
    expect([chunked.status, chunked.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })

  it('a body of just the limit is read, declared or not', async () => {
    const query = '{ hello }'
    const frame = JSON.stringify({ query, extensions: { pad: '' } }).length
    const body = JSON.stringify({ query, extensions: { pad: 'x'.repeat(MAX_BODY_BYTES - frame) } })
    expect(body).toHaveLength(MAX_BODY_BYTES)
    expect((await post(body)).status).toBe(200)
    const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked' }
    expect((await send({ method: 'POST', headers }, body)).status).toBe(200)
    expect((await post(`${body} `)).status).toBe(413)
  })

  it('a client that leaves in the middle of its body is no error of ours', async () => {
    gateway.log.length = 0
    const socket = connect(gateway.port, '127.0.0.1')
    const head = [
      'POST /graphql HTTP/1.1',
      `host: 127.0.0.1:${gateway.port}`,
      'content-type: application/json',
    ]
    socket.write([...head, 'content-length: 100', '', '{"query"'].join('\r\n'))
    await once(socket, 'connect')
    socket.destroy()
    await until(() => gateway.log.some(({ message }) => message === 'a client left early'))
    expect(gateway.log.map(({ level }) => level)).toEqual(['debug'])
  })

  it('bytes that are no HTTP are answered 400 and the server lives', async () => {
    const socket = connect(gateway.port, '127.0.0.1')
    socket.write('hello\r\n\r\n')
    const [chunk] = await once(socket, 'data')
    expect(String(chunk)).toContain('400 Bad Request')
    socket.destroy()
    expect((await post({ query: '{ hello }' })).status).toBe(200)
  })
})

describe('health', () => {
  it('is live while the process is, and ready once reads are answered', async () => {
    let ready = false
    let live = true
    const report = { caches: [{ kind: 'Pod', synced: false }] }
    const own = await startTestGateway({ health: () => ({ live, ready, report }) })
    const ask = async (path: string) => {
      const { status, body } = await send({ method: 'GET' }, undefined, new URL(path, own.url).href)
      return [status, JSON.parse(body)]
    }
    expect(await ask('/healthz')).toEqual([200, { live: true }])
    expect(await ask('/readyz')).toEqual([503, { ready: false, ...report }])
    ready = true
    expect(await ask('/readyz')).toEqual([200, { ready: true, ...report }])
    live = false
    expect(await ask('/healthz')).toEqual([503, { live: false }])
    own.kill()
  })

  it('is answered to GET only', async () => {
    const answer = await send({ method: 'POST' }, undefined, new URL('/readyz', gateway.url).href)
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD'])
  })
})

describe('start and stop', () => {
  it('rejects with EADDRINUSE when the port is taken', async () => {
    await expect(startTestGateway({ port: gateway.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  it('finishes what is in flight, then takes nothing more', async () => {
    const own = await startTestGateway()
    let release = (_text: string) => {}
    own.held = new Promise((resolve) => {
      release = resolve
    })
    const answer = send({ method: 'POST', headers: JSON_TYPE }, '{"query":"{ held }"}', own.url)
    await until(() => own.context !== null)
    const stopped = own.stop()
    expect(own.context?.signal.aborted).toBe(true)
    await expect(send({ method: 'GET' }, undefined, own.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    release('at last')
    expect((await answer).body).toBe('{"data":{"held":"at last"}}')
    await stopped
  })

  it('lets idle connections that are kept alive go', async () => {
    const own = await startTestGateway()
    expect(await (await fetch(`${own.url}?query={hello}`)).json()).toEqual({ data: { hello: 'hello world' } })
    await own.stop()
    await expect(fetch(own.url)).rejects.toThrow()
  })

  it('cuts everything off at once when it is killed', async () => {
    const own = await startTestGateway()
    own.held = new Promise(() => {})
    const answer = send({ method: 'POST', headers: JSON_TYPE }, '{"query":"{ held }"}', own.url)
    await until(() => own.context !== null)
    const socket = await SocketClient.open(own.url)
    own.kill()
    await expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect((await socket.closed).code).toBe(1006)
  })
})
