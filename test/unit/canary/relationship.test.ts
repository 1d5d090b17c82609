import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CanaryParent,
  DEFAULT_CANARY_KEYS,
  relationship,
} from '../../../services/canary/relationship.ts'

const PREFIX = 'serving.modelsphere.dev'
const NAME = `${PREFIX}/canary`
const NAMESPACE = `${PREFIX}/canary-namespace`
const ROLE = `${PREFIX}/canary-role`
const ASSIGNMENT = `${PREFIX}/canary-assignment`
const owner = { apiVersion: `${PREFIX}/v1alpha1`, kind: 'LLMCanary', name: 'demo', uid: 'canary-1' }
const meta = (parts: Partial<Parameters<typeof relationship>[0]>) => ({
  namespace: 'team-a',
  uid: 'uid-1',
  ...parts,
})
const nobody: CanaryParent = {
  apiVersion: null,
  kind: null,
  namespace: null,
  name: null,
  uid: null,
  role: null,
}

describe('standalone', () => {
  test.each([
    ['nothing', {}],
    [
      'labels that do not own',
      { labels: { [NAMESPACE]: 'team-b', [ROLE]: 'candidate', [`${NAME}-weight`]: '10', app: 'demo' } },
    ],
    [
      'another owner',
      { ownerReferences: [{ apiVersion: 'example.dev/v1', kind: 'Project', name: 'demo', uid: 'p1' }] },
    ],
    ['no annotations', { annotations: {} }],
  ])('%s', (_what, parts) => {
    expect(relationship(meta(parts))).toEqual({
      state: 'STANDALONE',
      verified: false,
      serviceUid: 'uid-1',
      managedBy: null,
      assignedTo: null,
      problems: [],
    })
  })
})

describe('owned', () => {
  const parent = {
    apiVersion: owner.apiVersion,
    kind: 'LLMCanary',
    namespace: 'team-a',
    name: 'demo',
    uid: 'canary-1',
    role: null,
  }

  test.each([
    ['by the reference alone', {}, null],
    [
      'with labels that agree',
      { labels: { [NAME]: 'demo', [NAMESPACE]: 'team-a', [ROLE]: 'candidate' } },
      'candidate',
    ],
    ['with a label without a namespace', { labels: { [NAME]: 'demo' } }, null],
    [
      'with the same assignment',
      { annotations: { [ASSIGNMENT]: '{"namespace":"team-a","name":"demo","uid":"canary-1"}' } },
      null,
    ],
  ])('and verified %s', (_how, parts, role) => {
    expect(relationship(meta({ ownerReferences: [owner], ...parts }))).toEqual({
      state: 'OWNED',
      verified: true,
      serviceUid: 'uid-1',
      managedBy: { ...parent, role },
      assignedTo: null,
      problems: [],
    })
  })

  test('whatever the API group of the owner', () => {
    expect(relationship(meta({ ownerReferences: [{ ...owner, apiVersion: 'other.dev/v1' }] }))).toMatchObject(
      {
        state: 'OWNED',
        verified: true,
        managedBy: { apiVersion: 'other.dev/v1' },
      },
    )
  })

  test.each<[string, object, object, RegExp]>([
    [
      'by labels alone',
      { labels: { [NAME]: 'demo', [NAMESPACE]: 'team-b', [ROLE]: 'candidate' } },
      { namespace: 'team-b', name: 'demo', uid: null, role: 'candidate' },
      /no owner reference/,
    ],
    [
      'by a label of its own namespace',
      { labels: { [NAME]: 'demo' } },
      { namespace: 'team-a', name: 'demo', uid: null },
      /no owner reference/,
    ],
    [
      'by an empty label',
      { labels: { [NAME]: '' } },
      { namespace: 'team-a', name: null },
      /label .*canary is empty/,
    ],
    [
      'another name in the label',
      { ownerReferences: [owner], labels: { [NAME]: 'another' } },
      { name: 'demo', uid: 'canary-1' },
      /another canary/,
    ],
    [
      'another namespace in the label',
      { ownerReferences: [owner], labels: { [NAME]: 'demo', [NAMESPACE]: 'team-b' } },
      { namespace: 'team-a' },
      /another namespace/,
    ],
    [
      'an empty namespace label',
      { ownerReferences: [owner], labels: { [NAMESPACE]: '' } },
      { namespace: 'team-a' },
      /canary-namespace is empty/,
    ],
    [
      'an empty role label',
      { ownerReferences: [owner], labels: { [ROLE]: '' } },
      { role: null },
      /canary-role is empty/,
    ],
    [
      'a reference without a uid',
      { ownerReferences: [{ kind: 'LLMCanary', name: 'demo' }] },
      { name: 'demo', uid: null },
      /has no uid/,
    ],
    [
      'a reference without a name',
      { ownerReferences: [{ kind: 'LLMCanary', name: '', uid: 'c' }], labels: { [NAME]: 'demo' } },
      { name: 'demo', uid: 'c' },
      /has no name/,
    ],
    [
      'two owners',
      { ownerReferences: [owner, { ...owner, name: 'other', uid: 'canary-2' }] },
      { name: 'demo' },
      /several owner references/,
    ],
    [
      'another assignment',
      {
        ownerReferences: [owner],
        annotations: { [ASSIGNMENT]: '{"namespace":"team-a","name":"other","uid":"canary-2"}' },
      },
      { name: 'demo', uid: 'canary-1' },
      /another canary than the ownership/,
    ],
    [
      'a broken assignment',
      { ownerReferences: [owner], annotations: { [ASSIGNMENT]: '{' } },
      { name: 'demo' },
      /not JSON/,
    ],
  ])('and unverified: %s', (_why, parts, managedBy, problem) => {
    const relation = relationship(meta(parts))
    expect(relation).toMatchObject({
      state: 'OWNED',
      verified: false,
      serviceUid: 'uid-1',
      managedBy,
      assignedTo: null,
    })
    expect(relation.problems.join('; ')).toMatch(problem)
  })
})

