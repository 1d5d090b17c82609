/** The service level through the gateway's door: from its own SLO service, and with every way in which that can fail. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startSloServer } from '../../../sandbox/slo/server.ts'
import { Kinds } from '../../../services/cluster/kinds.ts'
import { chat, startChanging } from '../releases/support/changing.ts'

const TOKEN = 'a-token'
const FIELDS =
  '__typename highPriority minimumReplicas maximumReplicas ttft { statistic threshold } otps { statistic threshold }'
const READ = `{ release(namespace: "team-a", name: "chat") { slo { __typename ... on Slo { ${FIELDS} } ... on UserError { message code retryable } } } }`
const WRITTEN = `__typename
  ... on SetSloPayload { slo { ${FIELDS} } run { action outcome changed actor backend } }
  ... on UserError { message code retryable }
  ... on InvalidInputError { issues { path } }`
const SET = `mutation ($input: SetSloInput!) { it: setSlo(input: $input) { ${WRITTEN} } }`
const RESET = `mutation ($input: ResetSloInput!) { it: resetSlo(input: $input) { ${WRITTEN} } }`

let world: Awaited<ReturnType<typeof startChanging>>
let gateway: Awaited<ReturnType<typeof world.start>>

beforeEach(async () => {
  world = await startChanging()
  await world.helm.record(chat, 'deployed')
  gateway = await world.start('gateway-1')
  await world.settle()
})

const inSystem = (name: string) => ({ namespace: 'swiss-system', name })

async function profile(scaler: object | null, token: string | null = TOKEN, key = 'token') {
  const { client } = world
  if (scaler !== null) {
    const data = { 'profile.yaml': JSON.stringify({ name: 'lab', scaler }) }
    await client.create(Kinds.ConfigMap, { metadata: inSystem('swiss-site'), data })
  }
  if (token !== null) {
    const data = { [key]: Buffer.from(token).toString('base64') }
    await client.create(Kinds.Secret, { metadata: inSystem('slo-token'), data })
  }
}

/** An SLO service that answers as it is told. */
async function stub(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await profile({ sloAddress: url, sloTokenSecret: 'slo-token' })
  return { seen, url }
}
const status =
  (code: number, body = '{}') =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(code).end(body)

const read = async () =>
  ((await gateway.ask(READ)) as unknown as { release: { slo: Record<string, unknown> | null } }).release.slo
const set = async (change: object) =>
  (await gateway.ask(SET, { input: { ...chat, ...change } })).it as unknown as Record<string, unknown>
const reset = async () => (await gateway.ask(RESET, { input: chat })).it as unknown as Record<string, unknown>

