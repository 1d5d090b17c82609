import { expect, test } from 'vitest'
import { deploymentId, runId } from '../../../schema/nodeId.ts'
import { ask } from './ask.ts'
import { FakeLister, fakeContext, row, run } from './fakes.ts'

const context = () => {
  const base = fakeContext({ lister: new FakeLister([row(), row({ namespace: 'team-b' })]) })
  return { ...base, audit: { ...base.audit, get: async (id: string) => (id === 'run-1' ? run() : null) } }
}

test('the id of a row or a run leads back to it', async () => {
  const listed = await ask('{ deployments { nodes { id namespace } } }', context())
  const [, second] = listed.data.deployments.nodes
  const query =
    'query ($id: ID!) { node(id: $id) { __typename id ... on Deployment { namespace } ... on Run { action } } }'
  expect(await ask(query, context(), { id: second.id })).toEqual({
    data: { node: { __typename: 'Deployment', id: second.id, namespace: 'team-b' } },
  })
  const id = runId({ id: 'run-1' })
  expect(await ask(query, context(), { id })).toEqual({
    data: { node: { __typename: 'Run', id, action: 'UNINSTALL' } },
  })
})

test('nodes keep the order of their ids, with null for what is malformed or not there', async () => {
  const ids = [
    runId({ id: 'run-1' }),
    'nonsense',
    deploymentId({ namespace: 'team-a', name: 'gone' }),
    deploymentId({ namespace: 'team-a', name: 'chat' }),
    runId({ id: 'run-2' }),
    '',
  ]
  const answer = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { __typename } }', context(), { ids })
  expect(answer).toEqual({
    data: { nodes: [{ __typename: 'Run' }, null, null, { __typename: 'Deployment' }, null, null] },
  })
})

test('too many ids are refused', async () => {
  const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'
  const answer = await ask(query, context(), { ids: Array.from({ length: 501 }, () => 'x') })
  expect(answer.errors).toMatchObject([
    { message: 'ids must have at most 500 entries.', extensions: { code: 'INVALID_INPUT' } },
  ])
})

test('a malformed id is null also while the caches are not filled, a deployment is an error', async () => {
  const unready = { ...context(), lister: Object.assign(new FakeLister(), { ready: false }) }
  const query = 'query ($id: ID!) { node(id: $id) { id } }'
  expect(await ask(query, unready, { id: 'nonsense' })).toEqual({ data: { node: null } })
  const id = deploymentId({ namespace: 'team-a', name: 'chat' })
  expect((await ask(query, unready, { id })).errors).toMatchObject([
    { extensions: { code: 'CLUSTER_UNAVAILABLE', retryable: true } },
  ])
})
