import { expect, test } from 'vitest'
import { merge } from '../../../sandbox/charts/values.ts'
import type { LlmService } from '../../../sandbox/operator/llmService.ts'
import { render } from '../../../sandbox/operator/render.ts'
import { parseDuration } from '../../../sandbox/operator/steering.ts'
import { llmService } from './support.ts'

/** Nothing checks what people write into one. */
const renderAny = (service: unknown) => render(service as LlmService)

test.each([
  ['0', 0],
  ['30', 30_000],
  ['2s', 2_000],
  ['250ms', 250],
  ['1.5m', 90_000],
  ['1h30m', 5_400_000],
  ['9999999999h', 315_360_000_000],
  ['', undefined],
  ['-2s', undefined],
  ['2 s', undefined],
  ['soon', undefined],
])('the duration %j is %j ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test('layers merge map by map, in their order', () => {
  expect(merge({ a: { b: 1, c: [1] }, d: 1 }, { a: { c: [2] }, d: null })).toEqual({
    a: { b: 1, c: [2] },
    d: null,
  })
})

test('values of any shape are rendered into objects an API server takes', () => {
  const chart = { name: `a-chart-${'long'.repeat(15)}`, version: '1.0.0+build' }
  const values = {
    image: { tag: 'v1@sha256:0' },
    replicaCount: 'many',
    nodeSelector: 'none',
    podAnnotations: { a: 1 },
  }
  const rendered = renderAny(llmService('chat', { chart, layers: [{ values }, { values: 3 }, null] }))
  if ('problem' in rendered) throw new Error(rendered.problem)
  const [service, deployment] = rendered.objects
  expect(service?.metadata.name).toHaveLength(63)
  const { replicas, template } = (deployment?.spec ?? {}) as {
    replicas: number
    template: { metadata: { labels: Record<string, string>; annotations: object }; spec: object }
  }
  expect(replicas).toBe(1)
  expect(template.metadata.annotations).toEqual({ a: '1' })
  for (const value of Object.values(template.metadata.labels)) {
    expect(value).toMatch(/^[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/)
  }
  expect(template.spec).not.toHaveProperty('nodeSelector')
})

test.each([
  [llmService('chat', { chart: null }), 'spec.chart.name is missing'],
  [{ ...llmService('chat'), spec: null }, 'spec.chart.name is missing'],
  [llmService('x'.repeat(54)), `release name is invalid: ${'x'.repeat(54)}`],
])('what cannot be rendered is a sentence', (service, problem) => {
  expect(renderAny(service)).toEqual({ problem })
})
