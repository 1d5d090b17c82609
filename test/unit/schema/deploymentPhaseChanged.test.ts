import { expect, test } from 'vitest'
import { decodeCursor } from '../../../subscriptions/cursor.ts'
import { begin, listen, nextEvent } from './ask.ts'
import { FakeLister, fakeContext, NOW, row } from './fakes.ts'

const FIELDS =
  'kind cursor at namespace name uid backend previousPhase phase cause reason goneBecause deployment { phase }'
const document = (args = '') => `subscription { deploymentPhaseChanged${args} { ${FIELDS} } }`

test('a phase change is one event with all its fields', async () => {
  const lister = new FakeLister()
  const stream = await begin(document(), fakeContext({ lister }))
  const first = nextEvent(stream)
  lister.tell({ before: row(), after: row({ phase: 'UNINSTALLING', phaseReason: 'r' }), cause: 'MUTATION' })
  const event = await first
  expect(event).toEqual({
    kind: 'CHANGED',
    cursor: expect.any(String),
    at: NOW,
    namespace: 'team-a',
    name: 'chat',
    uid: 'uid-chat',
    backend: 'HELM',
    previousPhase: 'APPLIED',
    phase: 'UNINSTALLING',
    cause: 'MUTATION',
    reason: 'r',
    goneBecause: null,
    deployment: { phase: 'UNINSTALLING' },
  })
  expect(decodeCursor(event?.cursor ?? '')).toEqual({ epoch: 'e1', position: 8 })
  const second = nextEvent(stream)
  lister.tell({ before: row({ phase: 'UNINSTALLING' }), gone: 'UNINSTALLED', cause: 'REAP_LOOP' })
  expect(await second).toMatchObject({
    previousPhase: 'UNINSTALLING',
    phase: 'GONE',
    goneBecause: 'UNINSTALLED',
    cause: 'REAP_LOOP',
    deployment: null,
  })
  await stream.return(undefined)
})

test('a snapshot is the rows that fit, and its end', async () => {
  const lister = new FakeLister([row(), row({ namespace: 'team-b' }), row({ name: 'rank', phase: 'FAILED' })])
  const args = '(snapshot: true, namespace: "team-a", filter: {phases: [FAILED]})'
  const stream = await begin(document(args), fakeContext({ lister }))
  expect(await nextEvent(stream)).toMatchObject({ kind: 'SNAPSHOT', name: 'rank', phase: 'FAILED' })
  expect(await nextEvent(stream)).toMatchObject({ kind: 'SNAPSHOT_COMPLETE', name: null, phase: null })
  await stream.return(undefined)
})

test('the cursor of a payload or a page is where a stream goes on', async () => {
  const lister = new FakeLister()
  const context = fakeContext({ lister })
  const since = context.feed.cursor()
  lister.tell({ before: row(), after: row({ phase: 'UNINSTALLING' }) })
  const stream = await begin(document(`(since: "${since}")`), context)
  expect(await nextEvent(stream)).toMatchObject({ kind: 'CHANGED', phase: 'UNINSTALLING' })
  await stream.return(undefined)
})

test('a client of server-sent events goes on where its last event was', async () => {
  const lister = new FakeLister()
  const context = fakeContext({ lister })
  context.lastEventId = context.feed.cursor()
  lister.tell({ before: row(), after: row({ phase: 'FAILED' }) })
  const stream = await begin(document(), context)
  expect(await nextEvent(stream)).toMatchObject({ kind: 'CHANGED', phase: 'FAILED' })
  await stream.return(undefined)
})

test('a stream that is stopped while it waits leaves nothing behind', async () => {
  const context = fakeContext()
  const stream = await begin(document(), context)
  const waiting = stream.next()
  expect(context.feed.waiting).toBe(1)
  await stream.return(undefined)
  expect(await waiting).toMatchObject({ done: true })
  expect(context.feed.waiting).toBe(0)
})

test.each([
  ['(name: "chat")', /^name needs namespace/],
  ['(since: "nonsense")', /^since is not a cursor/],
  [`(namespace: "${'x'.repeat(400)}")`, /^namespace must have at most 63 characters\.$/],
  ['(namespace: "team-a", name: "x/y")', /^name must be a DNS subdomain/],
  ['(filter: {namespaces: [""]})', /^filter\.namespaces\.0 must be a DNS label/],
])('the arguments %s are refused with a code, and nothing is registered', async (args, message) => {
  const context = fakeContext()
  const answer = await listen(document(args), context)
  expect(answer).toMatchObject({
    errors: [{ message: expect.stringMatching(message), extensions: { code: 'INVALID_INPUT' } }],
  })
  expect(context.feed.waiting).toBe(0)
})

test('while the caches are not filled no stream begins', async () => {
  const lister = Object.assign(new FakeLister(), { ready: false })
  expect(await listen(document('(snapshot: true)'), fakeContext({ lister }))).toMatchObject({
    errors: [{ extensions: { code: 'CLUSTER_UNAVAILABLE', retryable: true } }],
  })
})
