import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  archiveName,
  autoscaleName,
  boundedLabel,
  boundedName,
  lockName,
  markName,
  mayBeCut,
  planName,
  releaseOfLock,
  releaseOfMark,
  releaseOfPlan,
} from '../../../services/plans/names.ts'

const sha8 = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)

test('names are those of the contract', () => {
  expect(planName('chat')).toBe('swiss-plan-chat')
  expect(autoscaleName('chat')).toBe('swiss-autoscale-chat')
  expect(lockName('chat')).toBe('swiss-lock-chat')
  expect(markName('chat')).toBe('swiss-uninstall-chat')
  expect(archiveName('chat', 3)).toBe('swiss.plan.v1.chat.v3')
})

test('a name tells its release, and only with its own prefix', () => {
  expect(releaseOfPlan('swiss-plan-chat')).toBe('chat')
  expect(releaseOfMark('swiss-uninstall-chat')).toBe('chat')
  expect(releaseOfLock('swiss-lock-chat')).toBe('chat')
  for (const other of [
    'swiss-site',
    'swiss-plan-',
    'swiss-planchat',
    'swiss-uninstall-chat',
    'swiss-gateway-leader',
  ]) {
    expect(releaseOfPlan(other)).toBeNull()
  }
  expect(releaseOfLock('swiss-gateway-leader')).toBeNull()
})

test('a name of 253 characters stays, one of 254 is cut and ends in its hash', () => {
  const fits = planName('a'.repeat(253 - 'swiss-plan-'.length))
  expect(fits).toHaveLength(253)
  expect(fits.endsWith('aaaa')).toBe(true)
  const whole = `swiss-plan-${'a'.repeat(254 - 'swiss-plan-'.length)}`
  const cut = boundedName(whole)
  expect(cut).toBe(`${whole.slice(0, 244)}-${sha8(whole)}`)
  expect(cut).toHaveLength(253)
  expect(mayBeCut(cut)).toBe(true)
  expect(mayBeCut('swiss-plan-chat')).toBe(false)
})

test('a label value of 63 characters stays, one of 64 is cut', () => {
  expect(boundedLabel('a'.repeat(63))).toBe('a'.repeat(63))
  expect(boundedLabel('a'.repeat(64))).toBe(`${'a'.repeat(54)}-${sha8('a'.repeat(64))}`)
})

test('a cut at a dot leaves a DNS subdomain', () => {
  const name = `${'a'.repeat(242)}.-${'b'.repeat(40)}`
  expect(boundedName(name).slice(240, 246)).toBe('aa---' + sha8(name)[0])
  expect(boundedName(`${'a'.repeat(243)}.${'b'.repeat(40)}`)).toMatch(/^a+--[0-9a-f]{8}$/)
})

test('two long names with the same start stay different, and within the limits', () => {
  const tail = fc.stringMatching(/^[a-z0-9]{1,40}$/)
  fc.assert(
    fc.property(tail, tail, (one, other) => {
      fc.pre(one !== other)
      const start = 'm'.repeat(250)
      expect(planName(start + one)).not.toBe(planName(start + other))
      expect(boundedLabel(start + one)).not.toBe(boundedLabel(start + other))
      expect(planName(start + one).length).toBe(253)
      expect(boundedLabel(start + one).length).toBe(63)
    }),
  )
})
