import { expect, test } from 'vitest'
import { sleep } from '../../../services/runtime/clock.ts'
import { FakeClock } from './fakeClock.ts'

test('time stands still until it is moved, and timers fire in order, each at its own time', async () => {
  const clock = new FakeClock(1_000)
  const fired: string[] = []
  const note = (name: string) => () => void fired.push(`${name}@${clock.now()}`)
  clock.setTimer(30, note('c'))
  clock.setTimer(10, note('a'))
  clock.setTimer(10, note('b'))
  const cancel = clock.setTimer(20, note('never'))
  cancel()
  expect(clock.now()).toBe(1_000)
  expect(clock.nextDue).toBe(1_010)
  await clock.advance(25)
  expect(fired).toEqual(['a@1010', 'b@1010'])
  expect(clock.now()).toBe(1_025)
  await clock.advance(5)
  expect(fired).toEqual(['a@1010', 'b@1010', 'c@1030'])
  expect(clock.pending).toBe(0)
})

test('what a timer sets off is over before the next one fires, timers it sets among them', async () => {
  const clock = new FakeClock()
  const order: string[] = []
  const work: Promise<void>[] = []
  const settle = async () => {
    while (work.length > 0) await work.shift()
  }
  clock.setTimer(10, () => {
    order.push('first')
    work.push(
      new Promise<void>((resolve) =>
        setImmediate(() => {
          order.push('work of the first')
          clock.setTimer(5, () => order.push('between'))
          resolve()
        }),
      ),
    )
  })
  clock.setTimer(20, () => order.push('second'))
  await clock.advance(20, settle)
  expect(order).toEqual(['first', 'work of the first', 'between', 'second'])
})

test('sleep ends with its time or with its signal, and leaves no timer', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  let woken = 0
  const sleeping = [sleep(clock, 1_000), sleep(clock, 60_000, stop.signal)]
  for (const one of sleeping) one.then(() => woken++).catch(() => {})
  await clock.advance(1_000)
  expect(woken).toBe(1)
  stop.abort()
  await sleeping[1]
  expect(woken).toBe(2)
  expect(clock.pending).toBe(0)
})
