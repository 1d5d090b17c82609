import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { KubeObject } from '../../../services/cluster/kinds.ts'
import { withForm } from '../../../services/plans/change.ts'
import { mergeLayers, readLayers, readPlan } from '../../../services/plans/document.ts'
import type { PlanMap } from '../../../services/plans/scalars.ts'
import { oddLayers, planOfService, serviceOfPlan } from '../../../services/plans/servicePlan.ts'

const service: KubeObject = {
  apiVersion: 'serving.modelsphere.dev/v1alpha1',
  kind: 'LLMService',
  metadata: {
    namespace: 'team-a',
    name: 'chat',
    uid: 'uid-1',
    resourceVersion: '7',
    labels: { app: 'demo' },
    finalizers: ['serving.modelsphere.dev/finalizer'],
    ownerReferences: [{ kind: 'LLMCanary', name: 'demo' }],
    annotations: {
      'swiss.modelsphere.dev/plan-hash': 'h1',
      'swiss.modelsphere.dev/catalog': 'https://catalog.invalid',
      'swiss.modelsphere.dev/catalog-name': 'main',
      'swiss.modelsphere.dev/catalog-ref': 'v7',
      'swiss.modelsphere.dev/entry-digest': 'd1',
      'swiss.modelsphere.dev/profile': 'lab',
      'swiss.modelsphere.dev/note': 'the last one',
      'example.test/owner': 'blue',
    },
  },
  spec: {
    chart: {
      name: 'vllm',
      repo: 'oci://charts.invalid/llm',
      version: '0.4.0',
      credentialsRef: { name: 'c' },
    },
    model: { name: 'm', version: '1', variant: 'base', hf: 'org/m', engine: 'vllm' },
    layers: [
      { name: 'catalog', values: { replicaCount: 1, seed: 9007199254740993n, args: ['a'] } },
      { name: 'canary', values: { weight: 10 } },
      { name: 'form', values: { probe: null } },
    ],
    suspend: true,
  },
  status: { phase: 'Applied' },
}

test('an LLMService is a plan: identity, source, chart, layers and hash', () => {
  const data = planOfService(service)
  expect(readPlan(data)).toEqual({
    unreadable: null,
    release: { namespace: 'team-a', name: 'chat' },
    chart: { name: 'vllm', version: '0.4.0', repo: 'oci://charts.invalid/llm' },
    chartPath: null,
    source: {
      catalog: 'https://catalog.invalid',
      catalogName: 'main',
      ref: 'v7',
      model: 'm',
      version: '1',
      variant: 'base',
      hf: 'org/m',
      engine: 'vllm',
    },
    digest: 'd1',
    engine: 'vllm',
    profile: 'lab',
    createNamespace: null,
    hash: 'h1',
  })
  expect(readLayers(data)).toEqual({
    ok: true,
    layers: [
      { name: 'catalog', values: { replicaCount: 1, seed: 9007199254740993n, args: ['a'] } },
      { name: 'form', values: { probe: null } },
    ],
  })
})

test('a plan written onto its LLMService changes what it says and keeps everything foreign', () => {
  const data = withForm(planOfService(service), { replicaCount: 2 })
  const next = serviceOfPlan(service, data, { action: 'apply', note: null })
  expect(next).toEqual({
    ...service,
    metadata: {
      ...service.metadata,
      annotations: {
        'swiss.modelsphere.dev/plan-hash': readPlan(data).hash,
        'swiss.modelsphere.dev/catalog': 'https://catalog.invalid',
        'swiss.modelsphere.dev/catalog-name': 'main',
        'swiss.modelsphere.dev/catalog-ref': 'v7',
        'swiss.modelsphere.dev/entry-digest': 'd1',
        'swiss.modelsphere.dev/profile': 'lab',
        'swiss.modelsphere.dev/action': 'apply',
        'example.test/owner': 'blue',
      },
    },
    spec: {
      ...(service.spec as object),
      layers: [
        { name: 'catalog', values: { replicaCount: 1, seed: 9007199254740993n, args: ['a'] } },
        { name: 'canary', values: { weight: 10 } },
        { name: 'form', values: { probe: null, replicaCount: 2 } },
      ],
    },
  })
  // And so it is the plan again.
  expect(readPlan(planOfService(next)).hash).toBe(readPlan(data).hash)
})

test('a layer that comes first stands before the foreign ones of the layers behind it', () => {
  const live = {
    ...service,
    spec: {
      layers: [
        { name: 'x', values: {} },
        { name: 'edit', values: { a: 1 } },
        { name: 'y', values: {} },
      ],
    },
  }
  const next = serviceOfPlan(live, withForm(planOfService(live), { b: 1 }), { action: 'apply', note: 'why' })
  expect((next.spec as { layers: { name: string }[] }).layers.map(({ name }) => name)).toEqual([
    'x',
    'form',
    'edit',
    'y',
  ])
  expect(next.metadata.annotations?.['swiss.modelsphere.dev/note']).toBe('why')
})

test('layers that a plan cannot say are told', () => {
  expect(oddLayers(service)).toEqual([expect.stringContaining('canary')])
  expect(oddLayers({ ...service, spec: { layers: [{ name: 'form' }, { name: 'site' }] } })).toEqual([
    expect.stringContaining('order'),
  ])
  expect(oddLayers({ ...service, spec: { layers: [{ name: 'site' }, { name: 'form' }] } })).toEqual([])
})

test('a spec of rubbish is a plan without anything', () => {
  for (const spec of [
    undefined,
    null,
    'x',
    { layers: 'x', chart: [], model: 3 },
    { layers: [1, { name: 'form', values: 3 }] },
  ]) {
    const data = planOfService({ ...service, spec })
    expect(readPlan(data)).toMatchObject({ unreadable: null, chart: null })
    expect(readLayers(data)).toEqual({ ok: true, layers: [] })
  }
})

test('values come back as they were, through the plan and onto the object', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: 'grapheme' }),
      // A whole one beyond 2^53 is written as the integer it is, and read as such.
      fc.double({ noNaN: true, min: -(2 ** 52), max: 2 ** 52 }).map((one) => one + 0),
      fc.maxSafeInteger(),
      fc.bigInt({ min: 1n << 53n, max: 1n << 63n }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(fc.string(), tie('value')),
    ),
  }))
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value, { minKeys: 1 }), (values) => {
      const live = { ...service, spec: { layers: [{ name: 'site', values }] } }
      const data = planOfService(live)
      const read = readLayers(data)
      expect(read.ok && mergeLayers(read.layers)).toEqual(values as PlanMap)
      const next = serviceOfPlan(live, data, { action: 'apply', note: null })
      expect((next.spec as { layers: unknown }).layers).toEqual([{ name: 'site', values }])
    }),
  )
})
