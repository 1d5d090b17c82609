import { expect, test } from 'vitest'
import type { GatewayContext } from '../../../resolvers/context.ts'
import { encodeRunCursor } from '../../../services/audit/cursor.ts'
import { KubeError } from '../../../services/cluster/errors.ts'
import type { RevisionDetail } from '../../../services/releases/detailTypes.ts'
import { ask } from './ask.ts'
import { detail, FakeLister, fakeContext, NOW, row, run, runPage } from './fakes.ts'

const details = (part: Partial<GatewayContext['details']> = {}): GatewayContext['details'] => ({
  get: () => detail(),
  helmChart: () => Promise.reject(new Error('not to be read live')),
  servicePlan: () => Promise.reject(new Error('not to be read live')),
  revisions: () => Promise.reject(new Error('not to be read live')),
  ...part,
})

test('a release is shown with helm, plan, status, LLMService and pods, and only an LLMService’s plan is read live', async () => {
  const deletion = {
    stage: 'RouteSettling',
    outcome: null,
    podsRemaining: null,
    pods: null,
    startedAt: null,
    deadline: null,
    message: null,
    forceDeleted: null,
    requestedBy: null,
    note: null,
    blockers: [],
    leftBehind: [],
  }
  const chart = { name: 'vllm', version: '0.4.0', repo: null }
  const plan = {
    hash: 'abc',
    engine: 'vllm',
    profile: 'lab',
    chart,
    source: null,
    layers: [{ name: 'form', values: { seed: 9007199254740993n } }],
    values: { seed: 9007199254740993n, on: true },
  }
  const status = {
    phase: 'FAILED' as const,
    action: 'UNINSTALL' as const,
    revision: 3,
    startedAt: NOW,
    updatedAt: NOW,
    error: 'timed out',
    note: null,
    forced: null,
    actor: 'user-a',
  }
  const llmService = {
    phase: 'UNINSTALLING' as const,
    operatorPhase: 'Deleting',
    message: null,
    revision: 2,
    conditions: [{ type: 'Ready', status: 'False', reason: null, message: 'm', lastTransitionTime: NOW }],
    deletion,
    finalizers: ['serving.modelsphere.dev/finalizer'],
  }
  const pod = {
    name: 'chat-0',
    phase: 'Running',
    ready: true,
    restarts: 2,
    node: 'n1',
    gpus: 4,
    message: null,
    createdAt: NOW,
    deletionTimestamp: null,
  }
  const facts = {
    ...pod,
    namespace: 'team-a',
    uid: 'uid-pod',
    deletionGracePeriodSeconds: null,
    terminationGracePeriodSeconds: 30,
    mirror: false,
    finalizers: [],
    instance: 'chat',
    app: null,
    claims: [],
  }
  const get = () => detail({ planStatus: status, llmService, pods: [facts], warnings: ['w'] })
  const servicePlan = async () => plan
  const answer = await ask(
    `{ release(namespace: "team-a", name: "chat") {
      namespace name exists warnings deployment { name }
      helm { revision status updatedAt }
      planStatus { phase action revision startedAt updatedAt error note forced actor }
      llmService { phase operatorPhase message revision finalizers
        conditions { type status reason message lastTransitionTime } deletion { stage podsRemaining pods { name } } }
      pods { name phase ready restarts node gpus message createdAt deletionTimestamp }
      plan { hash engine profile chart { name version repo } source { model } layers { name values } values } } }`,
    fakeContext({ details: details({ get, servicePlan }) }),
  )
  expect(answer).toEqual({
    data: {
      release: {
        namespace: 'team-a',
        name: 'chat',
        exists: true,
        warnings: ['w'],
        deployment: { name: 'chat' },
        helm: { revision: 3, status: 'deployed', updatedAt: NOW },
        planStatus: status,
        llmService: { ...llmService, deletion: { stage: 'RouteSettling', podsRemaining: null, pods: null } },
        pods: [pod],
        plan: {
          ...plan,
          layers: [{ name: 'form', values: { seed: '9007199254740993' } }],
          values: { seed: '9007199254740993', on: true },
        },
      },
    },
  })
})

test('the plan of a helm release comes from the caches', async () => {
  const plan = { hash: 'abc', engine: null, profile: null, chart: null, source: null, layers: [], values: {} }
  const answer = await ask(
    '{ release(namespace: "team-a", name: "chat") { plan { hash } } }',
    fakeContext({ details: details({ get: () => detail({ plan }) }) }),
  )
  expect(answer).toEqual({ data: { release: { plan: { hash: 'abc' } } } })
})

