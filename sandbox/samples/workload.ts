import { randomUUID } from 'node:crypto'
import { withSpecDefaults } from '../api/defaults.ts'
import { templateWithDefaults } from '../api/podDefaults.ts'
import type { KubeObject } from '../api/types.ts'
import { controllerReference } from '../controllers/owners.ts'
import { nameSuffix, type PodTemplate, podFor, templateHash } from '../controllers/pods.ts'
import { runningStatus } from '../kubelet/podStatus.ts'

/** What runs for a release. */
export interface Workload {
  /** In the manifest of the release. */
  manifest: KubeObject[]
  /** The same as an API server stores them, with its defaults. */
  live: KubeObject[]
  /** Made by controllers: ReplicaSets and pods. */
  made: KubeObject[]
}

export interface WorkloadOptions {
  release: { namespace: string; name: string }
  chart: { name: string; version: string; appVersion: string }
  image: string
  args?: string[]
  /** Name of the Deployment; `<release>-<chart>` when absent. */
  name?: string
  /** One pod per entry. */
  pods: { node: string; stopSeconds?: number }[]
  gpus: number
  nodeSelector?: Record<string, string>
  graceSeconds: number
  createdAt: string
}

/** Labels helm charts put on what they make. */
export const chartLabels = (
  release: string,
  chart: { name: string; version: string; appVersion: string },
) => ({
  'helm.sh/chart': `${chart.name}-${chart.version}`,
  'app.kubernetes.io/name': chart.name,
  'app.kubernetes.io/instance': release,
  'app.kubernetes.io/version': chart.appVersion,
  'app.kubernetes.io/managed-by': 'Helm',
})

/** Annotations by which helm knows its own. */
export const ownedBy = ({ namespace, name }: { namespace: string; name: string }) => ({
  'meta.helm.sh/release-name': name,
  'meta.helm.sh/release-namespace': namespace,
})

let addresses = 0

/** A pod of the sample, Running and Ready on its node since `at`. */
export function runningPod(pod: KubeObject, node: string, at: string, stopSeconds?: number): KubeObject {
  addresses += 1
  const annotations = {
    ...pod.metadata.annotations,
    ...(stopSeconds === undefined ? {} : { 'sandbox.swiss/stop-seconds': String(stopSeconds) }),
  }
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      uid: randomUUID(),
      generation: 1,
      creationTimestamp: at,
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    },
    spec: { ...(pod.spec as object), nodeName: node },
    status: {
      ...runningStatus(pod, true, `10.245.${addresses >> 8}.${addresses & 255}`, at),
      qosClass: 'BestEffort',
    },
  }
}

/** A template as an API server stores it, so that the next write of it makes no new one. */
export const completeTemplate = (template: PodTemplate) =>
  templateWithDefaults(template) as unknown as PodTemplate

/** A Service and a Deployment with its ReplicaSet and pods, all up since `createdAt`. */
export function deploymentWorkload(options: WorkloadOptions): Workload {
  const { release, chart, createdAt: at, pods } = options
  const name = options.name ?? `${release.name}-${chart.name}`
  const labels = chartLabels(release.name, chart)
  const selector = {
    'app.kubernetes.io/name': chart.name,
    'app.kubernetes.io/instance': release.name,
    component: name,
  }
  const rendered: PodTemplate = {
    metadata: { labels: { ...labels, app: `${release.name}-${chart.name}`, component: name } },
    spec: podSpec(options),
  }
  const template = completeTemplate(rendered)
  const meta = {
    name,
    namespace: release.namespace,
    labels,
    annotations: ownedBy(release),
    creationTimestamp: at,
  }
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...meta, uid: randomUUID() },
    spec: {
      type: 'ClusterIP',
      ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
      selector,
    },
  }
  const count = pods.length
  const up = { observedGeneration: 1, replicas: count, readyReplicas: count, availableReplicas: count }
  const deployment: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...meta, uid: randomUUID(), generation: 1 },
    spec: { replicas: count, selector: { matchLabels: selector }, template: rendered },
    status: { ...up, updatedReplicas: count },
  }
  const hash = { 'pod-template-hash': templateHash(template) }
  const podLabels = { ...template.metadata?.labels, ...hash }
  const replicaSet: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash['pod-template-hash']}`,
      namespace: release.namespace,
      uid: randomUUID(),
      generation: 1,
      labels: podLabels,
      ownerReferences: [{ ...controllerReference(deployment) }],
      creationTimestamp: at,
    },
    spec: {
      replicas: count,
      selector: { matchLabels: { ...selector, ...hash } },
      template: { ...template, metadata: { ...template.metadata, labels: podLabels } },
    },
    status: up,
  }
  const made = pods.map(({ node, stopSeconds }) =>
    runningPod(
      podFor(replicaSet, template, `${replicaSet.metadata.name}-${nameSuffix()}`, hash),
      node,
      at,
      stopSeconds,
    ),
  )
  const manifest = [service, deployment]
  return { manifest, live: manifest.map(withSpecDefaults), made: [replicaSet, ...made] }
}

export function podSpec({
  chart,
  image,
  args = [],
  gpus,
  nodeSelector,
  graceSeconds,
}: Pick<WorkloadOptions, 'chart' | 'image' | 'args' | 'gpus' | 'nodeSelector' | 'graceSeconds'>) {
  const amounts = gpus > 0 ? { 'nvidia.com/gpu': String(gpus) } : {}
  return {
    containers: [
      {
        name: chart.name,
        image,
        ...(args.length > 0 ? { args } : {}),
        ports: [{ name: 'http', containerPort: 8050, protocol: 'TCP' }],
        resources: { limits: amounts, requests: amounts },
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: graceSeconds,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    schedulerName: 'default-scheduler',
    securityContext: {},
    ...(nodeSelector ? { nodeSelector } : {}),
  }
}
