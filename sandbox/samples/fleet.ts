import { randomUUID } from 'node:crypto'
import type { KubeObject, Store } from '../api/types.ts'
import { podFor } from '../controllers/pods.ts'
import { goTimestamp } from '../helm/payload.ts'
import { namespace, node, timestamp } from './cluster.ts'
import { helmSecret } from './helmRelease.ts'
import { gptOss } from './models.ts'
import { layersOf, mergeLayers, type PlanStatus, planConfigMap, planData } from './plan.ts'
import { chartOf } from './story.ts'
import { chartLabels, completeTemplate, ownedBy, podSpec, runningPod } from './workload.ts'

const podsPerRelease = 2
const gpusPerNode = 8
const releasesPerNamespace = 500
const minute = 60_000

/**
 * Adds generated releases with two pods each, in namespaces `fleet-1`, `fleet-2` …, on nodes of their own. Every
 * twenty-fifth is FAILED.
 */
export function seedFleet(store: Store, now: number, count: number): void {
  const nodes = Math.ceil((count * podsPerRelease) / gpusPerNode)
  const { gpuProduct } = gptOss
  for (let index = 1; index <= nodes; index++) {
    store.create(node(`fleet-gpu-${index}`, now, { gpus: gpusPerNode, gpuProduct }))
  }
  for (let index = 0; index < count; index++) {
    const home = `fleet-${1 + Math.floor(index / releasesPerNamespace)}`
    if (index % releasesPerNamespace === 0) store.create(namespace(home, now))
    const nodeName = `fleet-gpu-${1 + Math.floor((index * podsPerRelease) / gpusPerNode)}`
    const release = { namespace: home, name: `model-${String(index + 1).padStart(5, '0')}` }
    for (const object of fleetRelease(release, index, nodeName, now)) store.create(object)
  }
}

const layers = layersOf(gptOss, { replicaCount: podsPerRelease, terminationGracePeriodSeconds: 30 })
const config = mergeLayers(layers)
const chart = chartOf(gptOss)

/** Thousands of plans are the same text but for these; writing YAML anew for each would take most of the start. */
const placeholder = {
  namespace: 'fleet-0',
  name: 'model-00000',
  startedAt: '2000-01-01T00:00:00Z',
  updatedAt: '2000-01-01T00:00:40Z',
}
const installed: PlanStatus = {
  phase: 'applied',
  action: 'install',
  revision: 1,
  startedAt: placeholder.startedAt,
  updatedAt: placeholder.updatedAt,
  actor: 'fleet',
}
const appliedPlan = planData(placeholder, gptOss, layers, installed)
const failedPlan = planData(placeholder, gptOss, layers, {
  ...installed,
  phase: 'failed',
  error: 'Error: INSTALLATION FAILED: context deadline exceeded',
})

function fleetRelease(
  release: { namespace: string; name: string },
  index: number,
  nodeName: string,
  now: number,
): KubeObject[] {
  const at = now - (1 + (index % 1000)) * 7 * minute
  const created = timestamp(at)
  const failed = index % 25 === 24
  const labels = chartLabels(release.name, chart)
  const template = completeTemplate({
    metadata: { labels: { ...labels, app: `${release.name}-${chart.name}` } },
    spec: podSpec({
      chart,
      image: `${gptOss.image.repository}:${gptOss.image.tag}`,
      args: [],
      gpus: 1,
      graceSeconds: 30,
    }),
  })
  const count = podsPerRelease
  const set: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name: `${release.name}-${chart.name}`,
      namespace: release.namespace,
      uid: randomUUID(),
      generation: 1,
      labels,
      annotations: ownedBy(release),
      creationTimestamp: created,
    },
    spec: {
      replicas: count,
      serviceName: release.name,
      selector: { matchLabels: { 'app.kubernetes.io/instance': release.name } },
      template,
    },
    status: {
      observedGeneration: 1,
      replicas: count,
      readyReplicas: count,
      availableReplicas: count,
      currentReplicas: count,
      updatedReplicas: count,
    },
  }
  const pods = Array.from({ length: count }, (_, ordinal) => {
    const name = `${set.metadata.name}-${ordinal}`
    const own = {
      'statefulset.kubernetes.io/pod-name': name,
      'apps.kubernetes.io/pod-index': String(ordinal),
    }
    return runningPod(podFor(set, template, name, own), nodeName, created)
  })
  const secret = helmSecret(
    {
      ...release,
      revision: 1,
      status: failed ? 'failed' : 'deployed',
      chart,
      config,
      objects: [set],
      description: failed
        ? `Release "${release.name}" failed: context deadline exceeded`
        : 'Install complete',
      firstDeployed: goTimestamp(at),
      lastDeployed: goTimestamp(at),
    },
    1,
  )
  const text = failed ? failedPlan : appliedPlan
  const data = Object.fromEntries(
    Object.entries(text).map(([key, yaml]) => [
      key,
      yaml
        .replaceAll(placeholder.name, release.name)
        .replaceAll(placeholder.namespace, release.namespace)
        .replaceAll(placeholder.startedAt, created)
        .replaceAll(placeholder.updatedAt, timestamp(at + 40_000)),
    ]),
  )
  return [secret, planConfigMap(release, data, created), set, ...pods]
}
