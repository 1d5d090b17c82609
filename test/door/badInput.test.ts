/** What nobody should send, sent to the real process: a typed result or one sentence, never a stack, a 500 or a hang. */
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { SocketClient } from '../unit/server/socketClient.ts'
import { type Gateway, startSandbox } from './support/gateway.ts'
import { type HttpAnswer, type HttpCall, sendHarmless, sentenceOf } from './support/http.ts'
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

const post = (body: string | Buffer | object, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
  call({
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  })

const LONG = 'x'.repeat(400)
/** By what is wrong with them. */
const BAD_NAMES = {
  empty: '',
  'upper case': 'Chat',
  'an underscore': 'my_chat',
  'a dash in front': '-chat',
  'a blank': 'my chat',
  'a slash': 'team-a/chat',
  'a path': '../../secrets',
  'a letter that is no ASCII': 'chät',
  'a line break': 'chat\nname: other',
  'a NUL': 'chat\0',
  'an option of helm': '--kube-context=other',
  'a command': '$(reboot)',
  '400 characters': LONG,
}

describe('a release that is not there', () => {
  it.each([
    ['of an unknown name', 'team-a', 'nobody'],
    ['in an unknown namespace', 'nowhere', 'chat'],
    ['with the longest name', 'team-a', `${'x'.repeat(63)}.${'y'.repeat(63)}`],
  ])('%s is null, and an uninstall of it a ReleaseNotFoundError', async (_what, namespace, name) => {
    const query = `query ($namespace: String!, $name: String!) {
      deployment(namespace: $namespace, name: $name) { phase }
      release(namespace: $namespace, name: $name) { exists }
      runs(filter: { namespace: $namespace, name: $name }) { nodes { id } }
    }`
    expect(await gateway.ask(query, { namespace, name })).toMatchObject({
      deployment: null,
      release: null,
      runs: { nodes: [] },
    })
    const answer = await gateway.uninstall({ namespace, name })
    expect(answer).toMatchObject({ __typename: 'ReleaseNotFoundError', code: 'RELEASE_NOT_FOUND' })
    expect(answer.message).toContain(`${namespace}/${name}`)
  })

  it('is null by any id', async () => {
    const ids = ['', 'x', '%', LONG, 'RGVwbG95bWVudDo=', Buffer.from('Deployment:a/b/c').toString('base64')]
    const { node, run, nodes } = await gateway.ask(
      'query ($ids: [ID!]!, $id: ID!) { node(id: $id) { id } run(id: $id) { id } nodes(ids: $ids) { id } }',
      { ids, id: LONG },
    )
    expect([node, run]).toEqual([null, null])
    expect(nodes).toEqual(ids.map(() => null))
  })
})

describe.each(Object.entries(BAD_NAMES))('a name that is none, %s,', (_what, bad) => {
  it.each([
    ['namespace', { namespace: bad, name: 'chat' }],
    ['name', { namespace: 'team-a', name: bad }],
  ])('as %s is refused with one sentence that does not repeat it', async (argument, variables) => {
    for (const field of ['deployment', 'release']) {
      const query = `query ($namespace: String!, $name: String!) {
        ${field}(namespace: $namespace, name: $name) { __typename }
      }`
      const answer = await post({ query, variables })
      expect([answer.status, answer.code]).toEqual([200, 'INVALID_INPUT'])
      expect(answer.json.data).toEqual({ [field]: null })
      const message = sentenceOf(answer)
      expect(message).toContain(argument)
      if (bad.length > 5) expect(message).not.toContain(bad)
    }
  })

  it.each([
    ['namespace', { namespace: bad, name: 'chat' }],
    ['name', { namespace: 'team-a', name: bad }],
  ])('as %s of an uninstall is an InvalidInputError', async (argument, input) => {
    const query = `mutation ($input: UninstallReleaseInput!) {
      uninstallRelease(input: $input) {
        __typename
        ... on InvalidInputError { code message retryable issues { path message } }
      }
    }`
    const { json } = await post({ query, variables: { input } })
    expect(json).toEqual({
      data: {
        uninstallRelease: {
          __typename: 'InvalidInputError',
          code: 'INVALID_INPUT',
          retryable: false,
          message: expect.stringMatching(/^[^\n]{5,300}\.$/),
          issues: [{ path: ['input', argument], message: expect.any(String) }],
        },
      },
    })
  })

  it('ends a stream before it has begun, over SSE and over a WebSocket', async () => {
    const query = `subscription ($name: String) {
      deploymentPhaseChanged(namespace: "team-a", name: $name) { kind }
    }`
    const answer = await post({ query, variables: { name: bad } }, { accept: 'text/event-stream' })
    expect(answer.code).toBe('INVALID_INPUT')
    sentenceOf(answer)
    const socket = await SocketClient.open(gateway.url)
    socket.subscribe(query, { variables: { name: bad } })
    const { type, payload } = await socket.next()
    expect([type, JSON.stringify(payload)]).toEqual([
      expect.stringMatching(/^(error|next)$/),
      expect.stringContaining('INVALID_INPUT'),
    ])
    await socket.close()
  })
})

describe('an input that makes no sense', () => {
  it.each([
    ['a page of -1', 'deployments(first: -1) { totalCount }'],
    ['a page of 501', 'deployments(first: 501) { totalCount }'],
    ['two pages at once', 'deployments(first: 1, last: 1) { totalCount }'],
    ['a cursor that is none', 'deployments(first: 1, after: "nonsense") { totalCount }'],
    ['a cursor of 400 characters', `deployments(first: 1, after: "${LONG}") { totalCount }`],
    ['a page of 501 runs', 'runs(first: 501) { nodes { id } }'],
    ['a search of 400 characters', `deployments(filter: { search: "${LONG}" }) { totalCount }`],
    ['too many ids', `nodes(ids: ${JSON.stringify(Array(501).fill('x'))}) { id }`],
  ])('is an error with a code: %s', async (_what, selection) => {
    const answer = await post({ query: `{ ${selection} }` })
    expect([answer.status, answer.code]).toEqual([200, 'INVALID_INPUT'])
    sentenceOf(answer)
  })

  it.each([
    ['a note of 2,000 characters', { note: 'x'.repeat(2000) }, 'InvalidInputError'],
    ['a negative time-out', { timeoutSeconds: -1 }, 'InvalidInputError'],
    ['a time-out of a day', { timeoutSeconds: 86_400 }, 'InvalidInputError'],
    ['revision 0', { expectedRevision: 0 }, 'InvalidInputError'],
    ['a uid of 400 characters', { expectedUid: LONG }, 'InvalidInputError'],
    ['the wrong revision', { expectedRevision: 1 }, 'PreconditionFailedError'],
    ['the wrong uid', { expectedUid: 'somebody-else' }, 'PreconditionFailedError'],
  ])('does not uninstall anything: %s', async (_what, more, type) => {
    const query = `mutation ($input: UninstallReleaseInput!) {
      uninstallRelease(input: $input) {
        __typename
        ... on UserError { message }
        ... on PreconditionFailedError { currentRevision currentUid }
      }
    }`
    const { json } = await post({
      query,
      variables: { input: { namespace: 'team-a', name: 'chat', ...more } },
    })
    expect(json.errors).toBeUndefined()
    expect(json.data.uninstallRelease.__typename).toBe(type)
    if (type === 'PreconditionFailedError') expect(json.data.uninstallRelease.currentRevision).toBe(3)
  })

  it.each<[string, object, number, string]>([
    [
      'a number for a name',
      { query: '{ deployment(namespace: 1, name: 2) { phase } }' },
      400,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a list for a name',
      {
        query: 'query ($n: String!) { deployment(namespace: "team-a", name: $n) { phase } }',
        variables: { n: ['chat'] },
      },
      400,
      'BAD_USER_INPUT',
    ],
    [
      'a variable that is missing',
      { query: 'query ($n: String!) { deployment(namespace: "team-a", name: $n) { phase } }' },
      400,
      'BAD_USER_INPUT',
    ],
    [
      'a phase nobody knows',
      { query: '{ deployments(filter: { phases: [GOING] }) { totalCount } }' },
      400,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a time-out beyond 32 bits',
      {
        query:
          'mutation ($t: Int!) { uninstallRelease(input: { namespace: "team-a", name: "chat", timeoutSeconds: $t }) { __typename } }',
        variables: { t: 1e12 },
      },
      400,
      'BAD_USER_INPUT',
    ],
    [
      'a moment that is none',
      { query: '{ deployments(filter: { uninstallingBefore: "yesterday" }) { totalCount } }' },
      400,
      'INVALID_INPUT',
    ],
    [
      'an input without a name',
      { query: 'mutation { uninstallRelease(input: { namespace: "team-a" }) { __typename } }' },
      400,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['an unknown field', { query: '{ deployments { secrets } }' }, 400, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'an unknown argument',
      { query: '{ deployments(limit: 3) { totalCount } }' },
      400,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['a broken document', { query: '{ deployments {' }, 400, 'GRAPHQL_PARSE_FAILED'],
    [
      'an unknown operation',
      { query: '{ viewer { name } }', operationName: 'Other' },
      400,
      'OPERATION_RESOLUTION_FAILURE',
    ],
    [
      'aliases without end',
      { query: `{ ${Array.from({ length: 200 }, (_, n) => `a${n}: viewer { name }`).join(' ')} }` },
      400,
      'DOCUMENT_TOO_LARGE',
    ],
    [
      'depth without end',
      {
        query: `{ deployments { nodes { ${'release { deployment { '.repeat(30)} name ${'} }'.repeat(30)} } } }`,
      },
      400,
      'DOCUMENT_TOO_LARGE',
    ],
  ])('is refused before it is run: %s', async (_what, body, status, code) => {
    const answer = await post(body)
    expect([answer.status, answer.code]).toEqual([status, code])
    expect(answer.json.data).toBeUndefined()
    for (const { message } of answer.json.errors) expect(message).toMatch(/^\S[^\n]{4,498}$/)
  })

  it('as a cursor of a stream is refused, and as Last-Event-ID begins anew', async () => {
    const query = (since: string) => `subscription { deploymentPhaseChanged${since} { kind } }`
    const sse = { accept: 'text/event-stream' }
    const refused = await post({ query: query('(since: "nonsense")') }, sse)
    expect(refused.code).toBe('INVALID_INPUT')
    const taken = await post({ query: query('') }, { ...sse, 'last-event-id': 'nonsense' })
    expect(taken.json.data.deploymentPhaseChanged).toEqual({ kind: 'RESYNC' })
    const alone = await post({ query: 'subscription { deploymentPhaseChanged(name: "chat") { kind } }' }, sse)
    expect(alone.code).toBe('INVALID_INPUT')
  })
})

describe('a request that is none', () => {
  it.each<[string, string | Buffer, number, string]>([
    ['an empty body', '', 400, 'BAD_REQUEST'],
    ['a body that is no JSON', 'query { viewer { name } }', 400, 'BAD_REQUEST'],
    ['half of a JSON body', '{"query": "{ viewer', 400, 'BAD_REQUEST'],
    ['a body of bytes', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 400, 'BAD_REQUEST'],
    ['a JSON body that is no object', '"{ viewer { name } }"', 400, 'BAD_REQUEST'],
    ['a batch', '[{"query": "{ viewer { name } }"}]', 400, 'BAD_REQUEST'],
    ['no query', '{}', 400, 'BAD_REQUEST'],
    ['a query that is no text', '{"query": {"viewer": "name"}}', 400, 'BAD_REQUEST'],
    [
      'variables that are no object',
      '{"query": "{ viewer { name } }", "variables": "x"}',
      400,
      'BAD_REQUEST',
    ],
    ['a body of 10 MB', Buffer.alloc(10 * 1024 * 1024, ' '), 413, 'PAYLOAD_TOO_LARGE'],
    [
      'a subscription that takes no stream',
      '{"query": "subscription { deploymentPhaseChanged { kind } }"}',
      406,
      'NOT_ACCEPTABLE',
    ],
  ])('%s', async (_what, body, status, code) => {
    const answer = await post(body)
    expect([answer.status, answer.code]).toEqual([status, code])
    sentenceOf(answer)
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql',
    '',
  ])('the content type %s', async (type) => {
    const answer = await post({ query: '{ viewer { name } }' }, { 'content-type': type })
    expect([answer.status, answer.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    sentenceOf(answer)
  })

  it.each(['PUT', 'DELETE', 'PATCH'])('the method %s', async (method) => {
    const answer = await call({ method, headers: JSON_TYPE, body: '{"query":"{ viewer { name } }"}' })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST'])
  })

  it.each(['/graphql/more', '/admin', '//graphql', '/%2e%2e/etc/passwd'])('the path %s', async (path) => {
    const answer = await call({ path })
    expect([answer.status, answer.code]).toEqual([404, 'NOT_FOUND'])
  })
})

describe('a WebSocket', () => {
  const open = (protocols: string[], path = '/graphql'): WebSocket => {
    const socket = new WebSocket(new URL(path, gateway.url.replace('http', 'ws')), protocols)
    socket.on('error', () => {})
    return socket
  }
  const codeOf = async (socket: WebSocket): Promise<number> => {
    const [code] = await within('the close', once(socket, 'close'), 20_000)
    return code
  }

  it('that does not say which protocol it speaks is closed', async () => {
    expect(await codeOf(open([]))).toBe(4406)
  })

  it.each([
    ['that says no JSON', 'hello', 4400],
    ['that says an unknown message', '{"type":"hello"}', 4400],
    [
      'that subscribes before its greeting',
      '{"id":"1","type":"subscribe","payload":{"query":"{ viewer { name } }"}}',
      4401,
    ],
  ])('%s is closed', async (_what, message, code) => {
    const socket = open([PROTOCOL])
    await once(socket, 'open')
    const closed = codeOf(socket)
    socket.send(message)
    expect(await closed).toBe(code)
  })

  it('elsewhere is 404', async () => {
    const socket = open([PROTOCOL], '/other')
    const [, response] = await within('the refusal', once(socket, 'unexpected-response'), 20_000)
    expect(response.statusCode).toBe(404)
    socket.terminate()
  })

  it('gets the errors of a document, and lives on', async () => {
    const socket = await SocketClient.open(gateway.url)
    for (const query of [
      '{',
      '{ nothing }',
      'subscription { deploymentPhaseChanged(since: 3.5) { kind } }',
    ]) {
      socket.subscribe(query)
      const { type, payload } = await socket.next()
      expect(type).toBe('error')
      expect(JSON.stringify(payload)).toMatch(/GRAPHQL_PARSE_FAILED|GRAPHQL_VALIDATION_FAILED|INVALID_INPUT/)
    }
    socket.subscribe('{ viewer { name } }')
    expect(await socket.next()).toMatchObject({ type: 'next' })
    await socket.close()
  })
})

describe('after all of it', () => {
  it('nothing has happened to the releases', async () => {
    const { deployments, runs } = await gateway.ask(
      '{ deployments { totalCount nodes { name phase } } runs { nodes { id } } }',
    )
    expect(deployments.totalCount).toBe(10)
    expect(deployments.nodes).toContainEqual({ name: 'chat', phase: 'APPLIED' })
    expect(deployments.nodes).toContainEqual({ name: 'research', phase: 'APPLIED' })
    expect(runs.nodes).toEqual([])
  })

  it('a plan that cannot be read is one row with a reason', async () => {
    const row = await gateway.row('team-a', 'translate', 'phase phaseReason drift { kind message }')
    expect(row).toMatchObject({ phase: 'UNKNOWN', drift: { kind: 'UNREADABLE' } })
    expect(row.phaseReason).toMatch(/plan\.yaml is not valid YAML/)
  })

  it('the gateway has found nothing worth a line in its log', () => {
    expect(gateway.child.stderr).toBe('')
  })
})
