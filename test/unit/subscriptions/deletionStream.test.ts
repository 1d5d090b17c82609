import { beforeEach, describe, expect, it } from 'vitest'
import type { Deletion, DeploymentPhase, Row } from '../../../services/deployments/row.ts'
import { encodeCursor } from '../../../subscriptions/cursor.ts'
import type { DeletionEvent } from '../../../subscriptions/deletionEvent.ts'
import {
  DeletionStream,
  type DeletionStreamArgs,
  deletionProgressed,
} from '../../../subscriptions/deletionStream.ts'
import { Feed } from '../../../subscriptions/feed.ts'
import { FakeClock } from './fakeClock.ts'
import { AT, FakeLister, row } from './fakeLister.ts'
import { pending, readyNow } from './reading.ts'

let lister: FakeLister
let clock: FakeClock
let feed: Feed

beforeEach(() => {
  lister = new FakeLister()
  clock = new FakeClock()
  feed = new Feed({ lister, clock, capacity: 10, epoch: 'e1' })
})

const deletion = (stage: string, more: Partial<Deletion> = {}): Deletion => ({
  stage,
  outcome: null,
  podsRemaining: null,
  pods: null,
  startedAt: AT,
  deadline: null,
  message: null,
  forceDeleted: null,
  requestedBy: null,
  note: null,
  blockers: [],
  leftBehind: [],
  ...more,
})

/** chat in the phase, or in the stage of its uninstall. */
const chat = (phase: DeploymentPhase, more: Partial<Row> = {}) => row('a', 'chat', phase, more)
const deleting = (stage: string, more: Partial<Deletion> = {}, rest: Partial<Row> = {}) =>
  chat('UNINSTALLING', { deletion: deletion(stage, more), ...rest })

function open(args: Partial<DeletionStreamArgs> = {}): DeletionStream {
  const stream = deletionProgressed(feed, { namespace: 'a', name: 'chat', ...args })
  if (stream instanceof DeletionStream) return stream
  throw new Error(stream.message)
}

const brief = ({ phase, goneBecause, deletion }: DeletionEvent): string =>
  [phase, goneBecause, deletion?.stage, deletion?.podsRemaining].filter((part) => part != null).join(' ')

const ready = (stream: DeletionStream) => readyNow(stream, brief)

