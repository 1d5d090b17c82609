import { describe, expect, test } from 'vitest'
import { autoscaleObject, autoscaleOf } from '../../../services/autoscale/autoscale.ts'
import { decide, held } from '../../../services/autoscale/decide.ts'
import { readLastDecision, saysTheSame, writeDecision } from '../../../services/autoscale/lastDecision.ts'
import { changePolicy, type PoolPolicy, readPolicy } from '../../../services/autoscale/policy.ts'
import { scalingOfLayers, scalingOfPlan } from '../../../services/autoscale/scaling.ts'
import type { PlanMap } from '../../../services/plans/scalars.ts'

const POOL = '{name: decode, min: 1, max: 4, query: up, target: 1}'
const read = (text: string) => readPolicy({ 'policy.yaml': text.replaceAll('POOL', POOL) })
const pool: PoolPolicy = { name: 'decode', min: 2, max: 8, query: 'new', target: 2.5 }
const unset = { cooldownUpSeconds: null, cooldownDownSeconds: null, maxStep: null }
const change = { enabled: true, pools: [pool], ...unset }

describe('reading policy.yaml', () => {
  test('knows defaults', () => {
    expect(read('{enabled: true, pools: [POOL]}')).toEqual({
      ok: true,
      policy: {
        enabled: true,
        pools: [{ name: 'decode', min: 1, max: 4, query: 'up', target: 1 }],
        cooldownUpSeconds: 60,
        cooldownDownSeconds: 300,
        maxStep: null,
      },
    })
  })

  test.each([
    ['90s', 90],
    ['5m', 300],
    ['1h30m', 5400],
    ['1m30s', 90],
    ['45', 45],
    ['0s', 0],
    ['1.5s', 1.5],
    ['"5"', null],
    ['soon', null],
    ['-5s', null],
    ['-5', null],
    ['""', null],
    ['[60]', null],
    ['5d', null],
  ])('takes %s for %s seconds', (up, seconds) => {
    const reading = read(`{enabled: true, pools: [POOL], cooldown: {up: ${up}}}`)
    expect(reading.ok ? reading.policy.cooldownUpSeconds : null).toBe(seconds)
  })

  test('takes what does not say that it is on for off', () => {
    expect(read('{pools: [POOL]}')).toMatchObject({ ok: true, policy: { enabled: false } })
  })

  const one = (rest: string) => `{enabled: true, pools: [{${rest}}]}`
  test.each([
    ['enabled: [', 'policy.yaml is not valid YAML'],
    ['- list', 'policy.yaml is not a map'],
    ['enabled: true', 'pools names no pool'],
    ['{enabled: true, pools: []}', 'pools names no pool'],
    ['{enabled: maybe, pools: [POOL]}', 'enabled is neither'],
    ['{enabled: true, pools: [POOL, POOL]}', 'pools[1] is the second one'],
    ['{enabled: true, pools: [decode]}', 'pools[0] is not a map'],
    [one('name: router, min: 1, max: 2, query: q, target: 1'), 'pools[0] is for neither'],
    [one('name: decode, min: 3, max: 2, query: q, target: 1'), 'min ≤ max'],
    [one('name: decode, min: 1.5, max: 2, query: q, target: 1'), 'whole numbers'],
    [one('name: decode, min: 1, max: 2, query: q, target: 0'), 'target above 0'],
    [one('name: decode, min: 1, max: 2, query: q, target: .inf'), 'target above 0'],
    [one('name: decode, min: 1, max: 2, query: " ", target: 1'), 'needs a query'],
    ['{enabled: true, pools: [POOL], maxStep: 0}', 'maxStep is not'],
    ['{enabled: true, pools: [POOL], cooldown: 5m}', 'cooldown is not a map'],
  ])('says of %s where it is wrong', (text, reason) => {
    expect(read(text)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) })
  })

  test('finds none without the key', () => {
    expect(readPolicy({})).toEqual({ ok: false, reason: 'there is no policy.yaml' })
  })
})

describe('changing policy.yaml', () => {
  const text = `
enabled: false
owner: ml
pools: [{name: decode, min: 1, max: 4, query: up, target: 1, window: 2m}]
cooldown: {up: 5m, jitter: 3s}
maxStep: 2
`

  test('writes the cooldowns of a new one out', () => {
    const pools = 'pools:\n  - name: decode\n    min: 2\n    max: 8\n    query: new\n    target: 2.5\n'
    expect(changePolicy({}, change)).toBe(`enabled: true\n${pools}cooldown:\n  up: 60s\n  down: 300s\n`)
  })

  test('keeps foreign keys, and what is null', () => {
    const next = changePolicy({ 'policy.yaml': text }, { ...change, cooldownDownSeconds: 20 })
    expect(read(next)).toEqual({
      ok: true,
      policy: { enabled: true, pools: [pool], cooldownUpSeconds: 300, cooldownDownSeconds: 20, maxStep: 2 },
    })
    for (const kept of ['owner: ml', 'window: 2m', 'jitter: 3s']) expect(next).toContain(kept)
    const kept = changePolicy({ 'policy.yaml': text }, { ...change, pools: null })
    expect(read(kept)).toMatchObject({ policy: { enabled: true, pools: [{ query: 'up', max: 4 }] } })
  })

  test('replaces a text that cannot be read', () => {
    expect(read(changePolicy({ 'policy.yaml': '[' }, change))).toMatchObject({ ok: true })
  })
})

