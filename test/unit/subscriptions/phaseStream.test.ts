import { beforeEach, describe, expect, it } from 'vitest'
import { encodeCursor } from '../../../subscriptions/cursor.ts'
import { Feed } from '../../../subscriptions/feed.ts'
import { BOOKMARK_MS } from '../../../subscriptions/feedStream.ts'
import type { PhaseEvent } from '../../../subscriptions/phaseEvent.ts'
import {
  deploymentPhaseChanged,
  PhaseStream,
  type PhaseStreamArgs,
} from '../../../subscriptions/phaseStream.ts'
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

function open(args: PhaseStreamArgs = {}): PhaseStream {
  const stream = deploymentPhaseChanged(feed, args)
  if (stream instanceof PhaseStream) return stream
  throw new Error(stream.message)
}

/** `kind` and, where they are there, `name:previousPhase>phase`, which is what most tests are about. */
function brief(event: PhaseEvent): string {
  const { kind, name, previousPhase, phase, goneBecause } = event
  if (name === null) return kind
  return `${kind} ${name}:${previousPhase}>${phase}${goneBecause ? ` ${goneBecause}` : ''}`
}

const ready = (stream: PhaseStream) => readyNow(stream, brief)

describe('which changes are events', () => {
  it('tells a change of the phase, with all of its fields', async () => {
    lister.set(row('a', 'chat', 'APPLIED'))
    const stream = open()
    const after = row('a', 'chat', 'UNINSTALLING', { phaseReason: 'because' })
    lister.set(after)
    expect((await stream.next()).value).toEqual({
      kind: 'CHANGED',
      cursor: feed.cursor(2),
      at: AT,
      namespace: 'a',
      name: 'chat',
      uid: 'uid-a-chat',
      backend: 'HELM',
      previousPhase: 'APPLIED',
      phase: 'UNINSTALLING',
      cause: 'INFORMER',
      reason: 'because',
      goneBecause: null,
      deployment: after,
    })
  })

  it('tells that a release is gone and why, with the uid and backend that it had', async () => {
    lister.set(row('a', 'chat', 'UNINSTALLING', { backend: 'LLMSERVICE' }))
    const stream = open()
    lister.remove('a', 'chat', 'UNINSTALLED')
    expect((await stream.next()).value).toMatchObject({
      kind: 'CHANGED',
      uid: 'uid-a-chat',
      backend: 'LLMSERVICE',
      previousPhase: 'UNINSTALLING',
      phase: 'GONE',
      goneBecause: 'UNINSTALLED',
      cause: 'REAP_LOOP',
      deployment: null,
    })
  })

  it('tells REMOVED, without a phase, of a row that can no longer be read', async () => {
    lister.set(row('a', 'chat', 'APPLIED'))
    const stream = open()
    lister.remove('a', 'chat', null)
    expect((await stream.next()).value).toMatchObject({
      kind: 'REMOVED',
      name: 'chat',
      previousPhase: 'APPLIED',
      phase: null,
      goneBecause: null,
      deployment: null,
    })
  })

  it('tells a new row once, whatever else of it changes, and no change that leaves the phase', async () => {
    const stream = open()
    lister.set(row('a', 'chat', 'APPLYING'))
    lister.set(row('a', 'chat', 'APPLYING', { revision: 2 }))
    lister.set(row('a', 'chat', 'APPLIED', { revision: 2 }))
    expect(await ready(stream)).toEqual(['CHANGED chat:null>APPLYING', 'CHANGED chat:APPLYING>APPLIED'])
  })

  it('delivers a change out of a phase filter once, and what follows not at all', async () => {
    lister.set(row('a', 'chat', 'APPLIED'))
    const stream = open({ filter: { phases: ['APPLIED'] } })
    lister.set(row('a', 'chat', 'UNINSTALLING'))
    lister.remove('a', 'chat', 'UNINSTALLED')
    lister.set(row('a', 'chat', 'APPLYING'))
    lister.set(row('a', 'chat', 'APPLIED'))
    expect(await ready(stream)).toEqual([
      'CHANGED chat:APPLIED>UNINSTALLING',
      'CHANGED chat:APPLYING>APPLIED',
    ])
  })

  it('does not take a row that enters the filter by another field for a phase change', async () => {
    lister.set(row('a', 'chat', 'FAILED'))
    const stream = open({ filter: { drifted: true } })
    lister.set(row('a', 'chat', 'FAILED', { drift: { kind: 'LAST_APPLY_FAILED', message: '' } }))
    lister.set(row('a', 'chat', 'APPLIED'))
    expect(await ready(stream)).toEqual(['CHANGED chat:FAILED>APPLIED'])
  })

  it('wants filter, namespace and name all to fit', async () => {
    const stream = open({ namespace: 'a', name: 'chat', filter: { phases: ['APPLIED'] } })
    lister.set(row('a', 'other', 'APPLIED'))
    lister.set(row('b', 'chat', 'APPLIED'))
    lister.set(row('a', 'chat', 'APPLYING'))
    lister.set(row('a', 'chat', 'APPLIED'))
    expect(await ready(stream)).toEqual(['CHANGED chat:APPLYING>APPLIED'])
  })

  it('waits in silence for a release that is not there', async () => {
    const stream = open({ namespace: 'a', name: 'later', snapshot: true })
    expect(await ready(stream)).toEqual(['SNAPSHOT_COMPLETE'])
    lister.set(row('a', 'later', 'APPLYING'))
    await pending.get(stream)
    expect(feed.waiting).toBe(0)
  })
})