test('an unknown name is null, in a namespace that does not exist too', async () => {
  const context = fakeContext({ lister: new FakeLister([]), details: details({ get: () => null }) })
  const answer = await ask(
    '{ deployment(namespace: "nowhere", name: "nothing") { name } release(namespace: "nowhere", name: "nothing") { name } }',
    context,
  )
  expect(answer).toEqual({ data: { deployment: null, release: null } })
})

const DNS_LABEL = "must be a DNS label: lower-case letters, digits and '-', a letter or digit at both ends."
const DNS_SUBDOMAIN =
  "must be a DNS subdomain: lower-case letters, digits, '-' and '.', a letter or digit at both ends of each part."

test.each([
  ['a'.repeat(400), 'chat', 'namespace must have at most 63 characters.'],
  ['team_a', 'chat', `namespace ${DNS_LABEL}`],
  ['team.a', 'chat', `namespace ${DNS_LABEL}`],
  ['', 'chat', `namespace ${DNS_LABEL}`],
  ['-a', 'chat', `namespace ${DNS_LABEL}`],
  ['team-a', 'a'.repeat(400), 'name must have at most 253 characters.'],
  ['team-a', 'Chat', `name ${DNS_SUBDOMAIN}`],
  ['team-a', '../secrets', `name ${DNS_SUBDOMAIN}`],
  ['team-a', 'x/y', `name ${DNS_SUBDOMAIN}`],
  ['team-a', 'chat.', `name ${DNS_SUBDOMAIN}`],
  ['team-a', 'chat\n', `name ${DNS_SUBDOMAIN}`],
])('the namespace %s with the name %s is refused in one sentence', async (namespace, name, message) => {
  for (const field of ['deployment', 'release']) {
    const answer = await ask(
      `query ($namespace: String!, $name: String!) { it: ${field}(namespace: $namespace, name: $name) { name } }`,
      fakeContext(),
      { namespace, name },
    )
    expect(answer.data).toEqual({ it: null })
    expect(answer.errors).toMatchObject([{ message, extensions: { code: 'INVALID_INPUT' } }])
  }
})

test('a name of 253 characters with dots is a name', async () => {
  const name = `${'a'.repeat(126)}.${'b'.repeat(126)}`
  const answer = await ask(
    'query ($name: String!) { deployment(namespace: "team-a", name: $name) { name } }',
    fakeContext({ lister: new FakeLister([row({ name })]) }),
    { name },
  )
  expect(answer).toEqual({ data: { deployment: { name } } })
})

test('a row leads to its release; one that has left meanwhile is said to be gone', async () => {
  const query = '{ deployments { nodes { release { exists warnings pods { name } deployment { name } } } } }'
  const there = await ask(query, fakeContext({ details: details() }))
  expect(there).toMatchObject({ data: { deployments: { nodes: [{ release: { exists: true } }] } } })
  const gone = await ask(query, fakeContext({ details: details({ get: () => null }) }))
  expect(gone).toEqual({
    data: {
      deployments: {
        nodes: [
          {
            release: {
              exists: false,
              warnings: ['The release has left since this row was read.'],
              pods: [],
              deployment: { name: 'chat' },
            },
          },
        ],
      },
    },
  })
})

test('the chart of the helm record is read live, for this release', async () => {
  const asked: unknown[] = []
  const helmChart: GatewayContext['details']['helmChart'] = async ({ namespace, name }) => {
    asked.push(`${namespace}/${name}`)
    return { name: 'vllm', version: '0.4.0', repo: null }
  }
  const answer = await ask(
    '{ release(namespace: "team-a", name: "chat") { helm { chart { name version repo } } } }',
    fakeContext({ details: details({ helmChart }) }),
  )
  expect(answer).toEqual({
    data: { release: { helm: { chart: { name: 'vllm', version: '0.4.0', repo: null } } } },
  })
  expect(asked).toEqual(['team-a/chat'])
})

test('a release without a helm record has no helm part', async () => {
  const get = () => detail({ helm: null })
  const query = '{ release(namespace: "team-a", name: "chat") { helm { revision chart { name } } } }'
  const answer = await ask(query, fakeContext({ details: details({ get }) }))
  expect(answer).toEqual({ data: { release: { helm: null } } })
})

