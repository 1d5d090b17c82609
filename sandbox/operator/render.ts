import type { KubeObject } from '../api/types.ts'
import { type Chart, renderChart } from '../charts/render.ts'
import { mapOf, merge, textOf, type Values } from '../charts/values.ts'
import { isReleaseName } from '../helm/releaseName.ts'
import { type LlmService, specOf } from './llmService.ts'

/** What a chart would make of an LLMService. */
export interface Rendered {
  chart: Chart
  values: Values
  objects: KubeObject[]
}

/** The release of an LLMService, from its chart and its merged layers; a sentence when it cannot be done. */
export function render(service: LlmService): Rendered | { problem: string } {
  const { namespace = '', name } = service.metadata
  const spec = specOf(service)
  // The schema keeps whatever people write.
  const wanted = mapOf(spec.chart)
  const chartName = textOf(wanted.name)
  if (!chartName) return { problem: 'spec.chart.name is missing' }
  if (!isReleaseName(name)) return { problem: `release name is invalid: ${name}` }
  const layers: unknown[] = Array.isArray(spec.layers) ? spec.layers : []
  const values = layers.reduce<Values>((under, layer) => merge(under, mapOf(mapOf(layer).values)), {})
  const chart = { name: chartName, version: textOf(wanted.version) ?? '0.1.0' }
  return { values, ...renderChart({ namespace, name }, chart, values, textOf(mapOf(spec.model).engine)) }
}
