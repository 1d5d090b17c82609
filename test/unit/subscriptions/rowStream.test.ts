import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { matches } from '../../../services/deployments/listing.ts'
import { type DeploymentPhase, type Row, releaseKey } from '../../../services/deployments/row.ts'
import { encodeCursor } from '../../../subscriptions/cursor.ts'
import { Feed } from '../../../subscriptions/feed.ts'
import { BOOKMARK_MS } from '../../../subscriptions/feedStream.ts'
import type { RowEvent } from '../../../subscriptions/rowEvent.ts'
import { deploymentChanged, RowStream, type RowStreamArgs } from '../../../subscriptions/rowStream.ts'
import { FakeClock } from './fakeClock.ts'
import { AT, FakeLister, row } from './fakeLister.ts'
import { readyNow } from './reading.ts'

let lister: FakeLister
let clock: FakeClock
let feed: Feed

beforeEach(() => {
  lister = new FakeLister()
  clock = new FakeClock()
  feed = new Feed({ lister, clock, capacity: 10, epoch: 'e1' })
})

function open(args: RowStreamArgs = {}): RowStream {
  const stream = deploymentChanged(feed, args)
  if (stream instanceof RowStream) return stream
  throw new Error(stream.message)
}

/** `change` and, where there is one, `name:phase@revision`. */
function brief({ change, ref, deployment }: RowEvent): string {
  if (!ref) return change
  return `${change} ${ref.name}${deployment ? `:${deployment.phase}@${deployment.revision}` : ''}`
}

const ready = (stream: RowStream) => readyNow(stream, brief)

describe('which changes are events', () => {
  it('tells a row that comes, changes and leaves, with all fields', async () => {
    const stream = open()
    const added = row('a', 'chat', 'APPLYING')
    const modified = { ...added, revision: 2 }
    lister.set(added)
    lister.set(modified)
    lister.remove('a', 'chat', 'UNINSTALLED')
    const ref = { namespace: 'a', name: 'chat' }
    expect((await stream.next()).value).toEqual({
      change: 'ADDED',
      cursor: feed.cursor(1),
      at: AT,
      ref,
      deployment: added,
    })
    expect((await stream.next()).value).toEqual({
      change: 'MODIFIED',
      cursor: feed.cursor(2),
      at: AT,
      ref,
      deployment: modified,
    })
    expect((await stream.next()).value).toEqual({
      change: 'REMOVED',
      cursor: feed.cursor(3),
      at: AT,
      ref,
      deployment: null,
    })
  })

  it('tells of a row that enters the filter as ADDED and of one that leaves it as REMOVED', async () => {
    lister.set(row('a', 'chat', 'APPLIED'))
    const stream = open({ filter: { phases: ['FAILED', 'UNINSTALLING'] } })
    lister.set(row('a', 'chat', 'FAILED'))
    lister.set(row('a', 'chat', 'UNINSTALLING'))
    lister.set(row('a', 'chat', 'APPLIED'))
    lister.set(row('a', 'chat', 'APPLIED', { revision: 2 }))
    lister.remove('a', 'chat', 'PLAN_REMOVED')
    expect(await ready(stream)).toEqual([
      'ADDED chat:FAILED@1',
      'MODIFIED chat:UNINSTALLING@1',
      'REMOVED chat',
    ])
  })

  it('tells REMOVED of a row that is gone and of one that can no longer be read', async () => {
    lister.set(row('a', 'r1', 'UNINSTALLING'))
    lister.set(row('a', 'r2', 'APPLIED'))
    const stream = open()
    lister.remove('a', 'r1', 'UNINSTALLED')
    lister.remove('a', 'r2', null)
    expect(await ready(stream)).toEqual(['REMOVED r1', 'REMOVED r2'])
  })

  it('tells a release that was made again as one that has left and one that has come', async () => {
    lister.set(row('a', 'chat', 'UNINSTALLING'))
    const stream = open()
    lister.remove('a', 'chat', 'RECREATED')
    lister.set(row('a', 'chat', 'APPLYING', { uid: 'other' }))
    expect(await ready(stream)).toEqual(['REMOVED chat', 'ADDED chat:APPLYING@1'])
  })
})

