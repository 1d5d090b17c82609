import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import type { KubeObject, Store } from '../../sandbox/api/types.ts'
import type { Given } from './givenFormat.ts'
import { chartOf } from './refs.ts'

/** Where the gateway of a case keeps what is its own. */
export const gatewayNamespace = 'swiss-system'

/** Helm's own limit: older records are dropped when a new one is written. */
const helmHistory = 10

const managedBySwiss = { 'app.kubernetes.io/managed-by': 'swiss' }

/** Puts the cluster of a case into the store, as written: nothing is validated, defaulted or admitted. */
export function plantGiven(store: Store, given: Given): void {
  for (const object of objectsOf(given)) store.create(object)
  // The gateway is installed somewhere: its own namespace is there, as with any installation.
  const home = { kind: 'Namespace', name: gatewayNamespace }
  if (!store.get(home)) {
    store.create({
      apiVersion: 'v1',
      kind: home.kind,
      metadata: { name: home.name },
      status: { phase: 'Active' },
    })
  }
}

/** The objects that the shorthand of a case stands for, and the whole manifests behind them. */
export function objectsOf(given: Given): KubeObject[] {
  return [
    ...given.nodes.map(nodeOf),
    ...given.helm.flatMap((release) => helmRecords(release, given.now)),
    ...given.plans.map(planOf),
    ...given.archives.flatMap(archivesOf),
    ...given.autoscale.map(autoscaleOf),
    ...given.pods.map(podOf),
    ...(given.objects as KubeObject[]),
  ]
}

function nodeOf({ name, ready }: Given['nodes'][number]): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }
}

function podOf(pod: Given['pods'][number]): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: pod.namespace,
      name: pod.name,
      labels: pod.labels,
      annotations: pod.annotations,
      ...(pod.finalizers.length > 0 ? { finalizers: pod.finalizers } : {}),
    },
    spec: {
      ...(pod.node === undefined ? {} : { nodeName: pod.node }),
      ...(pod.grace === undefined ? {} : { terminationGracePeriodSeconds: pod.grace }),
      containers: [{ name: 'main', image: 'example.test/engine:1' }],
    },
    status: {
      phase: pod.phase,
      conditions: [{ type: 'Ready', status: pod.ready ? 'True' : 'False' }],
      containerStatuses: [{ name: 'main', ready: pod.ready, restartCount: 0 }],
    },
  }
}

/** `NAME-VERSION` was checked when the case was read. */
const split = (chart: string) => chartOf(chart) ?? { name: chart, version: '' }

function helmRecords(release: Given['helm'][number], now: string): KubeObject[] {
  const { namespace, name, revision, chart } = release
  const oldest = Math.max(1, revision - helmHistory + 1)
  return Array.from({ length: revision - oldest + 1 }, (_, index) => {
    const version = oldest + index
    const status = version === revision ? release.status : 'superseded'
    const payload = {
      name,
      namespace,
      version,
      info: { first_deployed: now, last_deployed: now, description: '', status },
      chart: { metadata: { apiVersion: 'v2', ...split(chart) }, templates: [], values: {} },
      config: {},
      manifest: '',
    }
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'helm.sh/release.v1',
      metadata: {
        namespace,
        name: `sh.helm.release.v1.${name}.v${version}`,
        labels: { owner: 'helm', name, version: String(version), status },
      },
      // base64 (the Secret's) over base64 (helm's) over gzip over JSON.
      data: { release: base64(base64(gzipSync(JSON.stringify(payload)))) },
    }
  })
}

const base64 = (data: string | Buffer) => Buffer.from(data).toString('base64')

/** No layers, and nowhere the word `uninstall` unless it is the phase: cases look for that word. */
function planData(release: { namespace: string; name: string }, chart: string, status: object) {
  return {
    'plan.yaml': stringify({
      apiVersion: 'plan.swiss/v1',
      release: { name: release.name, namespace: release.namespace },
      source: {
        catalog: 'https://catalog.invalid/models.git',
        catalogName: 'main',
        ref: 'v1',
        model: 'demo-model',
        version: '1',
        variant: 'base',
        hf: 'org/demo-model',
      },
      chart: split(chart),
      engine: 'vllm',
      profile: 'lab',
      hash: `hash-of-${release.name}`,
    }),
    'status.yaml': stringify(status),
  }
}

function planOf(plan: Given['plans'][number]): KubeObject {
  const { namespace, name, phase, revision, chart, labels } = plan
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: `swiss-plan-${name}`, labels: { ...managedBySwiss, ...labels } },
    data: planData(plan, chart, { phase, ...(revision === undefined ? {} : { revision }) }),
  }
}

function archivesOf(archive: Given['archives'][number]): KubeObject[] {
  const { namespace, name, revisions } = archive
  return revisions.map((revision) => {
    const data = planData(archive, 'vllm-0.4.0', { phase: 'applied', revision })
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: {
        namespace,
        name: `swiss.plan.v1.${name}.v${revision}`,
        labels: { ...managedBySwiss, owner: 'swiss', name, version: String(revision) },
      },
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
    }
  })
}

function autoscaleOf({ namespace, name }: Given['autoscale'][number]): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: `swiss-autoscale-${name}` },
    data: {
      'policy.yaml': stringify({
        enabled: true,
        pools: [{ name: 'decode', min: 1, max: 4, query: 'up', target: 1 }],
      }),
    },
  }
}
