import type { KubeObject } from '../api/types.ts'
import { chartLabels, ownedBy, podSpec } from '../samples/workload.ts'
import { type LlmService, specOf, type Values } from './llmService.ts'

/** What a chart would make of an LLMService. */
export interface Rendered {
  chart: { name: string; version: string; appVersion: string }
  values: Values
  objects: KubeObject[]
}

const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Maps merge, everything else replaces. */
export function merge(under: Values, over: Values): Values {
  const merged = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key]
    merged[key] = isMap(below) && isMap(value) ? merge(below, value) : value
  }
  return merged
}

/** helm's rule for names of releases. */
const releaseName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/**
 * A Service and a Deployment for the release of an LLMService, from its chart and its merged values. There is no
 * chart: every name is taken for one that makes these two. Answers with a sentence when it cannot be done.
 */
export function render(service: LlmService): Rendered | { problem: string } {
  const { namespace = '', name } = service.metadata
  const spec = specOf(service)
  // The schema keeps whatever people write.
  const wanted = mapOf(spec.chart)
  const chartName = textOf(wanted.name)
  if (!chartName) return { problem: 'spec.chart.name is missing' }
  if (name.length > 53 || !releaseName.test(name)) return { problem: `release name is invalid: ${name}` }
  const layers: unknown[] = Array.isArray(spec.layers) ? spec.layers : []
  const values = layers.reduce<Values>((under, layer) => merge(under, mapOf(mapOf(layer).values)), {})
  const image = mapOf(values.image)
  const tag = textOf(image.tag) ?? 'latest'
  const chart = { name: chartName, version: textOf(wanted.version) ?? '0.1.0', appVersion: tag }
  const release = { namespace, name }
  const objectName = cut(`${name}-${chart.name}`)
  const labels = Object.fromEntries(
    Object.entries(chartLabels(name, chart)).map(([key, value]) => [key, labelValue(value)]),
  )
  const selector = {
    'app.kubernetes.io/name': cut(chart.name),
    'app.kubernetes.io/instance': name,
    component: objectName,
  }
  const replicas = numberOf(values.replicaCount) ?? 1
  const nodeSelector = textsOf(values.nodeSelector)
  const args = textsIn(values.extraArgs)
  const metadata = { name: objectName, namespace, labels, annotations: ownedBy(release) }
  const podAnnotations = textsOf(values.podAnnotations)
  return {
    chart,
    values,
    objects: [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        spec: {
          type: 'ClusterIP',
          ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
          selector,
        },
      },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata,
        spec: {
          replicas,
          selector: { matchLabels: selector },
          template: {
            metadata: {
              labels: { ...labels, app: objectName, component: objectName },
              ...(Object.keys(podAnnotations).length > 0 ? { annotations: podAnnotations } : {}),
            },
            spec: podSpec({
              chart: { ...chart, name: cut(chart.name).replaceAll('.', '-') },
              image: `${textOf(image.repository) ?? textOf(mapOf(spec.model).engine) ?? chart.name}:${tag}`,
              args,
              gpus: gpusOf(values, args),
              ...(Object.keys(nodeSelector).length > 0 ? { nodeSelector } : {}),
              graceSeconds: numberOf(values.terminationGracePeriodSeconds) ?? 30,
            }),
          },
        },
      },
    ],
  }
}

/** What the values ask for; else one GPU per rank of the engine's tensor parallelism. */
function gpusOf(values: Values, args: string[]): number {
  const limit = numberOf(mapOf(mapOf(values.resources).limits)['nvidia.com/gpu'])
  if (limit !== undefined) return limit
  const rank = args.map((arg) => /^--(?:tp-size|tensor-parallel-size)=(\d+)$/.exec(arg)?.[1]).find((it) => it)
  return Number(rank ?? 0)
}

const mapOf = (value: unknown): Values => (isMap(value) ? value : {})
const textOf = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
const textsIn = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])
const textsOf = (value: unknown) =>
  Object.fromEntries(Object.entries(mapOf(value)).map(([key, text]) => [key, String(text)]))

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : undefined
}

/** As charts cut names. */
const cut = (name: string) => name.slice(0, 63).replace(/[-.]+$/, '')

const labelValue = (text: string) =>
  text
    .replaceAll(/[^-A-Za-z0-9_.]/g, '_')
    .slice(0, 63)
    .replace(/^[-_.]+|[-_.]+$/g, '')
