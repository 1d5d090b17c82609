import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changePlan } from '../../../services/plans/change.ts'
import { type Composition, composePlan, MAX_PLAN_BYTES } from '../../../services/plans/compose.ts'
import { differences } from '../../../services/plans/differences.ts'
import { mergeLayers, type PlanLayer, readLayers, readPlan } from '../../../services/plans/document.ts'
import { planHash } from '../../../services/plans/hash.ts'
import { isPlanMap, type PlanMap, type PlanValue } from '../../../services/plans/scalars.ts'
import { shadowedValues } from '../../../services/plans/shadowed.ts'
import { valuePath } from '../../../services/plans/valuePath.ts'

const release = { namespace: 'team-a', name: 'chat' }
const base = {
  'plan.yaml':
    '# by hand\nrelease: {name: chat, namespace: team-a}\nsource: {model: m}\nchart: {name: vllm, version: 1.10, repo: "oci://charts.invalid/llm"}\nengine: vllm\n',
  'catalog.yaml': '# from the catalog\nreplicaCount: 1\nprobe: {period: 5}\n',
  'form.yaml': 'pd: {decode: {replicas: 1}}\n',
  'edit.yaml': '# mine\nargs: [a]\n',
  'helmfile.yaml': 'releases: []\n',
  'status.yaml': 'phase: applied\n',
}
const input: Composition = {
  base,
  basePath: ['input', 'fromRelease'],
  release,
  form: null,
  edits: null,
  chartVersion: null,
  running: base,
}
function composed(part: Partial<Composition>) {
  const result = composePlan({ ...input, ...part })
  if ('issues' in result) throw new Error(JSON.stringify(result.issues))
  return result
}
const issues = (part: Partial<Composition>) => {
  const result = composePlan({ ...input, ...part })
  return 'issues' in result ? result.issues.map(({ path, message }) => `${path.join('.')} ${message}`) : []
}

