import { expect, test } from 'vitest'
import { within } from '../../../services/releases/within.ts'
import { FakeClock } from '../support/fakeClock.ts'

test('a promise that settles in time is answered, and leaves no timer', async () => {
  const clock = new FakeClock()
  expect(await within(clock, 1000, Promise.resolve('done'))).toBe('done')
  expect(clock.pending).toBe(0)
})

test('the time or the shut-down ends the wait, not the promise', async () => {
  const clock = new FakeClock()
  const never = new Promise<string>(() => {})
  const late = within(clock, 1000, never)
  await clock.advance(1000)
  expect(await late).toBeUndefined()
  const stopping = new AbortController()
  const stopped = within(clock, 1000, never, stopping.signal)
  stopping.abort()
  expect(await stopped).toBeUndefined()
  expect(await within(clock, 1000, never, stopping.signal)).toBeUndefined()
  expect(clock.pending).toBe(0)
})

test('a failure is passed on', async () => {
  await expect(within(new FakeClock(), 1000, Promise.reject(new Error('no')))).rejects.toThrow('no')
})
