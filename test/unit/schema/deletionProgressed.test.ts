import { expect, test } from 'vitest'
import type { Deletion } from '../../../services/deployments/row.ts'
import { begin, listen, nextEvent } from './ask.ts'
import { FakeLister, fakeContext, NOW, row } from './fakes.ts'

const document = (args = '') =>
  `subscription { deletionProgressed(namespace: "team-a", name: "chat"${args}) {
    cursor at phase goneBecause deletion { stage podsRemaining blockers { kind name } }
  } }`

const deletion = (stage: string, podsRemaining: number): Deletion => ({
  stage,
  outcome: null,
  podsRemaining,
  pods: [],
  startedAt: NOW,
  deadline: null,
  message: null,
  forceDeleted: null,
  requestedBy: 'user-a',
  note: null,
  blockers: [{ kind: 'POD', name: 'chat-0', message: '', since: null }],
  leftBehind: [],
})
const uninstalling = (stage: string, podsRemaining: number) =>
  row({ phase: 'UNINSTALLING', deletion: deletion(stage, podsRemaining) })

test('an uninstall is told from how it stands to its end, and completes', async () => {
  const marked = uninstalling('MARKED', 2)
  const lister = new FakeLister([marked])
  const context = fakeContext({ lister })
  const stream = await begin(document(), context)
  const blockers = [{ kind: 'POD', name: 'chat-0' }]
  expect(await nextEvent(stream)).toEqual({
    cursor: context.feed.cursor(7),
    at: expect.any(String),
    phase: 'UNINSTALLING',
    goneBecause: null,
    deletion: { stage: 'MARKED', podsRemaining: 2, blockers },
  })
  const last = uninstalling('PODS_TERMINATING', 1)
  lister.tell({ before: marked, after: last })
  lister.tell({ before: last, gone: 'UNINSTALLED' })
  expect(await nextEvent(stream)).toMatchObject({
    phase: 'UNINSTALLING',
    deletion: { stage: 'PODS_TERMINATING', podsRemaining: 1 },
  })
  expect(await nextEvent(stream)).toEqual({
    cursor: context.feed.cursor(9),
    at: NOW,
    phase: 'GONE',
    goneBecause: 'UNINSTALLED',
    deletion: null,
  })
  expect(await nextEvent(stream)).toBeNull()
  expect(context.feed.waiting).toBe(0)
})

test('a release that is not being uninstalled, or not there, completes at once', async () => {
  expect(await nextEvent(await begin(document(), fakeContext()))).toBeNull()
  const lister = new FakeLister([])
  expect(await nextEvent(await begin(document(), fakeContext({ lister })))).toBeNull()
})

test('the cursor of uninstallRelease, and Last-Event-ID, are where it goes on', async () => {
  const lister = new FakeLister()
  const context = fakeContext({ lister })
  const since = context.feed.cursor()
  lister.tell({ before: row(), after: uninstalling('MARKED', 2) })
  lister.tell({ before: uninstalling('MARKED', 2), after: row({ phase: 'FAILED' }) })
  for (const [args, lastEventId] of [
    [`, since: "${since}"`, null],
    ['', since],
  ] as const) {
    const stream = await begin(document(args), { ...context, lastEventId })
    expect(await nextEvent(stream)).toMatchObject({ phase: 'UNINSTALLING', deletion: { stage: 'MARKED' } })
    expect(await nextEvent(stream)).toMatchObject({ phase: 'FAILED', deletion: null })
    expect(await nextEvent(stream)).toBeNull()
  }
})

test.each([
  ['since that is no cursor', document(', since: "nonsense"'), /^since is not a cursor/],
  ['a name that is none', document().replace('chat', 'x/y'), /^name must be a DNS subdomain/],
])('%s is refused with a code', async (_what, source, message) => {
  expect(await listen(source, fakeContext())).toMatchObject({
    errors: [{ message: expect.stringMatching(message), extensions: { code: 'INVALID_INPUT' } }],
  })
})

test('while the caches are not filled it is refused: completing would say that nothing is going on', async () => {
  const lister = Object.assign(new FakeLister(), { ready: false })
  expect(await listen(document(), fakeContext({ lister }))).toMatchObject({
    errors: [{ extensions: { code: 'CLUSTER_UNAVAILABLE', retryable: true } }],
  })
})