describe('where a stream begins', () => {
  it('tells only what comes after it was opened, even when it is read later', async () => {
    lister.set(row('a', 'old', 'APPLIED'))
    const stream = open()
    lister.set(row('a', 'new', 'APPLIED'))
    expect(await ready(stream)).toEqual(['CHANGED new:null>APPLIED'])
  })

  it('begins with the rows as they are, says that these are all, and goes on', async () => {
    lister.set(row('b', 'chat', 'APPLIED'))
    lister.set(row('a', 'embed', 'FAILED'))
    lister.set(row('a', 'chat', 'APPLIED'))
    const stream = open({ snapshot: true, filter: { namespaces: ['a'] } })
    expect(await ready(stream)).toEqual([
      'SNAPSHOT chat:null>APPLIED',
      'SNAPSHOT embed:null>FAILED',
      'SNAPSHOT_COMPLETE',
    ])
    lister.remove('a', 'embed', 'UNINSTALLED')
    await pending.get(stream)
    lister.set(row('a', 'chat', 'UNINSTALLING'))
    expect(await ready(stream)).toEqual(['CHANGED chat:APPLIED>UNINSTALLING'])
  })

  it('says that an empty snapshot is one', async () => {
    expect(await ready(open({ snapshot: true }))).toEqual(['SNAPSHOT_COMPLETE'])
  })

  it('loses nothing that happens while a snapshot is being read (B062)', async () => {
    lister.set(row('a', 'r1', 'APPLIED'))
    lister.set(row('a', 'r2', 'APPLIED'))
    const stream = open({ snapshot: true })
    expect(brief((await stream.next()).value)).toBe('SNAPSHOT r1:null>APPLIED')
    lister.set(row('a', 'r1', 'FAILED'))
    lister.remove('a', 'r2', 'UNINSTALLED')
    expect(await ready(stream)).toEqual([
      'SNAPSHOT r2:null>APPLIED',
      'SNAPSHOT_COMPLETE',
      'CHANGED r1:APPLIED>FAILED',
      'CHANGED r2:APPLIED>GONE UNINSTALLED',
    ])
  })

  it('resumes after a cursor without loss and without repeating', async () => {
    lister.set(row('a', 'r1', 'APPLIED'))
    lister.set(row('a', 'r2', 'APPLIED'))
    const first = open({ since: feed.cursor(0) })
    const seen = (await first.next()).value as PhaseEvent
    await first.return()
    lister.set(row('a', 'r1', 'UNINSTALLING'))
    expect(await ready(open({ since: seen.cursor }))).toEqual([
      'CHANGED r2:null>APPLIED',
      'CHANGED r1:APPLIED>UNINSTALLING',
    ])
  })

  const tooOld: [string, () => string][] = [
    ['of another process', () => encodeCursor({ epoch: 'e0', position: 1 })],
    ['from the future', () => feed.cursor(99)],
    ['that has fallen out of the ring', () => feed.cursor(3)],
  ]
  it.each(tooOld)('answers a cursor %s with RESYNC and a snapshot', async (_what, cursor) => {
    for (let n = 0; n < 20; n++) lister.set(row('a', 'chat', n % 2 ? 'APPLIED' : 'APPLYING'))
    const stream = open({ since: cursor(), filter: { phases: ['APPLIED'] } })
    expect(await ready(stream)).toEqual(['RESYNC', 'SNAPSHOT chat:null>APPLIED', 'SNAPSHOT_COMPLETE'])
  })

  it('gives a snapshot when both are asked for: it shows more than what came since', async () => {
    lister.set(row('a', 'chat', 'APPLIED'))
    lister.set(row('a', 'chat', 'FAILED'))
    const stream = open({ since: feed.cursor(0), snapshot: true })
    expect(await ready(stream)).toEqual(['SNAPSHOT chat:null>FAILED', 'SNAPSHOT_COMPLETE'])
  })

  it('gives whoever was cut off in the middle of a snapshot a whole one', async () => {
    lister.set(row('a', 'r1', 'APPLIED'))
    lister.set(row('a', 'r2', 'APPLIED'))
    const first = (await open({ snapshot: true }).next()).value as PhaseEvent
    expect(await ready(open({ since: first.cursor }))).toEqual([
      'RESYNC',
      'SNAPSHOT r1:null>APPLIED',
      'SNAPSHOT r2:null>APPLIED',
      'SNAPSHOT_COMPLETE',
    ])
  })

  it('resumes after the end of a snapshot', async () => {
    lister.set(row('a', 'r1', 'APPLIED'))
    const stream = open({ snapshot: true })
    await stream.next()
    const complete = (await stream.next()).value as PhaseEvent
    lister.set(row('a', 'r1', 'FAILED'))
    expect(await ready(open({ since: complete.cursor }))).toEqual(['CHANGED r1:APPLIED>FAILED'])
  })

  it('takes Last-Event-ID for since and for the snapshot that the client has had', async () => {
    lister.set(row('a', 'chat', 'APPLIED'))
    const lastEventId = feed.cursor()
    lister.set(row('a', 'chat', 'FAILED'))
    expect(await ready(open({ snapshot: true, lastEventId }))).toEqual(['CHANGED chat:APPLIED>FAILED'])
    expect(await ready(open({ since: feed.cursor(), lastEventId }))).toEqual([])
    expect(await ready(open({ lastEventId: 'of some other server' }))).toEqual([
      'RESYNC',
      'SNAPSHOT chat:null>FAILED',
      'SNAPSHOT_COMPLETE',
    ])
  })
})

