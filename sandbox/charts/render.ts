import type { KubeObject } from '../api/types.ts'
import { chartLabels, ownedBy, podSpec } from '../samples/workload.ts'
import { countOf, isMap, mapOf, textOf, type Values } from './values.ts'

export interface Chart {
  name: string
  version: string
  appVersion: string
}

/** What the sandbox's charts of models bring themselves. */
export const chartDefaults: Values = { replicaCount: 1, terminationGracePeriodSeconds: 30 }

/**
 * What a chart makes of a release: a Service and a Deployment, or one of each for its pools `prefill` and `decode`
 * when the values have `pd.prefill` or `pd.decode` and not `pd.colocate`. Services come first, as helm sorts them.
 * There are no templates: every name is taken for a chart that makes these.
 *
 * @param engine the image's name when the values have none
 */
export function renderChart(
  release: { namespace: string; name: string },
  wanted: { name: string; version: string },
  values: Values,
  engine: string = wanted.name,
): { chart: Chart; objects: KubeObject[] } {
  const image = mapOf(values.image)
  const tag = textOf(image.tag) ?? 'latest'
  const chart = { ...wanted, appVersion: tag }
  const whole = cut(`${release.name}-${chart.name}`)
  const labels = Object.fromEntries(
    Object.entries(chartLabels(release.name, chart)).map(([key, value]) => [key, labelValue(value)]),
  )
  const args = Array.isArray(values.extraArgs) ? values.extraArgs.map(String) : []
  const nodeSelector = textsOf(values.nodeSelector)
  const podAnnotations = textsOf(values.podAnnotations)
  const pod = podSpec({
    chart: { ...chart, name: cut(chart.name).replaceAll('.', '-') },
    image: `${textOf(image.repository) ?? engine}:${tag}`,
    args,
    gpus: gpusOf(values, args),
    ...(Object.keys(nodeSelector).length > 0 ? { nodeSelector } : {}),
    graceSeconds: countOf(values.terminationGracePeriodSeconds) ?? 30,
  })
  const groups = poolsOf(values).map(({ pool, replicas }) => {
    const name = pool ? cut(`${release.name}-${pool}`) : whole
    const selector = {
      'app.kubernetes.io/name': cut(chart.name),
      'app.kubernetes.io/instance': release.name,
      component: name,
    }
    const metadata = { name, namespace: release.namespace, labels, annotations: ownedBy(release) }
    const service: KubeObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        type: 'ClusterIP',
        ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
        selector,
      },
    }
    const deployment: KubeObject = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas,
        selector: { matchLabels: selector },
        template: {
          metadata: {
            labels: { ...labels, app: whole, component: name },
            ...(Object.keys(podAnnotations).length > 0 ? { annotations: podAnnotations } : {}),
          },
          spec: pod,
        },
      },
    }
    return { service, deployment }
  })
  const objects = [...groups.map(({ service }) => service), ...groups.map(({ deployment }) => deployment)]
  return { chart, objects }
}

function poolsOf(values: Values): { pool?: string; replicas: number }[] {
  const pd = mapOf(values.pd)
  const pools = pd.colocate ? [] : ['prefill', 'decode'].filter((pool) => isMap(pd[pool]))
  if (pools.length === 0) return [{ replicas: countOf(values.replicaCount) ?? 1 }]
  return pools.map((pool) => ({ pool, replicas: countOf(mapOf(pd[pool]).replicas) ?? 1 }))
}

/** What the values ask for; else one GPU per rank of the engine's tensor parallelism. */
function gpusOf(values: Values, args: string[]): number {
  const limit = countOf(mapOf(mapOf(values.resources).limits)['nvidia.com/gpu'])
  if (limit !== undefined) return limit
  const rank = args.map((arg) => /^--(?:tp-size|tensor-parallel-size)=(\d+)$/.exec(arg)?.[1]).find((it) => it)
  return Number(rank ?? 0)
}

const textsOf = (value: unknown) =>
  Object.fromEntries(Object.entries(mapOf(value)).map(([key, text]) => [key, String(text)]))

/** As charts cut names. */
const cut = (name: string) => name.slice(0, 63).replace(/[-.]+$/, '')

const labelValue = (text: string) =>
  text
    .replaceAll(/[^-A-Za-z0-9_.]/g, '_')
    .slice(0, 63)
    .replace(/^[-_.]+|[-_.]+$/g, '')