describe('the steps of an uninstall', () => {
  it('are told from its present state to GONE, with all fields; then it completes (B067)', async () => {
    lister.set(deleting('MARKED'))
    const stream = open()
    expect((await stream.next()).value).toEqual({
      cursor: feed.cursor(1),
      at: new Date(clock.now()).toISOString(),
      phase: 'UNINSTALLING',
      goneBecause: null,
      deletion: deletion('MARKED'),
    })
    lister.set(deleting('PODS_TERMINATING', { podsRemaining: 2 }))
    expect((await stream.next()).value).toEqual({
      cursor: feed.cursor(2),
      at: AT,
      phase: 'UNINSTALLING',
      goneBecause: null,
      deletion: deletion('PODS_TERMINATING', { podsRemaining: 2 }),
    })
    lister.remove('a', 'chat', 'UNINSTALLED')
    expect((await stream.next()).value).toEqual({
      cursor: feed.cursor(3),
      at: AT,
      phase: 'GONE',
      goneBecause: 'UNINSTALLED',
      deletion: null,
    })
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect([feed.waiting, clock.timers]).toEqual([0, 0])
  })

  it('are each change of the deletion, and no change of anything else', async () => {
    lister.set(deleting('PODS_TERMINATING', { podsRemaining: 2 }))
    const stream = open()
    lister.set(deleting('PODS_TERMINATING', { podsRemaining: 2 }, { helmStatus: 'uninstalling' }))
    lister.set(deleting('PODS_TERMINATING', { podsRemaining: 1 }))
    lister.set(row('a', 'other', 'UNINSTALLING', { deletion: deletion('CLEANUP') }))
    lister.set(row('b', 'chat', 'UNINSTALLING', { deletion: deletion('CLEANUP') }))
    lister.set(deleting('PODS_TERMINATING', { podsRemaining: 1 }, { updatedAt: AT }))
    const blocker = { kind: 'LOOKUP_FAILED', name: 'pods', message: '', since: null } as const
    lister.set(deleting('PODS_TERMINATING', { podsRemaining: 1, blockers: [blocker] }))
    expect(await ready(stream)).toEqual([
      'UNINSTALLING PODS_TERMINATING 2',
      'UNINSTALLING PODS_TERMINATING 1',
      'UNINSTALLING PODS_TERMINATING 1',
    ])
  })

  it('do not repeat what the present state, which is true for its moment, has already said', async () => {
    const derivedEarlier = deleting('PODS_TERMINATING', { podsRemaining: 1 })
    lister.set(derivedEarlier)
    const present = deleting('PODS_TERMINATING', { podsRemaining: 0 })
    lister.rows.set('a/chat', present)
    const stream = open()
    expect(await ready(stream)).toEqual(['UNINSTALLING PODS_TERMINATING 0'])
    lister.rows.set('a/chat', derivedEarlier)
    lister.set(deleting('PODS_TERMINATING', { podsRemaining: 0 }))
    lister.set(deleting('CLEANUP', { podsRemaining: 0 }))
    await pending.get(stream)
    lister.remove('a', 'chat', 'UNINSTALLED')
    expect(await ready(stream)).toEqual(['GONE UNINSTALLED', 'END'])
  })

  it('end with FAILED', async () => {
    lister.set(deleting('HELM_UNINSTALL'))
    const stream = open()
    lister.set(chat('FAILED', { phaseReason: 'helm says no' }))
    lister.set(deleting('HELM_UNINSTALL'))
    expect(await ready(stream)).toEqual(['UNINSTALLING HELM_UNINSTALL', 'FAILED', 'END'])
  })

  it('end with the phase that the release has when its mark is taken away', async () => {
    lister.set(deleting('MARKED'))
    const stream = open()
    lister.set(chat('APPLIED'))
    expect(await ready(stream)).toEqual(['UNINSTALLING MARKED', 'APPLIED', 'END'])
  })

  it('end when its row can no longer be read, without saying that it is gone', async () => {
    lister.set(deleting('RouteSettling', {}, { backend: 'LLMSERVICE' }))
    const stream = open()
    lister.remove('a', 'chat', null)
    expect(await ready(stream)).toEqual(['UNINSTALLING RouteSettling', 'UNKNOWN', 'END'])
  })

  it('end when the plan beside an LLMService that cannot be read takes its place, without GONE', async () => {
    lister.set(deleting('RouteSettling', {}, { backend: 'LLMSERVICE', uid: 'service' }))
    const stream = open()
    lister.set(chat('APPLIED', { uid: 'plan' }))
    expect(await ready(stream)).toEqual(['UNINSTALLING RouteSettling', 'UNKNOWN', 'END'])
  })

  it('go on while the uid is not known, which says nothing of another object', async () => {
    lister.set(deleting('RouteSettling'))
    const stream = open()
    lister.set(deleting('CLEANUP', {}, { uid: null }))
    lister.set(deleting('HELM_UNINSTALL'))
    expect(await ready(stream)).toEqual([
      'UNINSTALLING RouteSettling',
      'UNINSTALLING CLEANUP',
      'UNINSTALLING HELM_UNINSTALL',
    ])
  })

  it('say nothing of a later life of the name', async () => {
    lister.set(deleting('CLEANUP'))
    const stream = open()
    lister.remove('a', 'chat', 'RECREATED')
    lister.set(chat('APPLIED', { uid: 'other' }))
    lister.set(deleting('MARKED', {}, { uid: 'other' }))
    expect(await ready(stream)).toEqual(['UNINSTALLING CLEANUP', 'GONE RECREATED', 'END'])
  })

  it('come without bookmarks: no timer is set', async () => {
    lister.set(deleting('MARKED'))
    const stream = open()
    await ready(stream)
    expect([feed.waiting, clock.timers]).toEqual([1, 0])
    await stream.return()
    await pending.get(stream)
    expect(feed.waiting).toBe(0)
  })
})

