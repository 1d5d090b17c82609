import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mergeLayers, mergeValues, readLayers, readPlan } from '../../../services/plans/document.ts'
import type { PlanMap, PlanValue } from '../../../services/plans/scalars.ts'

const PLAN = `apiVersion: plan.swiss/v1
release:
  name: chat
  namespace: team-a
source:
  catalog: https://catalog.example.test/index.json
  catalogName: main
  ref: v7
  model: gpt-oss-20b
  version: 1.10
  variant: fp8
  hf: example/gpt
  digest: sha256:00ff
chart:
  name: vllm
  version: 0.40
  repo: https://charts.example.test
engine: vllm
profile: lab
createNamespace: true
hash: 0123456789
`

describe('plan.yaml', () => {
  test('is read digit for digit', () => {
    expect(readPlan({ 'plan.yaml': PLAN })).toEqual({
      unreadable: null,
      release: { namespace: 'team-a', name: 'chat' },
      chart: { name: 'vllm', version: '0.40', repo: 'https://charts.example.test' },
      chartPath: null,
      source: {
        catalog: 'https://catalog.example.test/index.json',
        catalogName: 'main',
        ref: 'v7',
        model: 'gpt-oss-20b',
        version: '1.10',
        variant: 'fp8',
        hf: 'example/gpt',
        engine: 'vllm',
      },
      digest: 'sha256:00ff',
      engine: 'vllm',
      profile: 'lab',
      createNamespace: true,
      hash: '0123456789',
    })
  })

  test('what is absent or of another shape is null', () => {
    const plan = readPlan({
      'plan.yaml': 'hash: h1\nchart: vllm-0.4.0\nsource: [a]\nprofile: {a: b}\nengine:\n',
    })
    expect(plan).toMatchObject({
      unreadable: null,
      chart: null,
      source: null,
      profile: null,
      engine: null,
      hash: 'h1',
    })
  })

  test.each([
    [{}, 'has no plan.yaml'],
    [{ 'plan.yaml': '' }, 'plan.yaml is empty'],
    [{ 'plan.yaml': '{}' }, 'plan.yaml is empty'],
    [{ 'plan.yaml': '[1, 2]\n' }, 'plan.yaml is not a map'],
    [
      { 'plan.yaml': 'apiVersion: plan.swiss/v9\nhash: h' },
      'plan.yaml has another apiVersion than plan.swiss/v1',
    ],
  ])('%j cannot be read', (data, reason) => {
    expect(readPlan(data).unreadable).toBe(reason)
    expect(readPlan(data).chart).toBeNull()
  })

  test('four kinds of broken text, each with a reason that does not quote it', () => {
    for (const text of ['a:\n\ttoken: s3cr3t\n', 'a: s3cr3t: c', 'a: s3cr3t\n---\nb: 1\n', '- s3cr3t\n']) {
      const { unreadable } = readPlan({ 'plan.yaml': text })
      expect(unreadable).toMatch(/^plan\.yaml is not /)
      expect(unreadable).not.toContain('s3cr3t')
    }
  })
})

describe('layers', () => {
  test('come in their order, the empty ones left out, values with their types', () => {
    const reading = readLayers({
      'edit.yaml': 'a: yes\n',
      'form.yaml': '{}\n',
      'site.yaml': '# nothing\n',
      'catalog.yaml': 'big: 9007199254740993\nversion: "1.10"\nmode: 0755\n',
      'helmfile.yaml': 'x: 1\n',
      'plan.yaml': 'x: 1\n',
    })
    expect(reading).toEqual({
      ok: true,
      layers: [
        { name: 'catalog', values: { big: 9007199254740993n, version: '1.10', mode: 493 } },
        { name: 'edit', values: { a: true } },
      ],
    })
  })

  test('one that cannot be read is named and not quoted', () => {
    const reading = readLayers({ 'form.yaml': 'token: s3cr3t: x\n' })
    expect(reading).toEqual({
      ok: false,
      reason: expect.stringMatching(/^form\.yaml is not valid YAML \(line 1/),
    })
    expect(JSON.stringify(reading)).not.toContain('s3cr3t')
  })

  test('maps merge, everything else replaces, null stays', () => {
    const merged = mergeLayers([
      {
        name: 'catalog',
        values: { image: { repo: 'a', tag: '1' }, args: ['x', 'y'], replicas: 1, gone: { a: 1 }, back: null },
      },
      {
        name: 'form',
        values: { image: { tag: null }, args: ['z'], replicas: { min: 1 }, gone: null, back: { b: 2 } },
      },
    ])
    expect(merged).toEqual({
      image: { repo: 'a', tag: null },
      args: ['z'],
      replicas: { min: 1 },
      gone: null,
      back: { b: 2 },
    })
  })

  const leaf = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.string(),
    fc.array(fc.integer(), { maxLength: 3 }),
  )
  const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor')
  const map = fc.letrec<{ map: PlanMap }>((tie) => ({
    map: fc.dictionary(key, fc.oneof({ maxDepth: 3 }, leaf, tie('map')), {
      maxKeys: 4,
    }) as fc.Arbitrary<PlanMap>,
  })).map

  test('merging changes nothing it is given, ends with the upper layer and keeps what that does not name', () => {
    fc.assert(
      fc.property(map, map, (a, b) => {
        const before = structuredClone([a, b])
        const merged = mergeValues(a, b)
        expect([a, b]).toEqual(before)
        for (const key of Object.keys(a)) if (!Object.hasOwn(b, key)) expect(merged[key]).toEqual(a[key])
        expect(Object.keys(merged).sort()).toEqual(
          [...new Set([...Object.keys(a), ...Object.keys(b)])].sort(),
        )
        expect(contains(merged, b)).toBe(true)
        expect(mergeValues(a, a)).toEqual(a)
      }),
    )
  })
})

/** Every key of `part` is in `whole`, with its value or, for maps, with all of its keys. */
function contains(whole: PlanValue, part: PlanValue): boolean {
  if (part === null || typeof part !== 'object' || Array.isArray(part)) {
    return JSON.stringify(whole) === JSON.stringify(part)
  }
  return Object.entries(part).every(
    ([key, value]) =>
      Object.hasOwn(whole as PlanMap, key) && contains((whole as PlanMap)[key] as PlanValue, value),
  )
}