describe('with its SLO service', () => {
  test('it is null, is set, is merged, is read by anybody who selects it, and goes back to the defaults', async () => {
    const slo = await startSloServer(TOKEN)
    onTestFinished(() => slo.stop())
    await profile(
      { sloAddress: `${slo.url}//`, sloTokenSecret: 'swiss-system/slo-token', sloTokenKey: 'key' },
      TOKEN,
      'key',
    )
    expect(await read()).toBeNull()
    expect(
      await set({ priority: 10, minimumReplicas: 1, ttft: [{ statistic: 'P95', threshold: 2.5 }] }),
    ).toEqual({
      __typename: 'SetSloPayload',
      slo: {
        __typename: 'Slo',
        highPriority: true,
        minimumReplicas: 1,
        maximumReplicas: null,
        ttft: [{ statistic: 'P95', threshold: 2.5 }],
        otps: [],
      },
      run: { action: 'SET_SLO', outcome: 'SUCCEEDED', changed: true, actor: 'ada', backend: 'HELM' },
    })
    expect(await set({ maximumReplicas: 4, highPriority: false })).toMatchObject({
      slo: { highPriority: false, minimumReplicas: 1, maximumReplicas: 4, ttft: [{ statistic: 'P95' }] },
    })
    expect(slo.configs.get('chat')).toMatchObject({
      route: 'chat',
      maximumDeployment: { type: 'replica', value: 4 },
    })
    expect(await read()).toMatchObject({ __typename: 'Slo', minimumReplicas: 1 })
    expect(await reset()).toMatchObject({ slo: null, run: { action: 'RESET_SLO', outcome: 'SUCCEEDED' } })
    expect(await reset()).toMatchObject({ __typename: 'SetSloPayload', slo: null })
    expect((await gateway.runs()).map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'SET_SLO SUCCEEDED',
      'SET_SLO SUCCEEDED',
      'RESET_SLO SUCCEEDED',
      'RESET_SLO SUCCEEDED',
    ])
  })

  test('an LLMService that a canary owns, or is assigned to, has one like any other', async () => {
    const slo = await startSloServer(TOKEN)
    onTestFinished(() => slo.stop())
    await profile({ sloAddress: slo.url, sloTokenSecret: 'slo-token' })
    const owned = { labels: { 'serving.modelsphere.dev/canary': 'demo' } }
    const assignment = JSON.stringify({ namespace: 'team-a', name: 'demo', uid: 'canary-1' })
    const referenced = { annotations: { 'serving.modelsphere.dev/canary-assignment': assignment } }
    for (const [name, canary] of Object.entries({ owned, referenced })) {
      const spec = { chart: { name: 'vllm', version: '0.4.0' } }
      await world.client.create(Kinds.LLMService, { metadata: { ...chat, name, ...canary }, spec })
      expect(await set({ name, priority: 10 })).toMatchObject({
        slo: { highPriority: true },
        run: { backend: 'LLMSERVICE', outcome: 'SUCCEEDED' },
      })
    }
  })

  test('what makes no sense is refused before it is asked, and so is a name without a release', async () => {
    const { seen } = await stub(status(200))
    expect(await set({ priority: 5 })).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: ['input', 'priority'] }],
    })
    expect(await set({ route: 'talk', priority: 0 })).toMatchObject({
      issues: [{ path: ['input', 'route'] }],
    })
    expect(await set({ priority: 10, highPriority: false })).toMatchObject({
      __typename: 'InvalidInputError',
    })
    expect(await set({ name: 'nobody', priority: 0 })).toMatchObject({ __typename: 'ReleaseNotFoundError' })
    expect([seen, await gateway.runs()]).toEqual([[], []])
  })
})