describe('where a stream begins', () => {
  beforeEach(() => {
    lister.set(row('a', 'r1', 'APPLIED'))
    lister.set(row('a', 'r2', 'FAILED'))
  })

  it('tells only what comes after it was opened, unless asked for more', async () => {
    const stream = open()
    lister.set(row('a', 'r1', 'FAILED'))
    expect(await ready(stream)).toEqual(['MODIFIED r1:FAILED@1'])
  })

  it('begins with the rows that fit, says that these are all, and loses nothing after them (B062)', async () => {
    const stream = open({ snapshot: true, filter: { phases: ['APPLIED', 'FAILED'] } })
    expect(brief((await stream.next()).value)).toBe('SNAPSHOT r1:APPLIED@1')
    lister.set(row('a', 'r1', 'UNINSTALLING'))
    expect(await ready(stream)).toEqual(['SNAPSHOT r2:FAILED@1', 'SNAPSHOT_COMPLETE', 'REMOVED r1'])
    expect(await ready(open({ snapshot: true, filter: { phases: ['UNKNOWN'] } }))).toEqual([
      'SNAPSHOT_COMPLETE',
    ])
  })

  it('resumes after a cursor; the row that left meanwhile is told (B062)', async () => {
    const since = feed.cursor()
    lister.set(row('a', 'r1', 'UNINSTALLING'))
    lister.remove('a', 'r1', 'UNINSTALLED')
    expect(await ready(open({ since }))).toEqual(['MODIFIED r1:UNINSTALLING@1', 'REMOVED r1'])
    expect(await ready(open({ lastEventId: since, snapshot: true }))).toHaveLength(2)
  })

  it('answers a cursor that is too old with RESYNC and a snapshot', async () => {
    const since = encodeCursor({ epoch: 'e0', position: 1 })
    const all = ['RESYNC', 'SNAPSHOT r1:APPLIED@1', 'SNAPSHOT r2:FAILED@1', 'SNAPSHOT_COMPLETE']
    expect(await ready(open({ since }))).toEqual(all)
    expect(await ready(open({ lastEventId: 'nonsense' }))).toEqual(all)
  })

  it('refuses a since that is no cursor, and to begin while the view is not filled', () => {
    expect(deploymentChanged(feed, { since: 'nonsense' })).toMatchObject({
      refused: 'INVALID_INPUT',
      argument: 'since',
    })
    lister.ready = false
    expect(deploymentChanged(feed, { snapshot: true })).toMatchObject({ refused: 'NOT_READY' })
  })
})

it('gets a BOOKMARK with the present cursor after a quiet minute', async () => {
  const stream = open({ filter: { namespaces: ['b'] } })
  const next = stream.next()
  lister.set(row('a', 'chat', 'APPLIED'))
  clock.advance(BOOKMARK_MS)
  expect((await next).value).toEqual({
    change: 'BOOKMARK',
    cursor: feed.cursor(1),
    at: new Date(clock.now()).toISOString(),
    ref: null,
    deployment: null,
  })
  await stream.return()
  expect([feed.waiting, clock.timers]).toEqual([0, 0])
})

describe('whoever applies the events', () => {
  const phase = fc.constantFrom<DeploymentPhase>('APPLYING', 'APPLIED', 'FAILED', 'UNINSTALLING')
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ name: fc.constantFrom('r1', 'r2', 'r3'), phase, revision: fc.nat(2) }),
    },
    { weight: 2, arbitrary: fc.record({ remove: fc.constantFrom('r1', 'r2', 'r3') }) },
    { weight: 3, arbitrary: fc.record({ read: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 2, arbitrary: fc.constant('reconnect' as const) },
  )
  const filter = fc.option(fc.record({ phases: fc.subarray<DeploymentPhase>(['APPLIED', 'FAILED']) }), {
    nil: undefined,
  })

  it('has the list, however it changes, and however often they are cut off or passed by', async () => {
    await fc.assert(
      fc.asyncProperty(filter, fc.array(step, { maxLength: 60, size: 'max' }), async (filter, steps) => {
        const lister = new FakeLister()
        const feed = new Feed({ lister, clock, capacity: 6, epoch: 'e1' })
        const begin = (args: RowStreamArgs) =>
          new Client(deploymentChanged(feed, { filter, ...args }) as RowStream)
        let client = begin({ snapshot: true })
        for (const one of steps) {
          if (one === 'reconnect') {
            await client.stream.return()
            const { rows, cursor } = client
            client = begin(cursor === null ? { snapshot: true } : { since: cursor })
            Object.assign(client, { rows, cursor })
          } else if ('read' in one) await client.read(one.read)
          else if ('phase' in one) {
            lister.set(row('a', one.name, one.phase, { revision: one.revision }))
          } else if (lister.get({ namespace: 'a', name: one.remove })) lister.remove('a', one.remove, null)
        }
        await client.read(Number.POSITIVE_INFINITY)
        const list = [...lister.rows.values()].filter((one) => matches(one, filter))
        expect(client.rows).toEqual(new Map(list.map((one) => [releaseKey(one), one])))
        await client.stream.return()
        expect(feed.waiting).toBe(0)
      }),
      { numRuns: 300 },
    )
  })

  /** Does with the events what the schema tells clients to do. */
  class Client {
    readonly stream: RowStream
    rows = new Map<string, Row>()
    cursor: string | null = null
    #next: Promise<IteratorResult<RowEvent>> | null = null

    constructor(stream: RowStream) {
      this.stream = stream
    }

    /** Applies what there is, `count` events at most. */
    async read(count: number): Promise<void> {
      for (let n = 0; n < count; n++) {
        this.#next ??= this.stream.next()
        const turn = new Promise<null>((resolve) => setImmediate(() => resolve(null)))
        const event = await Promise.race([this.#next, turn])
        if (event === null) return
        this.#next = null
        this.#apply(event.value)
      }
    }

    #apply({ change, cursor, ref, deployment }: RowEvent): void {
      this.cursor = cursor
      if (change === 'RESYNC') this.rows.clear()
      else if (ref && deployment) this.rows.set(releaseKey(ref), deployment)
      else if (ref) this.rows.delete(releaseKey(ref))
    }
  }
})
