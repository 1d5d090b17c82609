import { expect, test } from 'vitest'
import type { GatewayContext } from '../../../resolvers/context.ts'
import { runId } from '../../../schema/nodeId.ts'
import { encodeRunCursor } from '../../../services/audit/cursor.ts'
import { ask } from './ask.ts'
import { fakeContext, NOW, run, runPage } from './fakes.ts'

function withAudit(part: Partial<GatewayContext['audit']>): GatewayContext {
  const context = fakeContext()
  return { ...context, audit: { ...context.audit, ...part } }
}

test('every field of a run is shown as the log has it, its id made opaque', async () => {
  const shown = run({
    outcome: 'FAILED',
    error: 'timed out',
    output: 'o',
    note: 'n',
    planHash: 'h',
    endedAt: NOW,
  })
  const context = withAudit({ page: async () => runPage(shown) })
  const answer = await ask(
    `{ runs { available pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      edges { cursor node { id } }
      nodes { id namespace name backend action outcome actor note planHash revision changed error output startedAt endedAt } } }`,
    context,
  )
  const id = runId(shown)
  const { objectUid: _hidden, ...visible } = shown
  expect(answer).toEqual({
    data: {
      runs: {
        available: true,
        pageInfo: {
          hasNextPage: false,
          hasPreviousPage: false,
          startCursor: 'at-run-1',
          endCursor: 'at-run-1',
        },
        edges: [{ cursor: 'at-run-1', node: { id } }],
        nodes: [{ ...visible, id }],
      },
    },
  })
  expect(id).not.toContain('run-1')
})

test('paging and filter reach the log as they were said', async () => {
  const asked: unknown[] = []
  const context = withAudit({
    page: async (args) => {
      asked.push(args)
      return { ...runPage(), available: false }
    },
  })
  const after = encodeRunCursor({ startedMs: 1, id: 'run-1' })
  const filter = {
    namespace: 'team-a',
    name: 'chat',
    actions: ['UNINSTALL'],
    outcomes: ['STARTED'],
    actors: ['user-a'],
    backends: ['HELM'],
    since: '2031-01-01T00:00:00Z',
    until: '2031-01-02T00:00:00Z',
  }
  const query =
    'query ($first: Int, $after: String, $filter: RunFilter) { runs(first: $first, after: $after, filter: $filter) { available } }'
  const answer = await ask(query, context, { first: 3, after, filter })
  expect(answer).toEqual({ data: { runs: { available: false } } })
  await ask(query, context, { first: null })
  expect(asked).toEqual([{ first: 3, after, filter }, { first: 25 }])
})

test.each([
  ['(after: "nonsense")', 'after must be a cursor of the audit log.'],
  ['(first: 501)', 'first must be between 0 and 500.'],
  [`(filter: {name: "${'x'.repeat(400)}"})`, 'filter.name must have at most 253 characters.'],
  [`(filter: {actors: ["${'x'.repeat(400)}"]})`, 'filter.actors.0 must have at most 253 characters.'],
])('the arguments %s are refused in one sentence', async (args, message) => {
  const answer = await ask(`{ runs${args} { available } }`, fakeContext())
  expect(answer.errors).toMatchObject([{ message, extensions: { code: 'INVALID_INPUT' } }])
})

test('a run is found by its opaque id only', async () => {
  const asked: string[] = []
  const context = withAudit({
    get: async (id) => {
      asked.push(id)
      return id === 'run-1' ? run() : null
    },
  })
  const query = 'query ($id: ID!) { run(id: $id) { name } }'
  expect((await ask(query, context, { id: runId({ id: 'run-1' }) })).data).toEqual({ run: { name: 'chat' } })
  expect((await ask(query, context, { id: runId({ id: 'run-2' }) })).data).toEqual({ run: null })
  expect((await ask(query, context, { id: 'run-1' })).data).toEqual({ run: null })
  expect(asked).toEqual(['run-1', 'run-2'])
})
