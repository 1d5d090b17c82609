import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ClockOffset } from '../../../services/cluster/clockOffset.ts'

/** The header a server sends whose clock is `offset` ahead, `delay` after we have sent the request. */
const header = (sentAt: number, offset: number, delay: number) =>
  new Date(sentAt + delay + offset).toUTCString()

test('with equal clocks nothing is ever corrected, whatever the round trips and fractions of a second', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ at: fc.nat(5_000_000), there: fc.nat(900), back: fc.nat(900) }), { minLength: 1 }),
      (requests) => {
        const clock = new ClockOffset()
        for (const { at, there, back } of requests) {
          const sentAt = 1_900_000_000_000 + at
          clock.observe(header(sentAt, 0, there), sentAt, sentAt + there + back)
          expect(clock.ms).toBe(0)
        }
      },
    ),
  )
})

test('an offset beyond the resolution is found to within the round trip and half a second', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 1_600, max: 10_000_000 }), fc.integer({ min: -10_000_000, max: -1_600 })),
      fc.nat(999),
      fc.nat(50),
      (offset, fraction, roundTrip) => {
        const clock = new ClockOffset()
        const sentAt = 1_900_000_000_000 + fraction
        clock.observe(header(sentAt, offset, roundTrip / 2), sentAt, sentAt + roundTrip)
        expect(Math.abs(clock.ms - offset)).toBeLessThanOrEqual(500 + roundTrip)
      },
    ),
  )
})

test('more answers narrow it down, and a clock that is set is believed again', () => {
  const clock = new ClockOffset()
  for (let at = 0; at < 60_000; at += 1_137) clock.observe(header(at, 7_300, 5), at, at + 10)
  expect(Math.abs(clock.ms - 7_300)).toBeLessThan(60)
  clock.observe(header(60_000, 0, 5), 60_000, 60_010)
  expect(clock.ms).toBe(0)
})

test('a header that is missing or unreadable, or a second-old cached one, changes nothing', () => {
  const clock = new ClockOffset()
  clock.observe(undefined, 0, 10)
  clock.observe('yesterday', 0, 10)
  clock.observe(new Date(1_900_000_000_000).toUTCString(), 1_900_000_001_300, 1_900_000_001_305)
  expect(clock.ms).toBe(0)
})