describe('the last decision', () => {
  const input = {
    uninstalling: false,
    applying: false,
    policy: read('{enabled: true, pools: [POOL]}'),
    scaling: { pools: { decode: 2 }, fixed: [], colocated: false, scaler: null },
    metrics: { decode: { value: 2 } },
    lastScaledAt: null,
    lastApplyFailed: false,
    now: 0,
  }

  test('is read as it was written, and foreign keys stay', () => {
    const decision = decide(input)
    const text = writeDecision({ 'status.yaml': 'by: hand\n' }, decision, null, 0)
    expect(text).toContain('by: hand')
    const last = readLastDecision({ 'status.yaml': text })
    expect(last).toMatchObject({ at: '1970-01-01T00:00:00.000Z', action: 'SCALE_UP', lastScaledAt: null })
    expect(last.pools).toEqual(decision.pools)
    expect(saysTheSame(last, decision)).toBe(true)
    expect(saysTheSame(last, decide({ ...input, metrics: { decode: { value: 2.01 } } }))).toBe(false)
  })

  test.each([held('NO_POOL', []), held('POLICY_UNREADABLE', [], 'why'), held(null, [], 'refused')])(
    'to hold keeps its code, if it has one: $holdReason',
    (decision) => {
      const last = readLastDecision({ 'status.yaml': writeDecision({}, decision, null, 0) })
      expect(last.holdReason).toBe(decision.holdReason)
      expect(last.holdCode).toBe(decision.holdCode)
    },
  )

  test('of an older tool is understood, and rubbish is nothing', () => {
    const pools = '[{name: decode, replicas: 1, desired: 2, metric: 3}, {name: router}, 7]'
    const older = `{at: "2030-01-01T00:00:00Z", action: scaleUp, pools: ${pools}, lastScaledAt: soon}`
    expect(readLastDecision({ 'status.yaml': older })).toMatchObject({
      action: 'SCALE_UP',
      lastScaledAt: null,
      pools: [{ name: 'decode', action: 'SCALE_UP', metric: 3, problem: null }],
    })
    for (const text of ['[', '- 1', '']) {
      expect(readLastDecision({ 'status.yaml': text })).toEqual({
        at: null,
        action: null,
        holdReason: null,
        holdCode: null,
        pools: [],
        lastScaledAt: null,
      })
    }
  })

  test('gives way to a policy that cannot be read', () => {
    const object = autoscaleObject({
      metadata: { name: 'swiss-autoscale-chat', namespace: 'team-a', uid: 'u', resourceVersion: '1' },
      data: { 'policy.yaml': '[' },
    })
    expect(autoscaleOf(object)).toMatchObject({
      enabled: false,
      action: 'HOLD',
      holdCode: 'POLICY_UNREADABLE',
      holdReason: expect.stringMatching(/^policy unreadable: policy.yaml is not valid YAML/),
    })
  })
})

describe('what values say about scaling', () => {
  const facts = (...layers: [string, PlanMap][]) =>
    scalingOfLayers(layers.map(([name, values]) => ({ name, values })))
  const decode = (replicas: PlanMap[string]): PlanMap => ({ pd: { decode: { replicas } } })

  test('pools with replicas, of all layers merged', () => {
    expect(facts(['catalog', decode(1)], ['form', decode(3)])).toEqual({
      pools: { decode: 3 },
      fixed: [],
      colocated: false,
      scaler: null,
    })
    expect(facts(['form', decode(0)]).pools).toEqual({ decode: 0 })
    expect(facts(['form', { replicaCount: 2 }]).pools).toEqual({})
    for (const replicas of ['2', 1.5, -1, null, 2n ** 70n])
      expect(facts(['form', decode(replicas)]).pools).toEqual({})
    expect(facts(['form', { pd: { enabled: false, decode: { replicas: 1 } } }]).pools).toEqual({})
  })

  test('the edit layer fixes what it sets', () => {
    const pd = { prefill: { replicas: 1 }, decode: { replicas: 1 } }
    expect(facts(['form', { pd }], ['edit', decode(2)]).fixed).toEqual(['decode'])
  })

  test.each([
    [{ colocate: true }, true],
    [{ colocate: { enabled: true, ratio: 2 } }, true],
    [{ colocate: { ratio: 2 } }, true],
    [{ colocate: { enabled: false, ratio: 2 } }, false],
    [{ colocate: false }, false],
    [{}, false],
  ])('%j: colocated %s', (more, colocated) => {
    expect(facts(['form', { pd: { decode: { replicas: 1 }, ...more } }]).colocated).toBe(colocated)
  })

  test.each([
    [{ scaler: { enabled: true } }, 'scaler.enabled'],
    [{ autoscaling: { enabled: true } }, 'autoscaling.enabled'],
    [{ keda: { enabled: true } }, 'keda.enabled'],
    [{ hpa: { enabled: true } }, 'hpa.enabled'],
    [{ pd: { decode: { autoscaling: { enabled: true } } } }, 'pd.decode.autoscaling.enabled'],
    [{ scaler: { enabled: false }, autoscaling: {} }, null],
  ])('%j: %s', (values, key) => expect(facts(['site', values as PlanMap]).scaler).toBe(key))

  test('of a plan; one whose layers cannot be read says nothing', () => {
    expect(scalingOfPlan({ 'form.yaml': '[' })).toBeNull()
    expect(scalingOfPlan({ 'form.yaml': 'pd: {prefill: {replicas: 2}}' })?.pools).toEqual({ prefill: 2 })
  })
})