describe('what is refused', () => {
  it('a name without a namespace', () => {
    expect(deploymentPhaseChanged(feed, { name: 'chat' })).toMatchObject({
      refused: 'INVALID_INPUT',
      argument: 'name',
    })
  })

  it('a since that is no cursor, also beside a snapshot', () => {
    const refused = { refused: 'INVALID_INPUT', argument: 'since' }
    expect(deploymentPhaseChanged(feed, { since: 'yesterday' })).toMatchObject(refused)
    expect(deploymentPhaseChanged(feed, { since: '', snapshot: true })).toMatchObject(refused)
  })

  it('a stream while the view is not filled: its snapshot would say that there is nothing', () => {
    lister.ready = false
    expect(deploymentPhaseChanged(feed, { snapshot: true })).toMatchObject({ refused: 'NOT_READY' })
  })
})

describe('a slow reader', () => {
  it('gets every change while the ring holds them', async () => {
    const stream = open()
    for (let n = 0; n < 10; n++) lister.set(row('a', `r${n}`, 'APPLIED'))
    expect(await ready(stream)).toHaveLength(10)
  })

  it('gets a RESYNC and the present state once it has been passed by, never a silent gap', async () => {
    const stream = open()
    for (let n = 0; n < 11; n++) lister.set(row('a', 'chat', n % 2 ? 'APPLYING' : 'APPLIED'))
    expect(await ready(stream)).toEqual(['RESYNC', 'SNAPSHOT chat:null>APPLIED', 'SNAPSHOT_COMPLETE'])
  })

  it('is passed by in the middle of a snapshot as well', async () => {
    for (const name of ['r1', 'r2']) lister.set(row('a', name, 'APPLIED'))
    const stream = open({ snapshot: true })
    await stream.next()
    for (let n = 0; n < 11; n++) lister.set(row('a', 'r1', n % 2 ? 'APPLIED' : 'FAILED'))
    expect(await ready(stream)).toEqual([
      'SNAPSHOT r2:null>APPLIED',
      'SNAPSHOT_COMPLETE',
      'RESYNC',
      'SNAPSHOT r1:null>FAILED',
      'SNAPSHOT r2:null>APPLIED',
      'SNAPSHOT_COMPLETE',
    ])
  })
})