describe('composing', () => {
  test('keeps everything byte for byte that is not asked for; the status is no part of a plan', () => {
    const { data, changes, warnings } = composed({})
    const { 'status.yaml': _, 'plan.yaml': plan, ...rest } = base
    expect(data).toEqual({ ...rest, 'plan.yaml': expect.stringMatching(/^# by hand\n/) })
    expect(readPlan(data)).toEqual({ ...readPlan({ 'plan.yaml': plan }), hash: planHash(base) })
    expect([changes, warnings]).toEqual([[], []])
  })

  test('merges the form with its nulls, and says what differs', () => {
    const { data, changes, shadowed } = composed({
      form: { probe: null, pd: { decode: { replicas: 3 } }, 'a.b': { c: 1 } },
    })
    const read = readLayers(data)
    expect(read.ok && mergeLayers(read.layers)).toEqual({
      replicaCount: 1,
      probe: null,
      pd: { decode: { replicas: 3 } },
      'a.b': { c: 1 },
      args: ['a'],
    })
    expect(changes).toEqual([
      { part: 'VALUES', path: 'a\\.b.c', from: null, to: 1 },
      { part: 'VALUES', path: 'pd.decode.replicas', from: 1, to: 3 },
      { part: 'VALUES', path: 'probe', from: { period: 5 }, to: null },
    ])
    expect(shadowed).toEqual([{ path: 'probe', by: 'form', under: ['catalog'] }])
    expect(data['catalog.yaml']).toBe(base['catalog.yaml'])
    expect(data['edit.yaml']).toBe(base['edit.yaml'])
  })

  test('edits replace, an empty map takes them away, nothing keeps them', () => {
    expect(composed({ edits: { x: 1 } }).data['edit.yaml']).toBe('x: 1\n')
    expect(composed({ edits: {} }).data).not.toHaveProperty(['edit.yaml'])
    expect(composed({ edits: null }).data['edit.yaml']).toBe(base['edit.yaml'])
  })

  test('a value of the form that the edit layer shadows is a warning', () => {
    const { warnings } = composed({ form: { args: ['b'], replicaCount: 2 } })
    expect(warnings).toEqual([expect.stringMatching(/no effect.*: args$/)])
  })

  test('another version of the chart is all that changes of it', () => {
    const { data, changes } = composed({ chartVersion: '1.20' })
    expect(readPlan(data).chart).toEqual({ name: 'vllm', version: '1.20', repo: 'oci://charts.invalid/llm' })
    expect(changes).toEqual([{ part: 'CHART', path: 'version', from: '1.10', to: '1.20' }])
  })

  test('for another name the plan says that name, and leaves behind what was made for this one', () => {
    const { data, changes } = composed({ release: { ...release, name: 'talk' }, running: null })
    expect(readPlan(data).release).toEqual({ namespace: 'team-a', name: 'talk' })
    expect(data).not.toHaveProperty(['helmfile.yaml'])
    expect(changes.map(({ part, path }) => `${part} ${path}`)).toEqual([
      'CHART name',
      'CHART repo',
      'CHART version',
      'SOURCE engine',
      'SOURCE model',
      'VALUES args',
      'VALUES pd.decode.replicas',
      'VALUES probe.period',
      'VALUES replicaCount',
    ])
  })

  test.each<[string, Partial<Composition>, string]>([
    ['a plan of rubbish', { base: { 'plan.yaml': '[' } }, 'input.fromRelease has a plan that cannot be read'],
    ['a layer of rubbish', { base: { ...base, 'site.yaml': 'a: [' } }, 'cannot be read: site.yaml'],
    ['no chart', { base: { 'plan.yaml': 'engine: vllm\n' } }, 'input.fromRelease has no chart'],
    ['no version', { base: { 'plan.yaml': 'chart: {name: vllm}\n' } }, 'input.fromRelease has no version'],
    [
      'a flag for a chart',
      {
        base: { 'plan.yaml': 'chart: {name: --post-renderer=x, version: 1}\n' },
        basePath: ['input', 'plan'],
      },
      'input.plan.chart.name must be one word',
    ],
    ['a flag for a version', { chartVersion: '--devel' }, 'input.chartVersion must be one word'],
    ['two words for a version', { chartVersion: '1 2' }, 'input.chartVersion must be one word'],
    ['too much', { form: { a: 'x'.repeat(MAX_PLAN_BYTES) } }, 'input makes a plan of'],
  ])('%s is an issue', (_what, part, message) => {
    expect(issues(part)).toEqual([expect.stringContaining(message)])
  })

  test('a chart by path needs no version', () => {
    const plan = { 'plan.yaml': 'chart: {path: /charts/vllm}\n' }
    expect(issues({ base: plan })).toEqual([])
    expect(composed({ base: plan, chartVersion: '2' }).warnings).toEqual([expect.stringContaining('path')])
  })
})

describe('what wins over what', () => {
  const layers = (...values: PlanMap[]): PlanLayer[] =>
    values.map((one, index) => ({
      name: (['catalog', 'site', 'form', 'edit'] as const)[index] ?? 'edit',
      values: one,
    }))

  test.each<[string, PlanLayer[], string[]]>([
    ['maps that merge', layers({ a: { b: 1 } }, { a: { c: 2 } }), []],
    ['a leaf over a leaf', layers({ a: { b: 1 } }, { a: { b: 1 } }), ['a.b: site over catalog']],
    ['the last of three', layers({ a: 1 }, { a: 2 }, { a: 3 }), ['a: form over catalog,site']],
    ['a scalar over a map', layers({ a: { b: 1 } }, { a: null }), ['a: site over catalog']],
    ['a map over a scalar', layers({ a: 1 }, { a: { b: 1 } }), ['a: site over catalog']],
    [
      'a map over a scalar, and one onto that',
      layers({ a: { b: 0 } }, { a: 1 }, { a: { b: 1 } }, { a: { b: 2, c: 3 } }),
      ['a: form over catalog,site', 'a.b: edit over form'],
    ],
    ['lists replace', layers({ a: [1, 2] }, { a: [3] }), ['a: site over catalog']],
    ['keys with dots', layers({ 'k8s.io/a': 1 }, { 'k8s.io/a': 2 }), ['k8s\\.io/a: site over catalog']],
    [
      'a key that is everybody’s',
      layers(JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":2}')),
      ['__proto__: site over catalog'],
    ],
  ])('%s', (_what, given, wanted) => {
    expect(shadowedValues(given).map(({ path, by, under }) => `${path}: ${by} over ${under}`)).toEqual(wanted)
  })

  const { map } = fc.letrec<{ map: PlanMap; value: PlanValue }>((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, fc.constantFrom<PlanValue>(null, 1, 'x', [1]), tie('map')),
    map: fc.dictionary(fc.constantFrom('a', 'b', 'c.d'), tie('value'), { maxKeys: 3 }),
  }))
  const at = (values: PlanMap, path: string): PlanValue | undefined => {
    const keys = path.split(/(?<!\\)\./).map((key) => key.replaceAll('\\', ''))
    return keys.reduce<PlanValue | undefined>((one, key) => (isPlanMap(one) ? one[key] : undefined), values)
  }

  test('what a layer says is there after merging, or told to be shadowed', () => {
    fc.assert(
      fc.property(fc.array(map, { maxLength: 4 }), (values) => {
        const given = layers(...values)
        const merged = mergeLayers(given)
        const shadowed = shadowedValues(given)
        for (const { name, values: own } of given) {
          for (const { path, to } of differences({}, own)) {
            const above = shadowed.some(
              (one) =>
                one.under.includes(name) &&
                (path === one.path || path.startsWith(`${one.path}.`) || one.path.startsWith(`${path}.`)),
            )
            const empty = isPlanMap(to) && isPlanMap(at(merged, path))
            expect(above || empty || JSON.stringify(at(merged, path)) === JSON.stringify(to)).toBe(true)
          }
        }
      }),
    )
  })

  test('differences are what has to be changed, and nothing differs from itself', () => {
    fc.assert(
      fc.property(map, map, (from, to) => {
        expect(differences(from, from)).toEqual([])
        const found = differences(from, to)
        expect(found.length === 0).toBe(
          planHash(changePlan({}, { edits: from })) === planHash(changePlan({}, { edits: to })),
        )
        for (const { path, from: before, to: after } of found) {
          expect(at(from, path) ?? null).toEqual(before)
          expect(at(to, path) ?? null).toEqual(after)
        }
      }),
    )
  })
})

test('a path is written as helm has it', () => {
  expect(valuePath(['nodeSelector', 'kubernetes.io/arch', 'a\\b'])).toBe(
    'nodeSelector.kubernetes\\.io/arch.a\\\\b',
  )
})
