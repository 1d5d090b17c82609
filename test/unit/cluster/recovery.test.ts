import { describe, expect, test } from 'vitest'
import { KubeError, type KubeErrorReason } from '../../../services/cluster/errors.ts'
import { Recovery } from '../../../services/cluster/recovery.ts'
import type { WatchEnd } from '../../../services/cluster/watchStream.ts'

const failed = (reason: KubeErrorReason, retryAfterSeconds: number | null = null): WatchEnd => ({
  how: 'failed',
  error: new KubeError(reason, reason, { status: 500, retryAfterSeconds }),
})
const closed: WatchEnd = { how: 'closed' }

/** With a `random` of 1 every pause is its upper bound. */
const make = () => new Recovery(() => 1)
const pauses = (recovery: Recovery, count: number, end: WatchEnd, livedMs: number | null) =>
  Array.from({ length: count }, () => recovery.watchEnded(end, livedMs).waitMs)

describe('what follows the end of a watch', () => {
  test.each([
    [closed, false],
    [{ how: 'silent' } as const, true],
    [failed('Gone'), true],
    [failed('Forbidden'), true],
    [failed('NotServed'), true],
    [failed('Invalid'), true],
    [failed('Unavailable'), false],
    [failed('Throttled'), false],
    [failed('Unauthorized'), false],
  ])('%j: lists anew: %s', (end, list) => {
    expect(make().watchEnded(end, 40_000).list).toBe(list)
  })

  test('one reconnection is free, then the pauses grow until a watch has lived for half a minute', () => {
    const recovery = make()
    expect(pauses(recovery, 5, closed, 10)).toEqual([0, 1_000, 2_000, 4_000, 8_000])
    expect(recovery.watchEnded(closed, 10).trouble?.message).toContain('again and again')
    expect(recovery.watchEnded(closed, 30_000)).toEqual({ list: false, waitMs: 0, trouble: null })
    expect(pauses(recovery, 2, closed, 10)).toEqual([1_000, 2_000])
  })

  test('one new list is free as well, each counted by itself', () => {
    const recovery = make()
    expect(recovery.watchEnded(closed, 10).waitMs).toBe(0)
    expect(recovery.watchEnded(failed('Gone'), null)).toEqual({ list: true, waitMs: 0, trouble: null })
    expect(pauses(recovery, 3, failed('Gone'), null)).toEqual([1_000, 2_000, 4_000])
  })

  test('a watch that could not be opened is never tried again at once', () => {
    const recovery = make()
    const step = recovery.watchEnded(failed('Unavailable'), null)
    expect(step).toMatchObject({ list: false, waitMs: 1_000, trouble: { reason: 'Unavailable' } })
  })

  test('after three failures in a row it lists, unless it is told to slow down', () => {
    const recovery = make()
    const lists = Array.from({ length: 5 }, () => recovery.watchEnded(failed('Unavailable'), null).list)
    expect(lists).toEqual([false, false, false, true, true])
    const throttled = make()
    for (let count = 0; count < 9; count++)
      expect(throttled.watchEnded(failed('Throttled'), null).list).toBe(false)
  })

  test('Retry-After counts even where the next try would be free', () => {
    expect(make().watchEnded(failed('Gone', 7), 40_000).waitMs).toBeGreaterThanOrEqual(7_000)
    expect(make().listFailed(new KubeError('Throttled', 'x', { retryAfterSeconds: 7 })).waitMs).toBe(8_400)
  })

  test('a failed list is tried again as a list', () => {
    const recovery = make()
    const error = new KubeError('Unavailable', 'x')
    expect([1, 2, 3].map(() => recovery.listFailed(error).waitMs)).toEqual([1_000, 2_000, 4_000])
    recovery.reset()
    expect(recovery.listFailed(error)).toEqual({ list: true, waitMs: 1_000, trouble: error })
  })
})
