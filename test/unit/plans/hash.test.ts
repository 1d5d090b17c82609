import { expect, test } from 'vitest'
import { planHash } from '../../../services/plans/hash.ts'

const PLAN =
  'apiVersion: plan.swiss/v1\nrelease: {name: chat, namespace: team-a}\nchart: {name: vllm, version: 1.10}\n'
const hash = (plan: string, form = 'a: 1\nb: {c: [1, 2], d: null}\n', more: Record<string, string> = {}) =>
  planHash({ 'plan.yaml': plan, 'form.yaml': form, ...more })

test('it is the same whatever the order of keys, the style, the status, foreign keys and the hash that is written', () => {
  const first = hash(PLAN)
  expect(first).toMatch(/^[0-9a-f]{64}$/)
  const turned =
    '# mine\nchart:\n  version: "1.10"\n  name: vllm\n  repo:\nrelease: {namespace: team-a, name: chat}\nsource: {}\nhash: abc\napiVersion: plan.swiss/v1\n'
  expect(hash(turned, 'b:\n  d: ~\n  c:\n  - 1\n  - 2 # two\na: 1\n')).toBe(first)
  expect(
    hash(PLAN, undefined, { 'status.yaml': 'phase: applied\n', 'helmfile.yaml': 'x', 'edit.yaml': '{}' }),
  ).toBe(first)
})

test.each([
  ['a value', PLAN, 'a: 2\nb: {c: [1, 2], d: null}\n'],
  ['the type of a value', PLAN, 'a: "1"\nb: {c: [1, 2], d: null}\n'],
  ['the order of a list', PLAN, 'a: 1\nb: {c: [2, 1], d: null}\n'],
  ['a null', PLAN, 'a: 1\nb: {c: [1, 2]}\n'],
  ['a version that is another text', PLAN.replace('1.10', '1.1'), undefined],
  ['the release', PLAN.replace('chat', 'talk'), undefined],
  ['a key that nobody knows', `${PLAN}owner: blue\n`, undefined],
])('another %s is another hash', (_what, plan, form) => {
  expect(hash(plan, form)).not.toBe(hash(PLAN))
})

test('the layer that a value lies in counts, and so does every digit', () => {
  expect(planHash({ 'form.yaml': 'a: 1\n' })).not.toBe(planHash({ 'edit.yaml': 'a: 1\n' }))
  expect(planHash({ 'form.yaml': 'a: 9007199254740993\n' })).not.toBe(
    planHash({ 'form.yaml': 'a: 9007199254740992\n' }),
  )
  expect(planHash({ 'form.yaml': 'a: .nan\n' })).not.toBe(planHash({ 'form.yaml': 'a: null\n' }))
})

test('a layer that cannot be read stands for itself', () => {
  expect(planHash({ 'form.yaml': 'a: [' })).not.toBe(planHash({ 'form.yaml': 'a: {' }))
})
