import { describe, expect, test } from 'vitest'
import { backoffMs } from '../../../services/cluster/backoff.ts'
import { Kinds } from '../../../services/cluster/kinds.ts'
import { microTime, parseMicroTime } from '../../../services/cluster/leaseTime.ts'
import { collectionPath, describeRef, objectPath } from '../../../services/cluster/paths.ts'
import { stripMetadata } from '../../../services/cluster/stripMetadata.ts'

describe('paths', () => {
  test('of collections and objects', () => {
    expect(collectionPath(Kinds.Pod, undefined)).toBe('/api/v1/pods')
    expect(collectionPath(Kinds.Pod, 'team-a')).toBe('/api/v1/namespaces/team-a/pods')
    expect(collectionPath(Kinds.Node, 'ignored')).toBe('/api/v1/nodes')
    expect(collectionPath(Kinds.LLMService, undefined)).toBe(
      '/apis/serving.modelsphere.dev/v1alpha1/llmservices',
    )
    expect(objectPath(Kinds.LLMService, { namespace: 'team-a', name: 'chat' }, 'status')).toBe(
      '/apis/serving.modelsphere.dev/v1alpha1/namespaces/team-a/llmservices/chat/status',
    )
    expect(objectPath(Kinds.Node, { name: 'n1' })).toBe('/api/v1/nodes/n1')
  })

  test.each(['', '.', '..', 'x/y', '../../secrets/s', 'a%2fb'])(
    '%j is no name: it would address something else',
    (name) => {
      expect(() => objectPath(Kinds.Pod, { namespace: 'team-a', name })).toThrow(/cannot be the name/)
      expect(() => objectPath(Kinds.Pod, { namespace: name, name: 'x' })).toThrow()
    },
  )

  test('what else is odd in a name is encoded', () => {
    expect(objectPath(Kinds.Secret, { namespace: 'team-a', name: 'a?b#c d' })).toBe(
      '/api/v1/namespaces/team-a/secrets/a%3Fb%23c%20d',
    )
    expect(describeRef(Kinds.Secret, { namespace: 'team-a', name: 's' })).toBe('Secret team-a/s')
    expect(describeRef(Kinds.Node, { name: 'n1' })).toBe('Node n1')
    expect(describeRef(Kinds.Pod, {})).toBe('Pod')
  })
})

describe('back-off', () => {
  test('is jittered over its whole range, doubles, and ends at a minute', () => {
    const upper = [1, 2, 3, 4, 5, 6, 7, 8, 100].map((attempt) =>
      Math.round(backoffMs(attempt, null, () => 1)),
    )
    expect(upper).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
    expect(backoffMs(5, null, () => 0)).toBe(0)
  })

  test('never less than Retry-After, up to a fifth more, and no proxy makes it wait for a day', () => {
    expect(backoffMs(1, 7, () => 0)).toBe(7_000)
    expect(backoffMs(1, 7, () => 1)).toBe(8_400)
    expect(backoffMs(9, 7, () => 1)).toBe(60_000)
    expect(backoffMs(1, 86_400, () => 0)).toBe(300_000)
  })
})

test('B079 times of a Lease have exactly six fractional digits, and others are read', () => {
  expect(microTime(Date.UTC(2031, 0, 1, 0, 0, 5))).toBe('2031-01-01T00:00:05.000000Z')
  expect(microTime(Date.UTC(2031, 0, 1, 0, 0, 5, 42))).toMatch(/05\.042000Z$/)
  const wanted = Date.UTC(2031, 0, 1, 0, 0, 5)
  for (const text of [
    '2031-01-01T00:00:05.000000Z',
    '2031-01-01T00:00:05Z',
    '2031-01-01T00:00:05.000000000Z',
  ]) {
    expect(parseMicroTime(text)).toBe(wanted)
  }
  for (const nothing of [null, undefined, '', 'yesterday', 5]) expect(parseMicroTime(nothing)).toBeNull()
})

test('managedFields and the last-applied annotation go, everything else stays', () => {
  const raw = {
    metadata: {
      name: 'x',
      uid: 'u',
      resourceVersion: '1',
      managedFields: [{ manager: 'kubectl' }],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"token":"s3cr3t"}', keep: 'me' },
    },
    data: { a: 'b' },
  }
  expect(stripMetadata(raw)).toEqual({
    metadata: { name: 'x', uid: 'u', resourceVersion: '1', annotations: { keep: 'me' } },
    data: { a: 'b' },
  })
})
