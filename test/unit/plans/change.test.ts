import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changePlan, withForm } from '../../../services/plans/change.ts'
import { readPlan } from '../../../services/plans/document.ts'
import { planHash } from '../../../services/plans/hash.ts'
import { readYamlMap, writeYaml } from '../../../services/plans/yaml.ts'
import { editYaml } from '../../../services/plans/yamlEdit.ts'

const data = {
  'plan.yaml': '# by hand\nchart: {name: vllm, version: 1.10} # pinned\nowner: 0012\nhash: old\n',
  'catalog.yaml': '# from the catalog\nreplicaCount: 1\n',
  'form.yaml': 'pd:\n  decode: {replicas: 1} # small\n',
  'helmfile.yaml': 'releases: []\n',
}

describe('a form', () => {
  test('is merged onto the stored one, and nothing else is touched but the hash', () => {
    const next = withForm(data, { pd: { decode: { replicas: 4 } }, probe: null })
    expect(readYamlMap(next['form.yaml'] ?? '')).toEqual({
      ok: true,
      value: { pd: { decode: { replicas: 4 } }, probe: null },
    })
    expect(next['catalog.yaml']).toBe(data['catalog.yaml'])
    expect(next['helmfile.yaml']).toBe(data['helmfile.yaml'])
    const hash = planHash(next)
    expect(next['plan.yaml']).toBe(
      `# by hand\nchart: { name: vllm, version: 1.10 } # pinned\nowner: 0012\nhash: ${hash}\n`,
    )
    expect(readPlan(next)).toMatchObject({ hash, chart: { version: '1.10' } })
  })

  test('that says nothing new leaves the text as it is', () => {
    expect(withForm(data, { pd: { decode: {} } })['form.yaml']).toBe(data['form.yaml'])
    expect(withForm(data, {})['form.yaml']).toBe(data['form.yaml'])
  })

  test('makes the layer where there is none', () => {
    const next = withForm({ 'plan.yaml': 'chart: {name: vllm}\n' }, { a: 1n << 60n })
    expect(next['form.yaml']).toBe('a: 1152921504606846976\n')
  })
})

test('a layer is replaced, and an empty one goes', () => {
  expect(changePlan(data, { edits: { a: 1 } })['edit.yaml']).toBe('a: 1\n')
  const edited = { ...data, 'edit.yaml': '# mine\na: 1\n' }
  expect(changePlan(edited, { edits: {} })).not.toHaveProperty(['edit.yaml'])
  expect(changePlan(edited, { edits: null })['edit.yaml']).toBe('# mine\na: 1\n')
})

test('another name and another chart version are all that changes', () => {
  const next = changePlan(data, { release: { namespace: 'team-b', name: 'talk' }, chartVersion: '1.20' })
  expect(readPlan(next)).toMatchObject({
    release: { namespace: 'team-b', name: 'talk' },
    chart: { name: 'vllm', version: '1.20', repo: null },
  })
  expect(next['plan.yaml']).toContain('owner: 0012\n')
})

describe('editing a text', () => {
  test.each([
    ['a: &x {b: 1}\nc: *x\n', ['c', 'b'], { a: { b: '1' }, c: { b: '2' } }],
    ['a: 1\n', ['a', 'b'], { a: { b: '2' } }],
    ['a: [', ['a'], { a: '2' }],
    ['', ['a'], { a: '2' }],
    ['{a: 1, b: [1.10, yes]}', ['a'], { a: '2', b: ['1.10', 'yes'] }],
  ])('%s', (text, path, value) => {
    expect(readYamlMap(editYaml(text, [[path, '2']]), { asText: true })).toEqual({ ok: true, value })
  })

  test('leaves everything else as it says, whatever it says', () => {
    const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null))
    const map = fc.dictionary(
      fc.string({ minLength: 1 }),
      fc.oneof(scalar, fc.array(scalar), fc.dictionary(fc.string(), scalar)),
    )
    fc.assert(
      fc.property(map, fc.string(), (given, text) => {
        const before = writeYaml(given)
        const read = readYamlMap(editYaml(before, [[['hash'], text]]), { asText: true })
        const wanted = readYamlMap(writeYaml({ ...given, hash: text }), { asText: true })
        expect(read).toEqual(wanted)
      }),
    )
  })
})
