import { describe, expect, test } from 'vitest'
import { type DecideInput, decide } from '../../../services/autoscale/decide.ts'
import type { Policy } from '../../../services/autoscale/policy.ts'

const NOW = Date.parse('2031-01-01T00:00:00Z')
const SECOND = 1000

const decode = { name: 'decode', min: 1, max: 10, query: 'q', target: 10 } as const
const prefill = { ...decode, name: 'prefill' } as const
const policy = (more: Partial<Policy> = {}) => ({
  ok: true as const,
  policy: {
    enabled: true,
    pools: [decode],
    cooldownUpSeconds: 60,
    cooldownDownSeconds: 300,
    maxStep: null,
    ...more,
  },
})
const both = policy({ pools: [prefill, decode] })
const scaling = { pools: { prefill: 2, decode: 4 }, fixed: [], colocated: false, scaler: null }

const input = (more: Partial<DecideInput> = {}): DecideInput => ({
  uninstalling: false,
  applying: false,
  policy: policy(),
  scaling,
  metrics: { decode: { value: 20 } },
  lastScaledAt: null,
  lastApplyFailed: false,
  now: NOW,
  ...more,
})

/** What becomes of 4 decode replicas, or of as many as are given, by one metric. */
function desired(metric: number, replicas = 4, more: Partial<Policy> = {}) {
  const decision = decide(
    input({
      policy: policy(more),
      scaling: { ...scaling, pools: { decode: replicas } },
      metrics: { decode: { value: metric } },
    }),
  )
  return [decision.action, decision.pools[0]?.desired, decision.replicas.decode]
}

describe('reasons to hold', () => {
  /** In the contract's order: each input has its own reason and all that come behind it. */
  const failed = { lastApplyFailed: true }
  const cooling = { ...failed, lastScaledAt: NOW - 59 * SECOND }
  const blind = { ...cooling, metrics: { decode: { missing: 'no sample' } } }
  const scaler = { ...blind, scaling: { ...scaling, scaler: 'scaler.enabled' } }
  const poolless = { ...scaler, scaling: { ...scaler.scaling, pools: {} } }
  const unreadable = { ...poolless, policy: { ok: false as const, reason: 'policy.yaml is not a map' } }
  const applying = { ...unreadable, applying: true }
  const uninstalling = { ...applying, uninstalling: true }

  test.each([
    ['uninstalling', 'UNINSTALLING', uninstalling],
    ['apply in progress', 'APPLY_IN_PROGRESS', applying],
    ['policy unreadable: policy.yaml is not a map', 'POLICY_UNREADABLE', unreadable],
    ['no pool', 'NO_POOL', poolless],
    ['scaler enabled', 'SCALER_ENABLED', scaler],
    ['no metrics', 'NO_METRICS', blind],
    ['cooldown', 'COOLDOWN', cooling],
    ['last apply failed', 'LAST_APPLY_FAILED', failed],
  ])('%s', (holdReason, holdCode, given) => {
    const decision = decide(input(given))
    expect(decision).toMatchObject({ action: 'HOLD', holdReason, holdCode, replicas: {} })
    expect(decision.pools.every(({ action }) => action === 'HOLD')).toBe(true)
  })

  test.each([
    ['values that cannot be read', null],
    ['pools that share their pods', { ...scaling, colocated: true }],
    ['replicas fixed above the form', { ...scaling, fixed: ['decode' as const] }],
    ['another pool only', { ...scaling, pools: { prefill: 1 } }],
  ])('no pool: %s', (_name, given) => {
    const decision = decide(input({ scaling: given }))
    expect(decision).toMatchObject({ holdReason: 'no pool', pools: [{ problem: expect.any(String) }] })
  })

  test('one pool without a metric holds both, and says which', () => {
    const metrics = { prefill: { value: 50 }, decode: { missing: 'there are 2 samples' } }
    expect(decide(input({ policy: both, metrics }))).toMatchObject({
      holdReason: 'no metrics',
      replicas: {},
      pools: [
        { name: 'prefill', metric: 50, problem: null },
        { name: 'decode', metric: null, problem: 'there are 2 samples' },
      ],
    })
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1])(
    'a metric of %d is none',
    (value) => expect(decide(input({ metrics: { decode: { value } } })).holdReason).toBe('no metrics'),
  )

  test('metrics that were not asked for yet hold like missing ones', () => {
    for (const metrics of [null, {}]) expect(decide(input({ metrics })).holdCode).toBe('NO_METRICS')
  })
})