describe('without an answer from it', () => {
  test.each<[string, object | null, string | null]>([
    ['no site profile', null, null],
    ['a profile that names no Secret', { sloAddress: 'http://127.0.0.1:1' }, TOKEN],
    ['a Secret that is not there', { sloTokenSecret: 'nobody' }, TOKEN],
    ['a Secret without the key', { sloTokenSecret: 'slo-token', sloTokenKey: 'other' }, TOKEN],
    ['an empty token', { sloTokenSecret: 'slo-token' }, ' \n'],
    ['a token that no header can carry', { sloTokenSecret: 'slo-token' }, 'a\nb'],
    ['a Secret of a name that is none', { sloTokenSecret: 'a/b/c' }, TOKEN],
  ])('%s says that there is no token', async (_what, scaler, token) => {
    await profile(scaler, token)
    const wanted = { code: 'SLO_UNAVAILABLE', retryable: false, message: expect.stringMatching(/no token/) }
    expect(await read()).toMatchObject({ __typename: 'SloUnavailableError', ...wanted })
    expect(await set({ priority: 0 })).toMatchObject({ __typename: 'SloUnavailableError', ...wanted })
    expect(await reset()).toMatchObject({ __typename: 'SloUnavailableError', ...wanted })
    expect(await gateway.runs()).toEqual([])
  })

  test.each([
    ['no http address', { sloAddress: 'file:///etc', sloTokenSecret: 'slo-token' }],
    ['no address at all', { sloAddress: 'x y', sloTokenSecret: 'slo-token' }],
  ])('%s is said', async (_what, scaler) => {
    await profile(scaler)
    expect(await read()).toMatchObject({
      message: expect.stringMatching(/no http address/),
      retryable: false,
    })
  })

  test('a 404 of a service that is not ready says nothing', async () => {
    const { seen } = await stub((request, response) =>
      status(request.url === '/readyz' ? 503 : 404)(request, response),
    )
    expect(await read()).toMatchObject({ message: 'the SLO service is not ready', retryable: true })
    expect(seen).toEqual(['GET /config/chat', 'GET /readyz'])
    expect(await set({ priority: 0 })).toMatchObject({ message: 'the SLO service is not ready' })
    expect(await gateway.runs()).toEqual([])
  })

  test('a 404 of one that is ready, or has no such thing, is none', async () => {
    await stub(status(404))
    expect(await read()).toBeNull()
    expect(await set({ priority: 0 })).toMatchObject({ __typename: 'SloUnavailableError', retryable: false })
  })

  test.each<[number, string, boolean]>([
    [401, 'token', false],
    [403, 'token', false],
    [302, 'HTTP 302', false],
    [429, 'HTTP 429', true],
    [500, 'HTTP 500: oops', true],
  ])('HTTP %d is an error', async (code, words, retryable) => {
    await stub(status(code, '{"error":"oops"}'))
    const wanted = { __typename: 'SloUnavailableError', message: expect.stringContaining(words), retryable }
    expect(await read()).toMatchObject(wanted)
    expect(await set({ priority: 0 })).toMatchObject(wanted)
    // Only what may have been carried out all the same is in the log.
    expect((await gateway.runs()).map(({ outcome }) => outcome)).toEqual(code === 500 ? ['FAILED'] : [])
  })

  test('values that the service refuses are the caller’s input', async () => {
    await stub(status(422, '{"message":"too low"}'))
    expect(await set({ minimumReplicas: 0 })).toMatchObject({
      __typename: 'InvalidInputError',
      message: 'input is refused by the SLO service: too low.',
      issues: [{ path: ['input'] }],
    })
    expect(await gateway.runs()).toEqual([])
  })

  test('what is no configuration, and what is too large, is an error', async () => {
    let body = '<html>'
    await stub((request, response) => status(200, body)(request, response))
    expect(await read()).toMatchObject({
      message: expect.stringContaining('no configuration'),
      retryable: false,
    })
    body = `{"route":"${'x'.repeat(1024 * 1024)}"}`
    expect(await read()).toMatchObject({ message: expect.stringContaining('1 MiB'), retryable: false })
  })

  test('nobody there, and one that hangs up', async () => {
    const { url } = await stub((request) => void request.socket.destroy())
    const wanted = {
      __typename: 'SloUnavailableError',
      message: expect.stringContaining('cannot be reached'),
      retryable: true,
    }
    expect(await read()).toMatchObject(wanted)
    expect(await set({ priority: 0 })).toMatchObject(wanted)
    expect(await gateway.runs()).toMatchObject([{ action: 'SET_SLO', outcome: 'FAILED' }])
    // Port 1 of this machine: nothing listens, so nothing was sent.
    const data = {
      'profile.yaml': JSON.stringify({
        scaler: { sloAddress: 'http://127.0.0.1:1', sloTokenSecret: 'slo-token' },
      }),
    }
    await world.client.patch(Kinds.ConfigMap, inSystem('swiss-site'), 'merge', { data })
    expect(await set({ priority: 0 })).toMatchObject(wanted)
    expect(await gateway.runs()).toHaveLength(1)
    expect(url).toContain('127.0.0.1')
  })

  test.each(['headers', 'body'])('one whose %s do not come within ten seconds', async (what) => {
    let asked = () => {}
    const arrived = new Promise<void>((resolve) => {
      asked = resolve
    })
    await stub((_, response) => {
      if (what === 'body') response.writeHead(200).write('{')
      asked()
    })
    const reading = read()
    await arrived
    await world.clock.advance(10_000)
    expect(await reading).toMatchObject({ message: expect.stringContaining('within 10 s'), retryable: true })
  })

  test('a cluster that does not answer is no missing token', async () => {
    await profile({ sloTokenSecret: 'slo-token' })
    world.server.fault({ verb: 'get', kind: 'Secret', name: 'slo-token', status: 503 })
    expect(await read()).toMatchObject({ __typename: 'SloUnavailableError', retryable: true })
    expect(await set({ priority: 0 })).toMatchObject({
      __typename: 'ClusterUnavailableError',
      retryable: true,
    })
  })
})

test('a write whose fresh read fails has been done', async () => {
  await stub((request, response) => status(request.method === 'PUT' ? 200 : 500)(request, response))
  expect(await set({ priority: 0 })).toMatchObject({ slo: null, run: { outcome: 'SUCCEEDED' } })
})