describe('a quiet stream', () => {
  it('gets a BOOKMARK each minute, with the present cursor', async () => {
    lister.set(row('a', 'chat', 'APPLIED'))
    const stream = open({ namespace: 'b' })
    const first = stream.next()
    clock.advance(BOOKMARK_MS - 1)
    lister.set(row('a', 'chat', 'FAILED'))
    await Promise.resolve()
    clock.advance(1)
    expect((await first).value).toMatchObject({ kind: 'BOOKMARK', cursor: feed.cursor(2), name: null })
    const second = stream.next()
    clock.advance(BOOKMARK_MS)
    expect((await second).value).toMatchObject({ kind: 'BOOKMARK', cursor: feed.cursor(2) })
  })

  it('is not one that has just had an event', async () => {
    const stream = open()
    const first = stream.next()
    clock.advance(BOOKMARK_MS - 1)
    lister.set(row('a', 'chat', 'APPLIED'))
    expect((await first).value.kind).toBe('CHANGED')
    const second = stream.next()
    clock.advance(BOOKMARK_MS - 1)
    lister.set(row('a', 'chat', 'FAILED'))
    expect((await second).value.kind).toBe('CHANGED')
  })

  it('gets the event and no BOOKMARK when both are due in one turn', async () => {
    const stream = open()
    const next = stream.next()
    lister.set(row('a', 'chat', 'APPLIED'))
    clock.advance(BOOKMARK_MS)
    expect((await next).value.kind).toBe('CHANGED')
  })

  it('gets one BOOKMARK, not one for each minute in which nobody read it', async () => {
    const stream = open()
    clock.advance(10 * BOOKMARK_MS)
    const next = stream.next()
    clock.advance(0)
    expect((await next).value.kind).toBe('BOOKMARK')
    expect(await ready(stream)).toEqual([])
  })
})

describe('the end of a stream', () => {
  it('return() wakes a waiting next() at once and frees everything (B057)', async () => {
    for (let n = 0; n < 1000; n++) {
      const stream = open({ namespace: 'a', name: 'quiet' })
      const next = stream.next()
      await stream.return()
      expect(await next).toEqual({ done: true, value: undefined })
    }
    expect([feed.waiting, clock.timers, lister.listeners]).toEqual([0, 0, 1])
  })

  it('leaves nothing behind when it is never read', () => {
    for (let n = 0; n < 100; n++) open({ snapshot: true })
    expect([feed.waiting, clock.timers]).toEqual([0, 0])
  })

  it('stays ended, whatever comes', async () => {
    const stream = open()
    await stream.return()
    lister.set(row('a', 'chat', 'APPLIED'))
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it('throw() ends it as well', async () => {
    const stream = open()
    const next = stream.next()
    await expect(stream.throw(new Error('enough'))).rejects.toThrow('enough')
    expect((await next).done).toBe(true)
    expect(feed.waiting).toBe(0)
  })

  it('serves several waiting next() calls in order', async () => {
    const stream = open()
    const both = Promise.all([stream.next(), stream.next()])
    lister.set(row('a', 'r1', 'APPLIED'))
    lister.set(row('a', 'r2', 'APPLIED'))
    expect((await both).map(({ value }) => value.name)).toEqual(['r1', 'r2'])
  })
})