describe('replicas', () => {
  test.each([
    // The target is 10.
    [10, ['NONE', 4, undefined]],
    [11, ['NONE', 4, undefined]],
    [9, ['NONE', 4, undefined]],
    [11.01, ['SCALE_UP', 5, 5]],
    [8.99, ['NONE', 4, undefined]],
    [7.5, ['SCALE_DOWN', 3, 3]],
    [12.5, ['SCALE_UP', 5, 5]],
    [15.1, ['SCALE_UP', 7, 7]],
    [1000, ['SCALE_UP', 8, 8]],
    [0, ['SCALE_DOWN', 2, 2]],
  ])('of 4 replicas a metric of %d makes %j', (metric, expected) => {
    expect(desired(metric)).toEqual(expected)
  })

  test.each([
    ['within max', 30, 4, { pools: [{ ...decode, max: 6 }] }, ['SCALE_UP', 6, 6]],
    ['within min', 0, 4, { pools: [{ ...decode, min: 3 }] }, ['SCALE_DOWN', 3, 3]],
    ['up by maxStep', 100, 4, { maxStep: 1 }, ['SCALE_UP', 5, 5]],
    ['down by maxStep', 0, 4, { maxStep: 1 }, ['SCALE_DOWN', 3, 3]],
    ['further than double, if maxStep allows', 25, 4, { maxStep: 9 }, ['SCALE_UP', 10, 10]],
    ['half of 3 leaves 2', 0, 3, {}, ['SCALE_DOWN', 2, 2]],
    ['half of 1 leaves 1', 0, 1, { pools: [{ ...decode, min: 0 }] }, ['NONE', 1, undefined]],
    ['to 0 by maxStep', 0, 1, { pools: [{ ...decode, min: 0 }], maxStep: 1 }, ['SCALE_DOWN', 0, 0]],
    ['0 comes up to min, one at first', 0, 0, { pools: [{ ...decode, min: 2 }] }, ['SCALE_UP', 1, 1]],
    ['0 stays where min is 0', 500, 0, { pools: [{ ...decode, min: 0 }] }, ['NONE', 0, undefined]],
    ['below min at the target', 10, 1, { pools: [{ ...decode, min: 2 }] }, ['SCALE_UP', 2, 2]],
    ['above max at the target', 10, 4, { pools: [{ ...decode, max: 3 }] }, ['SCALE_DOWN', 3, 3]],
    ['a fraction of a target', 0.25, 4, { pools: [{ ...decode, target: 0.2 }] }, ['SCALE_UP', 5, 5]],
    ['0.3 / 0.1 is 3', 0.3, 1, { pools: [{ ...decode, target: 0.1 }], maxStep: 9 }, ['SCALE_UP', 3, 3]],
  ] as const)('%s', (_name, metric, replicas, more, expected) => {
    expect(desired(metric, replicas, more as unknown as Partial<Policy>)).toEqual(expected)
  })

  test('prefill and decode are decided apart and changed together', () => {
    const decision = decide(
      input({ policy: both, metrics: { prefill: { value: 20 }, decode: { value: 5 } } }),
    )
    expect(decision).toMatchObject({ action: 'SCALE_UP', replicas: { prefill: 4, decode: 2 } })
    expect(decision.pools.map(({ action }) => action)).toEqual(['SCALE_UP', 'SCALE_DOWN'])
  })

  test('a pool that needs nothing is left out', () => {
    const metrics = { prefill: { value: 10 }, decode: { value: 5 } }
    const { action, replicas, holdReason } = decide(input({ policy: both, metrics }))
    expect({ action, replicas, holdReason }).toEqual({
      action: 'SCALE_DOWN',
      replicas: { decode: 2 },
      holdReason: null,
    })
  })
})

describe('cooldown', () => {
  const heldAfter = (seconds: number, value: number) =>
    decide(input({ lastScaledAt: NOW - seconds * SECOND, metrics: { decode: { value } } })).holdReason

  test('runs for its own time in each direction', () => {
    expect([heldAfter(59, 20), heldAfter(60, 20), heldAfter(299, 1), heldAfter(300, 1)]).toEqual([
      'cooldown',
      null,
      'cooldown',
      null,
    ])
  })

  test('holds nothing where nothing is to be changed', () => expect(heldAfter(1, 10)).toBeNull())

  test('a time just ahead of ours runs, one far ahead does not', () => {
    expect([heldAfter(-5, 20), heldAfter(-3600, 20)]).toEqual(['cooldown', null])
  })

  test('one pool may go up while the other still waits to go down', () => {
    const decision = decide(
      input({
        policy: both,
        metrics: { prefill: { value: 20 }, decode: { value: 5 } },
        lastScaledAt: NOW - 100 * SECOND,
      }),
    )
    expect(decision).toMatchObject({
      action: 'SCALE_UP',
      holdReason: null,
      pools: [
        { action: 'SCALE_UP', desired: 4 },
        { action: 'HOLD', desired: 2 },
      ],
    })
    expect(decision.replicas).toEqual({ prefill: 4 })
  })
})