describe('referenced', () => {
  const assigned = (text: string) => relationship(meta({ annotations: { [ASSIGNMENT]: text } }))

  test.each([
    ['{"namespace":"team-b","name":"demo","uid":"canary-1","role":"baseline"}', 'baseline'],
    ['{"namespace":"team-b","name":"demo","uid":"canary-1"}', null],
    ['{"namespace":"team-b","name":"demo","uid":"canary-1","role":null,"weight":"ten"}', null],
  ])('and verified: %s', (text, role) => {
    expect(assigned(text)).toEqual({
      state: 'REFERENCED',
      verified: true,
      serviceUid: 'uid-1',
      managedBy: null,
      assignedTo: { ...nobody, namespace: 'team-b', name: 'demo', uid: 'canary-1', role },
      problems: [],
    })
  })

  test.each<[string, Partial<CanaryParent>, RegExp]>([
    ['', {}, /is empty/],
    [' ', {}, /is empty/],
    ['{"namespace":"team-a"', {}, /is not JSON/],
    ['null', {}, /is not a JSON object/],
    ['[]', {}, /is not a JSON object/],
    ['"demo"', {}, /is not a JSON object/],
    ['{}', {}, /has no namespace.*has no name.*has no uid/],
    [
      '{"namespace":"team-a","name":42,"uid":"canary-1"}',
      { namespace: 'team-a', uid: 'canary-1' },
      /name in the annotation .* is malformed/,
    ],
    ['{"namespace":"team-a","name":"demo"}', { namespace: 'team-a', name: 'demo' }, /has no uid/],
    ['{"namespace":"team-a","name":"","uid":"c"}', { namespace: 'team-a', uid: 'c' }, /name .* is malformed/],
    [
      '{"namespace":"a","name":"b","uid":"c","role":7}',
      { namespace: 'a', name: 'b', uid: 'c' },
      /role .* is malformed/,
    ],
  ])('and unverified: %s', (text, assignedTo, problem) => {
    const relation = assigned(text)
    expect(relation).toMatchObject({
      state: 'REFERENCED',
      verified: false,
      managedBy: null,
      assignedTo: { ...nobody, ...assignedTo },
    })
    expect(relation.problems.join('; ')).toMatch(problem)
  })
})

test('other keys can be configured, and then the usual ones mean nothing', () => {
  const keys = {
    ...DEFAULT_CANARY_KEYS,
    ownerKind: 'Rollout',
    canaryLabel: 'x.test/canary',
    assignmentAnnotation: 'x.test/assigned',
  }
  const usual = meta({
    ownerReferences: [owner],
    labels: { [NAME]: 'demo' },
    annotations: { [ASSIGNMENT]: '{}' },
  })
  expect(relationship(usual, keys).state).toBe('STANDALONE')
  expect(relationship(meta({ labels: { 'x.test/canary': 'demo' } }), keys)).toMatchObject({
    state: 'OWNED',
    managedBy: { name: 'demo' },
  })
  expect(relationship(meta({ ownerReferences: [{ ...owner, kind: 'Rollout' }] }), keys).verified).toBe(true)
  expect(relationship(meta({ annotations: { 'x.test/assigned': '' } }), keys).state).toBe('REFERENCED')
})

test('broken metadata is never standalone, and verified is the absence of problems', () => {
  const text = fc.option(fc.oneof(fc.string(), fc.constantFrom('', 'demo', 'team-a')), { nil: undefined })
  const reference = fc.record({
    kind: fc.constantFrom('LLMCanary', 'Project'),
    name: fc.constantFrom('', 'demo', 'x'),
    uid: fc.constantFrom('', 'u1', 'u2'),
  })
  fc.assert(
    fc.property(
      text,
      text,
      text,
      fc.option(fc.oneof(fc.string(), fc.json()), { nil: undefined }),
      fc.array(reference, { maxLength: 2 }),
      (name, namespace, role, assignment, ownerReferences) => {
        const set = (entries: [string, string | undefined][]) =>
          Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, string>
        const labels = set([
          [NAME, name],
          [NAMESPACE, namespace],
          [ROLE, role],
        ])
        const annotations = set([[ASSIGNMENT, assignment]])
        const relation = relationship(meta({ labels, annotations, ownerReferences }))
        const owned = name !== undefined || ownerReferences.some(({ kind }) => kind === 'LLMCanary')
        expect(relation.state).toBe(owned ? 'OWNED' : assignment !== undefined ? 'REFERENCED' : 'STANDALONE')
        if (relation.state !== 'STANDALONE') expect(relation.verified).toBe(relation.problems.length === 0)
      },
    ),
  )
})
