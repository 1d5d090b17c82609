import { expect, test } from 'vitest'
import { InvalidCursor } from '../../../services/deployments/lister.ts'
import { decodeCursor } from '../../../subscriptions/cursor.ts'
import { ask } from './ask.ts'
import { FakeLister, fakeContext, row } from './fakes.ts'

const names = '{ nodes { name } }'

test('a page has edges, nodes, page info, counts and the cursor of the feed', async () => {
  const lister = new FakeLister([row(), row({ name: 'rank' })])
  const answer = await ask(
    `{ deployments(first: 2) {
      edges { cursor node { name } } nodes { name } totalCount countsByPhase { phase count } cursor
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
    fakeContext({ lister }),
  )
  expect(answer).toEqual({
    data: {
      deployments: {
        edges: [
          { cursor: 'at-chat', node: { name: 'chat' } },
          { cursor: 'at-rank', node: { name: 'rank' } },
        ],
        nodes: [{ name: 'chat' }, { name: 'rank' }],
        totalCount: 2,
        countsByPhase: [{ phase: 'APPLIED', count: 2 }],
        cursor: expect.any(String),
        pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: 'at-chat', endCursor: 'at-rank' },
      },
    },
  })
  expect(decodeCursor(answer.data.deployments.cursor)).toEqual({ epoch: 'e1', position: 7 })
})

test('an empty page has no cursors', async () => {
  const answer = await ask(
    '{ deployments { nodes { name } pageInfo { startCursor endCursor } } }',
    fakeContext({ lister: new FakeLister([]) }),
  )
  expect(answer.data).toEqual({
    deployments: { nodes: [], pageInfo: { startCursor: null, endCursor: null } },
  })
})

test.each([
  ['', { first: 25 }],
  ['(first: null, filter: null, orderBy: null)', { first: 25 }],
  ['(first: 0)', { first: 0 }],
  ['(first: 500, after: "x")', { first: 500, after: 'x' }],
  ['(last: 3, before: "x")', { last: 3, before: 'x' }],
  ['(filter: {})', { first: 25 }],
  ['(filter: {search: null})', { first: 25 }],
])('the arguments %s become the page that is asked for', async (args, wanted) => {
  const lister = new FakeLister()
  const answer = await ask(`{ deployments${args} ${names} }`, fakeContext({ lister }))
  expect(answer.errors).toBeUndefined()
  const orderBy = { field: 'NAMESPACE_NAME', direction: 'ASC' }
  expect(lister.asked).toEqual([{ orderBy, ...wanted }])
})

test('filter and order reach the view as they were said', async () => {
  const lister = new FakeLister()
  const filter = {
    search: 'Chat',
    namespaces: ['team-a'],
    phases: ['UNINSTALLING'],
    backends: ['HELM'],
    canaryStates: ['OWNED'],
    models: ['org/model'],
    engines: ['vllm'],
    drifted: false,
  }
  await ask(
    `query ($filter: DeploymentFilter) {
      deployments(filter: $filter, orderBy: {field: UNINSTALLING_SINCE, direction: DESC}) ${names} }`,
    fakeContext({ lister }),
    { filter: { ...filter, uninstallingBefore: '2031-01-01T02:00:00+02:00' } },
  )
  expect(lister.asked).toEqual([
    {
      first: 25,
      filter: { ...filter, uninstallingBefore: '2031-01-01T00:00:00.000Z' },
      orderBy: { field: 'UNINSTALLING_SINCE', direction: 'DESC' },
    },
  ])
})

test.each([
  ['(first: -1)', 'first must be between 0 and 500.'],
  ['(first: 501)', 'first must be between 0 and 500.'],
  ['(last: 501)', 'last must be between 0 and 500.'],
  ['(first: 1, last: 1)', 'first and last cannot be given together: leave one of them out.'],
  [`(filter: {search: "${'x'.repeat(400)}"})`, 'filter.search must have at most 253 characters.'],
  [`(filter: {models: [${'"m" '.repeat(501)}]})`, 'filter.models must have at most 500 entries.'],
  [
    '(filter: {namespaces: ["team-a", "Team B"]})',
    "filter.namespaces.1 must be a DNS label: lower-case letters, digits and '-', a letter or digit at both ends.",
  ],
])('the arguments %s are refused in one sentence', async (args, message) => {
  const lister = new FakeLister()
  const answer = await ask(`{ deployments${args} ${names} }`, fakeContext({ lister }))
  expect(answer.errors).toMatchObject([
    { message, path: ['deployments'], extensions: { code: 'INVALID_INPUT', retryable: false } },
  ])
  expect(lister.asked).toEqual([])
})

test('a wrong type is refused before anything is asked', async () => {
  const lister = new FakeLister()
  const context = fakeContext({ lister })
  for (const args of ['first: "two"', 'filter: {phases: [GONE]}', 'filter: {uninstallingBefore: "soon"}']) {
    const answer = await ask(`{ deployments(${args}) ${names} }`, context)
    expect(answer.data).toBeUndefined()
    expect(answer.errors).toHaveLength(1)
  }
  const soon = await ask(
    `query ($t: DateTime) { deployments(filter: {uninstallingBefore: $t}) ${names} }`,
    context,
    { t: 'soon' },
  )
  expect(soon.errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT' } }])
  expect(lister.asked).toEqual([])
})

test('a cursor of another list is invalid input, another failure of the view is not', async () => {
  const lister = new FakeLister()
  const refused = fakeContext({
    lister: Object.assign(lister, {
      page: () => {
        throw new InvalidCursor('internal words')
      },
    }),
  })
  expect((await ask(`{ deployments(after: "x") ${names} }`, refused)).errors).toMatchObject([
    {
      message: 'after and before must be cursors of the same list, with the same order.',
      extensions: { code: 'INVALID_INPUT' },
    },
  ])
  Object.assign(lister, {
    page: () => {
      throw new RangeError('bug')
    },
  })
  // The server masks what is no GraphQLError; here it only must not be taken for the caller's fault.
  const [bug] = (await ask(`{ deployments ${names} }`, refused)).errors ?? []
  expect(bug?.message).toBe('bug')
  expect(bug?.extensions).toBeUndefined()
})

test('while the caches are not filled, reads are refused and never answered empty', async () => {
  const lister = Object.assign(new FakeLister([]), { ready: false })
  const answer = await ask(
    `{ deployments ${names} }
    `,
    fakeContext({ lister }),
  )
  expect(answer).toEqual({
    data: null,
    errors: [
      {
        message: 'The watch caches are not filled yet; try again in a few seconds.',
        locations: expect.anything(),
        path: ['deployments'],
        extensions: { code: 'CLUSTER_UNAVAILABLE', retryable: true },
      },
    ],
  })
  const others = await ask(
    '{ a: deployment(namespace: "a", name: "b") { name } b: release(namespace: "a", name: "b") { name } }',
    fakeContext({ lister }),
  )
  expect(others.data).toEqual({ a: null, b: null })
  expect(others.errors?.map(({ extensions }) => extensions)).toEqual([
    { code: 'CLUSTER_UNAVAILABLE', retryable: true },
    { code: 'CLUSTER_UNAVAILABLE', retryable: true },
  ])
})

test('every field of a row is shown as the view has it', async () => {
  const shown = row({
    phase: 'UNINSTALLING',
    phaseReason: 'because',
    source: {
      catalog: null,
      catalogName: 'main',
      ref: null,
      model: 'm',
      version: null,
      variant: null,
      hf: null,
      engine: 'vllm',
    },
    drift: { kind: 'UNINSTALL_IN_PROGRESS', message: 'uninstall in progress: MARKED' },
    deletion: {
      stage: 'MARKED',
      outcome: null,
      podsRemaining: 1,
      pods: [
        {
          name: 'chat-0',
          phase: 'Running',
          node: 'n1',
          gpus: 4,
          message: null,
          counts: true,
          reason: 'WITHIN_GRACE',
          deletionTimestamp: '2031-01-01T00:00:30Z',
          ignoredAt: '2031-01-01T00:06:00.000Z',
        },
      ],
      startedAt: '2031-01-01T00:00:00Z',
      deadline: null,
      message: null,
      forceDeleted: null,
      requestedBy: 'user-a',
      note: 'n',
      blockers: [{ kind: 'POD', name: 'chat-0', message: 'pod chat-0 is still there', since: null }],
      leftBehind: [{ kind: 'PersistentVolumeClaim', name: 'data', reason: 'helm keeps it' }],
    },
    canary: {
      state: 'OWNED',
      verified: false,
      serviceUid: 'uid-chat',
      managedBy: {
        apiVersion: null,
        kind: 'LLMCanary',
        namespace: 'team-a',
        name: 'demo',
        uid: null,
        role: null,
      },
      assignedTo: null,
      problems: ['no uid'],
    },
    autoscale: {
      enabled: true,
      pools: [
        {
          name: 'decode',
          action: 'SCALE_UP',
          replicas: 2,
          desired: 3,
          min: 1,
          max: 4,
          query: 'up',
          metric: 1.5,
          target: 1,
          problem: null,
        },
      ],
      lastDecisionAt: '2031-01-01T00:00:00Z',
      lastScaledAt: '2031-01-01T00:00:00Z',
      action: 'HOLD',
      holdReason: 'cooldown',
      holdCode: 'COOLDOWN',
      cooldownUpSeconds: 60,
      cooldownDownSeconds: 300,
      maxStep: 2,
    },
  })
  const answer = await ask(
    `{ deployment(namespace: "team-a", name: "chat") {
      namespace name uid backend phase phaseReason revision helmStatus chart { name version repo }
      source { catalog catalogName ref model version variant hf engine } updatedAt
      lastOperation { action outcome error at actor } drift { kind message }
      external cleanupPending pods { total ready terminating counting gpus }
      deletion { stage outcome podsRemaining startedAt deadline message forceDeleted requestedBy note
        pods { name phase node gpus message counts reason deletionTimestamp ignoredAt }
        blockers { kind name message since } leftBehind { kind name reason } }
      canary { state verified serviceUid problems
        managedBy { apiVersion kind namespace name uid role } assignedTo { name } }
      autoscale { enabled lastDecisionAt lastScaledAt action holdReason holdCode cooldownUpSeconds
        cooldownDownSeconds maxStep
        pools { name action replicas desired min max query metric target problem } } } }`,
    fakeContext({ lister: new FakeLister([shown]) }),
  )
  expect(answer).toEqual({ data: { deployment: shown } })
})

test('viewerCan is what the caller may do in the namespace of the row', async () => {
  const can = (namespace: string) => (namespace === 'team-a' ? (['VIEW'] as const).slice() : [])
  const lister = new FakeLister([row(), row({ namespace: 'team-b' })])
  const answer = await ask('{ deployments { nodes { viewerCan } } }', fakeContext({ lister, can }))
  expect(answer.data).toEqual({ deployments: { nodes: [{ viewerCan: ['VIEW'] }, { viewerCan: [] }] } })
})

test('a time with an offset is shown in UTC', async () => {
  const lister = new FakeLister([row({ updatedAt: '2031-01-01T02:00:00+02:00' })])
  const answer = await ask('{ deployments { nodes { updatedAt } } }', fakeContext({ lister }))
  expect(answer.data).toEqual({ deployments: { nodes: [{ updatedAt: '2031-01-01T00:00:00.000Z' }] } })
})

test('a time that is none spoils its own field only', async () => {
  const lister = new FakeLister([row({ updatedAt: 'yesterday' }), row({ name: 'rank' })])
  const answer = await ask('{ deployments { nodes { name updatedAt } } }', fakeContext({ lister }))
  expect(answer.data).toEqual({
    deployments: {
      nodes: [
        { name: 'chat', updatedAt: null },
        { name: 'rank', updatedAt: '2031-01-01T00:00:00Z' },
      ],
    },
  })
  expect(answer.errors).toMatchObject([
    { path: ['deployments', 'nodes', 0, 'updatedAt'], extensions: { code: 'UNREADABLE' } },
  ])
})