describe('a release that is not being uninstalled', () => {
  it.each(['APPLYING', 'APPLIED', 'FAILED', 'UNKNOWN'] as const)('(%s) completes at once', async (phase) => {
    lister.set(chat(phase))
    const stream = open()
    expect(await ready(stream)).toEqual(['END'])
    expect(feed.waiting).toBe(0)
  })

  it('(not there) completes at once', async () => {
    expect(await ready(open())).toEqual(['END'])
    expect(await ready(open({ since: feed.cursor() }))).toEqual(['END'])
  })

  it('tells what has begun since it was opened, if it is read later', async () => {
    lister.set(chat('APPLIED'))
    const stream = open()
    lister.set(deleting('MARKED'))
    expect(await ready(stream)).toEqual(['UNINSTALLING MARKED'])
  })
})

describe('since', () => {
  it('just before the mark, as uninstallRelease gives it, misses nothing of the uninstall (B062)', async () => {
    lister.set(chat('APPLIED'))
    const since = feed.cursor()
    lister.set(deleting('MARKED'))
    lister.set(deleting('CLEANUP'))
    lister.remove('a', 'chat', 'UNINSTALLED')
    expect(await ready(open({ since }))).toEqual([
      'UNINSTALLING MARKED',
      'UNINSTALLING CLEANUP',
      'GONE UNINSTALLED',
      'END',
    ])
  })

  it('in its middle goes on there, without repeating how it stood', async () => {
    lister.set(deleting('MARKED'))
    const since = feed.cursor()
    const stream = open({ since })
    expect(await ready(stream)).toEqual([])
    lister.set(deleting('MARKED', {}, { revision: 2 }))
    lister.set(deleting('HELM_UNINSTALL', {}, { revision: 2 }))
    await pending.get(stream)
    lister.set(chat('FAILED'))
    expect(await ready(stream)).toEqual(['FAILED', 'END'])
    expect(await ready(open({ since }))).toEqual(['UNINSTALLING HELM_UNINSTALL', 'FAILED', 'END'])
  })

  it('goes on after any event of a stream that was cut off', async () => {
    lister.set(deleting('MARKED'))
    const first = open()
    lister.set(deleting('HELM_UNINSTALL'))
    lister.set(deleting('CLEANUP'))
    lister.remove('a', 'chat', 'UNINSTALLED')
    const all: DeletionEvent[] = []
    for await (const event of first) all.push(event)
    for (const [index, { cursor }] of all.entries()) {
      const rest = all.slice(index + 1).map(brief)
      expect(await ready(open({ since: cursor }))).toEqual([...rest, 'END'])
      expect(await ready(open({ lastEventId: cursor }))).toEqual([...rest, 'END'])
    }
  })

  it('at its end completes, though the name has a later life that is being uninstalled', async () => {
    lister.set(deleting('CLEANUP'))
    lister.remove('a', 'chat', 'UNINSTALLED')
    const since = feed.cursor()
    lister.set(chat('APPLIED', { uid: 'other' }))
    lister.set(deleting('MARKED', {}, { uid: 'other' }))
    expect(await ready(open({ since }))).toEqual(['END'])
    expect(await ready(open({ since: feed.cursor(3) }))).toEqual(['UNINSTALLING MARKED'])
  })

  it('at a failure tells the next try, which may have begun right after it', async () => {
    lister.set(deleting('HELM_UNINSTALL'))
    lister.set(chat('FAILED'))
    const since = feed.cursor()
    expect(await ready(open({ since }))).toEqual(['END'])
    lister.set(deleting('MARKED'))
    expect(await ready(open({ since }))).toEqual(['UNINSTALLING MARKED'])
  })

  it('is over when nothing has begun since', async () => {
    lister.set(chat('APPLYING'))
    const since = feed.cursor()
    lister.set(chat('APPLIED'))
    expect(await ready(open({ since }))).toEqual(['END'])
  })

  const tooOld: [string, () => string][] = [
    ['of another process', () => encodeCursor({ epoch: 'e0', position: 1 })],
    ['from the future', () => feed.cursor(99)],
    ['that has fallen out of the ring', () => feed.cursor(1)],
  ]
  it.each(tooOld)('%s begins with the present state', async (_what, cursor) => {
    for (let n = 0; n < 20; n++) lister.set(deleting('PODS_TERMINATING', { podsRemaining: n }))
    expect(await ready(open({ since: cursor() }))).toEqual(['UNINSTALLING PODS_TERMINATING 19'])
    expect(await ready(open({ lastEventId: cursor() }))).toEqual(['UNINSTALLING PODS_TERMINATING 19'])
    lister.remove('a', 'chat', 'UNINSTALLED')
    expect(await ready(open({ since: cursor() }))).toEqual(['END'])
  })

  it('that is no cursor is refused; a Last-Event-ID may be anything', async () => {
    lister.set(deleting('MARKED'))
    const args = { namespace: 'a', name: 'chat', since: 'nonsense' }
    expect(deletionProgressed(feed, args)).toMatchObject({ refused: 'INVALID_INPUT', argument: 'since' })
    expect(await ready(open({ lastEventId: 'nonsense' }))).toEqual(['UNINSTALLING MARKED'])
  })
})

