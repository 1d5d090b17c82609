import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countPod, matchingLabels, type NodeState, type PodFacts } from '../../../services/pods/counting.ts'

const at = (time: string) => Date.parse(`2031-01-01T${time}Z`)
const NODES: NodeState[] = ['READY', 'NOT_READY', 'MISSING', 'UNREADABLE']

const pod = (facts: Partial<PodFacts>): PodFacts => ({
  namespace: 'team-a',
  name: 'chat-0',
  uid: 'uid-1',
  phase: 'Running',
  ready: true,
  restarts: 0,
  node: 'n1',
  gpus: 0,
  message: null,
  createdAt: null,
  deletionTimestamp: null,
  deletionGracePeriodSeconds: null,
  terminationGracePeriodSeconds: null,
  mirror: false,
  finalizers: [],
  instance: 'chat',
  app: null,
  claims: [],
  ...facts,
})
/** Told to go at 12:00:00 with a minute of grace. */
const going = (facts: Partial<PodFacts> = {}) =>
  pod({ deletionTimestamp: '2031-01-01T12:00:00Z', deletionGracePeriodSeconds: 60, ...facts })

describe('a pod that is not told to go', () => {
  test.each(['Pending', 'Running', 'Unknown', null])('counts in phase %s, whatever its node', (phase) => {
    for (const node of NODES) {
      expect(countPod(pod({ phase }), node, at('12:00:00'))).toEqual({
        counts: true,
        reason: 'RUNNING',
        ignoredAt: null,
      })
    }
  })

  test.each(['Succeeded', 'Failed'])('does not count once it has finished (%s)', (phase) => {
    for (const one of [pod({ phase }), going({ phase })]) {
      expect(countPod(one, 'MISSING', at('23:00:00'))).toEqual({
        counts: false,
        reason: 'FINISHED',
        ignoredAt: null,
      })
    }
  })
})

test('the mirror of a static pod never counts', () => {
  for (const one of [
    pod({ mirror: true }),
    going({ mirror: true }),
    pod({ mirror: true, phase: 'Failed' }),
  ]) {
    expect(countPod(one, 'READY', at('12:00:00'))).toEqual({
      counts: false,
      reason: 'MIRROR',
      ignoredAt: null,
    })
  }
})

describe('a terminating pod', () => {
  const LAST = at('12:01:00')
  const DEADLINE = at('12:06:00')
  test.each<[NodeState, number, boolean, string, number]>([
    ['READY', LAST, true, 'WITHIN_GRACE', DEADLINE],
    ['READY', LAST + 1, true, 'TERMINATING', DEADLINE],
    ['READY', DEADLINE, true, 'TERMINATING', DEADLINE],
    ['READY', DEADLINE + 1, false, 'PAST_DEADLINE', DEADLINE],
    ['UNREADABLE', LAST, true, 'WITHIN_GRACE', DEADLINE],
    ['UNREADABLE', LAST + 1, true, 'TERMINATING', DEADLINE],
    ['UNREADABLE', DEADLINE, true, 'TERMINATING', DEADLINE],
    ['UNREADABLE', DEADLINE + 1, false, 'PAST_DEADLINE', DEADLINE],
    ['NOT_READY', LAST, true, 'WITHIN_GRACE', LAST],
    ['NOT_READY', LAST + 1, false, 'NODE_LOST', LAST],
    ['NOT_READY', DEADLINE + 1, false, 'NODE_LOST', LAST],
    ['MISSING', LAST, true, 'WITHIN_GRACE', LAST],
    ['MISSING', LAST + 1, false, 'NODE_LOST', LAST],
    ['MISSING', DEADLINE + 1, false, 'NODE_LOST', LAST],
  ])('on a node that is %s at %i', (node, now, counts, reason, ignoredAt) => {
    expect(countPod(going(), node, now)).toEqual({ counts, reason, ignoredAt })
  })

  test('without a node is not on a missing node', () => {
    expect(countPod(going({ node: null }), 'MISSING', LAST + 1)).toMatchObject({
      counts: true,
      reason: 'TERMINATING',
    })
    expect(countPod(going({ node: null }), 'MISSING', DEADLINE + 1)).toMatchObject({
      counts: false,
      reason: 'PAST_DEADLINE',
    })
  })

  test.each<[string, Partial<PodFacts>, string]>([
    ['its deletion', { deletionGracePeriodSeconds: 600, terminationGracePeriodSeconds: 30 }, '12:10:00'],
    [
      'its deletion, 0 being a value',
      { deletionGracePeriodSeconds: 0, terminationGracePeriodSeconds: 600 },
      '12:00:00',
    ],
    ['else its spec', { deletionGracePeriodSeconds: null, terminationGracePeriodSeconds: 20 }, '12:00:20'],
    [
      'else its spec, 0 being a value',
      { deletionGracePeriodSeconds: null, terminationGracePeriodSeconds: 0 },
      '12:00:00',
    ],
    ['else thirty seconds', { deletionGracePeriodSeconds: null }, '12:00:30'],
  ])('has the grace of %s', (_from, facts, last) => {
    expect(countPod(going(facts), 'MISSING', at(last))).toMatchObject({ counts: true, ignoredAt: at(last) })
    expect(countPod(going(facts), 'MISSING', at(last) + 1)).toMatchObject({
      counts: false,
      reason: 'NODE_LOST',
    })
  })

  test('counts again when its node comes back in time', () => {
    expect(countPod(going(), 'MISSING', at('12:03:00')).counts).toBe(false)
    expect(countPod(going(), 'READY', at('12:03:00')).counts).toBe(true)
  })

  test('whose time cannot be read goes on counting', () => {
    expect(countPod(going({ deletionTimestamp: 'soon' }), 'MISSING', at('23:00:00'))).toEqual({
      counts: true,
      reason: 'TERMINATING',
      ignoredAt: null,
    })
  })
})

test('ignoredAt is the last moment at which it counts, on every node', () => {
  const grace = fc.option(fc.integer({ min: 0, max: 3600 }), { nil: null })
  fc.assert(
    fc.property(
      grace,
      grace,
      fc.constantFrom(...NODES),
      fc.integer({ min: -1e6, max: 1e7 }),
      (own, spec, node, offset) => {
        const one = going({ deletionGracePeriodSeconds: own, terminationGracePeriodSeconds: spec })
        const { counts, ignoredAt } = countPod(one, node, at('12:00:00') + offset)
        expect(ignoredAt).not.toBeNull()
        expect(counts).toBe(at('12:00:00') + offset <= (ignoredAt ?? 0))
        expect(countPod(one, node, ignoredAt ?? 0).counts).toBe(true)
        expect(countPod(one, node, (ignoredAt ?? 0) + 1).counts).toBe(false)
      },
    ),
  )
})

describe('the labels of a release', () => {
  const long = 'chat-for-the-documents-of-the-northern-branch-office1'
  test.each([
    ['chat', 'vllm', { instance: 'chat', app: 'chat-vllm' }],
    ['chat', null, { instance: 'chat', app: null }],
    [long, 'longname-engine-pack', { instance: long, app: `${long}-longname` }],
    ['a'.repeat(61), 'b', { instance: 'a'.repeat(61), app: `${'a'.repeat(61)}-b` }],
    ['a'.repeat(62), 'b', { instance: 'a'.repeat(62), app: 'a'.repeat(62) }],
    ['a'.repeat(253), 'vllm', { instance: null, app: 'a'.repeat(63) }],
  ])('%s of chart %s', (release, chart, labels) => {
    expect(matchingLabels(release, chart)).toEqual(labels)
  })
})