test('a live read that fails is an error of its field, the rest is answered', async () => {
  const fail = (error: Error) => () => Promise.reject(error)
  const answer = await ask(
    '{ release(namespace: "team-a", name: "chat") { name helm { status chart { name } } } }',
    fakeContext({ details: details({ helmChart: fail(new KubeError('Unavailable', 'HTTP 503')) }) }),
  )
  expect(answer.data).toEqual({ release: { name: 'chat', helm: { status: 'deployed', chart: null } } })
  expect(answer.errors).toMatchObject([
    {
      message: 'The cluster could not be asked (HTTP 503); try again in a moment.',
      path: ['release', 'helm', 'chart'],
      extensions: { code: 'CLUSTER_UNAVAILABLE', retryable: true },
    },
  ])
  const forbidden = await ask(
    '{ release(namespace: "team-a", name: "chat") { revisions { totalCount } } }',
    fakeContext({ details: details({ revisions: fail(new KubeError('Forbidden', 'no list of secrets')) }) }),
  )
  expect(forbidden.errors).toMatchObject([
    {
      message: 'The cluster could not be asked (no list of secrets); see what the gateway is allowed to do.',
      path: ['release', 'revisions'],
      extensions: { code: 'CLUSTER_UNAVAILABLE', retryable: false },
    },
  ])
})

const revision = (number: number): RevisionDetail => ({
  revision: number,
  current: number === 25,
  chart: null,
  source: null,
  planHash: `h${number}`,
  plan: null,
})

test('revisions come in pages, newest first, and a cursor survives newer ones', async () => {
  let all = Array.from({ length: 25 }, (_, index) => revision(25 - index))
  const context = fakeContext({ details: details({ revisions: async () => all }) })
  const query = (args: string) => `{ release(namespace: "team-a", name: "chat") { revisions${args} {
    totalCount nodes { revision current planHash } edges { cursor node { revision } }
    pageInfo { hasNextPage hasPreviousPage endCursor } } } }`
  interface Page {
    totalCount: number
    nodes: { revision: number; current: boolean; planHash: string }[]
    edges: { cursor: string; node: { revision: number } }[]
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string }
  }
  const page = async (args: string): Promise<Page> => {
    const { data, errors } = await ask(query(args), context)
    expect(errors).toBeUndefined()
    return data.release.revisions
  }
  const first = await page('')
  expect(first.totalCount).toBe(25)
  expect(first.nodes).toHaveLength(20)
  expect(first.nodes[0]).toEqual({ revision: 25, current: true, planHash: 'h25' })
  expect(first.edges.map(({ node }) => node.revision)).toEqual(first.nodes.map((node) => node.revision))
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false })

  all = [revision(26), ...all]
  const second = await page(`(first: 3, after: "${first.pageInfo.endCursor}")`)
  expect(second.nodes.map((node) => node.revision)).toEqual([5, 4, 3])
  expect(second.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true })
  const last = await page(`(first: 3, after: "${second.pageInfo.endCursor}")`)
  expect(last.nodes.map((node) => node.revision)).toEqual([2, 1])
  expect(last.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })

  for (const [args, message] of [
    ['(after: "nonsense")', 'after must be a cursor of the revisions of a release.'],
    ['(first: -1)', 'first must be between 0 and 500.'],
  ] as const) {
    expect((await ask(query(args), context)).errors).toMatchObject([
      { message, extensions: { code: 'INVALID_INPUT' } },
    ])
  }
})

test('the runs of a release are its part of the audit log, five unless said otherwise', async () => {
  const asked: unknown[] = []
  const cursor = encodeRunCursor({ startedMs: 1, id: 'run-1' })
  const base = fakeContext({ details: details() })
  const audit: GatewayContext['audit'] = {
    ...base.audit,
    page: async (args) => {
      asked.push(args)
      return runPage(run())
    },
  }
  const answer = await ask(
    `{ release(namespace: "team-a", name: "chat") {
      runs { available nodes { action } } more: runs(first: 9, after: "${cursor}") { available } } }`,
    { ...base, audit },
  )
  expect(answer).toEqual({
    data: {
      release: { runs: { available: true, nodes: [{ action: 'UNINSTALL' }] }, more: { available: true } },
    },
  })
  const filter = { namespace: 'team-a', name: 'chat' }
  expect(asked).toEqual([
    { first: 5, filter },
    { first: 9, after: cursor, filter },
  ])
})
