import { expect, test } from 'vitest'
import { deploymentId } from '../../../schema/nodeId.ts'
import { begin, listen, nextEvent } from './ask.ts'
import { FakeLister, fakeContext, NOW, row } from './fakes.ts'

const document = (args = '') =>
  `subscription { deploymentChanged${args} { change cursor at id deployment { id name phase } } }`

test('a row that enters the filter, changes in it and leaves it, is told with its id', async () => {
  const lister = new FakeLister()
  const context = fakeContext({ lister })
  const stream = await begin(document('(filter: {phases: [FAILED]})'), context)
  const failed = row({ phase: 'FAILED' })
  const id = deploymentId(failed)
  const changes = [
    { before: row(), after: failed },
    { before: failed, after: { ...failed, revision: 4 } },
    { before: failed, after: row() },
    { before: row(), after: row({ revision: 4 }) },
  ]
  const first = nextEvent(stream)
  for (const change of changes) lister.tell(change)
  const deployment = { id, name: 'chat', phase: 'FAILED' }
  const told = { at: NOW, id, deployment }
  expect(await first).toEqual({ change: 'ADDED', cursor: context.feed.cursor(8), ...told })
  expect(await nextEvent(stream)).toEqual({ change: 'MODIFIED', cursor: context.feed.cursor(9), ...told })
  expect(await nextEvent(stream)).toEqual({
    change: 'REMOVED',
    cursor: context.feed.cursor(10),
    ...told,
    deployment: null,
  })
  await stream.return(undefined)
})

test('a snapshot is the rows that fit, and its end', async () => {
  const lister = new FakeLister([row(), row({ name: 'rank', phase: 'FAILED' })])
  const context = fakeContext({ lister })
  const stream = await begin(document('(snapshot: true, filter: {phases: [FAILED]})'), context)
  expect(await nextEvent(stream)).toMatchObject({ change: 'SNAPSHOT', deployment: { name: 'rank' } })
  expect(await nextEvent(stream)).toMatchObject({ change: 'SNAPSHOT_COMPLETE', id: null, deployment: null })
  await stream.return(undefined)
})

test('the cursor of a page is where a stream goes on, and an old one is told to begin anew', async () => {
  const lister = new FakeLister()
  const context = fakeContext({ lister })
  const since = context.feed.cursor()
  lister.tell({ before: row(), gone: 'UNINSTALLED' })
  const stream = await begin(document(`(since: "${since}")`), context)
  expect(await nextEvent(stream)).toMatchObject({ change: 'REMOVED', id: deploymentId(row()) })
  await stream.return(undefined)
  context.lastEventId = 'of some other server'
  const anew = await begin(document(), context)
  expect(await nextEvent(anew)).toMatchObject({ change: 'RESYNC', id: null })
  await anew.return(undefined)
})

test.each([
  ['(since: "nonsense")', /^since is not a cursor/],
  ['(filter: {namespaces: [""]})', /^filter\.namespaces\.0 must be a DNS label/],
])('the arguments %s are refused with a code', async (args, message) => {
  expect(await listen(document(args), fakeContext())).toMatchObject({
    errors: [{ message: expect.stringMatching(message), extensions: { code: 'INVALID_INPUT' } }],
  })
})

test('while the caches are not filled no stream begins', async () => {
  const lister = Object.assign(new FakeLister(), { ready: false })
  expect(await listen(document('(snapshot: true)'), fakeContext({ lister }))).toMatchObject({
    errors: [{ extensions: { code: 'CLUSTER_UNAVAILABLE', retryable: true } }],
  })
})