it('does not begin while the view is not filled: that would say that nothing is being uninstalled', () => {
  lister.ready = false
  expect(deletionProgressed(feed, { namespace: 'a', name: 'chat' })).toMatchObject({ refused: 'NOT_READY' })
})

describe('a reader that the ring has passed by', () => {
  const flood = () => {
    for (let n = 0; n < 20; n++) lister.set(row('a', 'other', n % 2 ? 'APPLIED' : 'APPLYING'))
  }

  async function passedBy(meanwhile: () => void): Promise<string[]> {
    lister.set(deleting('MARKED'))
    const stream = open()
    await stream.next()
    meanwhile()
    flood()
    const found = await ready(stream)
    await stream.return()
    return found
  }

  it('is told how the uninstall stands now, unless it knows', async () => {
    expect(await passedBy(() => lister.set(deleting('CLEANUP')))).toEqual(['UNINSTALLING CLEANUP'])
    expect(await passedBy(() => {})).toEqual([])
  })

  it('is told how it has ended, as far as that is known', async () => {
    expect(await passedBy(() => lister.set(chat('FAILED')))).toEqual(['FAILED', 'END'])
    expect(await passedBy(() => lister.remove('a', 'chat', 'UNINSTALLED'))).toEqual(['UNKNOWN', 'END'])
  })

  it('is told that another object has the name, and nothing of that', async () => {
    const later = () => lister.set(deleting('MARKED', {}, { uid: 'other' }))
    expect(await passedBy(later)).toEqual(['GONE RECREATED', 'END'])
  })

  it('that had resumed is told how it stands, since what it knew is not known', async () => {
    lister.set(deleting('MARKED'))
    const stream = open({ since: feed.cursor() })
    expect(await ready(stream)).toEqual([])
    // The waiting next() takes the first step; the flood passes by what follows.
    lister.set(deleting('HELM_UNINSTALL'))
    await pending.get(stream)
    lister.set(deleting('MARKED'))
    flood()
    expect(await ready(stream)).toEqual(['UNINSTALLING MARKED'])
  })
})
