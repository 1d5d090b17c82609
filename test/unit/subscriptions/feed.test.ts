import { describe, expect, it } from 'vitest'
import { encodeCursor } from '../../../subscriptions/cursor.ts'
import { Feed } from '../../../subscriptions/feed.ts'
import { FakeClock } from './fakeClock.ts'
import { FakeLister, row } from './fakeLister.ts'

function make(capacity = 4, before = 0) {
  const lister = new FakeLister()
  for (let n = 0; n < before; n++) lister.set(row('a', `old-${n}`, 'APPLIED'))
  const feed = new Feed({ lister, clock: new FakeClock(), capacity, epoch: 'e1' })
  const change = (n: number) => lister.set(row('a', `r${n}`, 'APPLIED'))
  const name = (position: number) => {
    const reading = feed.after(position)
    return typeof reading === 'string' ? reading : reading.change.after?.name
  }
  return { lister, feed, change, name }
}

describe('feed', () => {
  it('gives each reader the change after its position', () => {
    const { change, name } = make()
    change(1)
    change(2)
    expect([name(0), name(1), name(2)]).toEqual(['r1', 'r2', 'none'])
  })

  it('begins where the view is, and knows nothing of what was before', () => {
    const { feed, change, name } = make(4, 3)
    expect(feed.position).toBe(3)
    expect(name(2)).toBe('lost')
    change(1)
    expect([name(2), name(3), name(4)]).toEqual(['lost', 'r1', 'none'])
  })

  it('says so when the ring has passed a reader by, to the very change', () => {
    const { change, name } = make(4)
    for (let n = 1; n <= 6; n++) change(n)
    expect([name(1), name(2), name(5), name(6)]).toEqual(['lost', 'r3', 'r6', 'none'])
  })

  it('holds no more changes than its capacity', () => {
    const { feed, change, name } = make(4)
    for (let n = 1; n <= 1000; n++) change(n)
    expect(feed.position).toBe(1000)
    expect([name(995), name(996)]).toEqual(['lost', 'r997'])
  })

  it('never fills a gap in the positions with something else', () => {
    const { lister, change, name } = make(4)
    change(1)
    lister.position = 2
    change(4)
    expect([name(0), name(1), name(2), name(3)]).toEqual(['lost', 'lost', 'r4', 'none'])
  })

  it('resumes from its own cursors only', () => {
    const { feed, change } = make(4)
    for (let n = 1; n <= 6; n++) change(n)
    expect(feed.resume(feed.cursor())).toBe(6)
    expect(feed.resume(feed.cursor(2))).toBe(2)
    expect(feed.resume(feed.cursor(1))).toBe('lost')
    expect(feed.resume(feed.cursor(7))).toBe('lost')
    expect(feed.resume(feed.cursor(-1))).toBe('lost')
    expect(feed.resume(encodeCursor({ epoch: 'e2', position: 6 }))).toBe('lost')
    expect(feed.resume('yesterday')).toBe('malformed')
  })

  it('gives the row of one release with the position at which it is so', () => {
    const { lister, feed, change } = make()
    change(1)
    const changed = row('a', 'r1', 'FAILED')
    lister.set(changed)
    expect(feed.present({ namespace: 'a', name: 'r1' })).toEqual({ row: changed, position: 2 })
    expect(feed.present({ namespace: 'b', name: 'r1' })).toEqual({ row: null, position: 2 })
  })

  it('gives cursors of another process another epoch', () => {
    const lister = new FakeLister()
    const clock = new FakeClock()
    expect(new Feed({ lister, clock }).cursor()).not.toBe(new Feed({ lister, clock }).cursor())
  })

  it('wakes a reader once for the changes of one turn, and only once', async () => {
    const { feed, change } = make()
    let woken = 0
    feed.onNext(() => woken++)
    change(1)
    change(2)
    expect(woken).toBe(0)
    await Promise.resolve()
    expect([woken, feed.waiting]).toEqual([1, 0])
    change(3)
    await Promise.resolve()
    expect(woken).toBe(1)
  })

  it('lets a reader take its waking back', async () => {
    const { feed, change } = make()
    let woken = 0
    feed.onNext(() => woken++)()
    change(1)
    await Promise.resolve()
    expect([woken, feed.waiting]).toEqual([0, 0])
  })

  it('lets go of the view when it is stopped', () => {
    const { lister, feed } = make()
    feed.stop()
    expect(lister.listeners).toBe(0)
  })
})
