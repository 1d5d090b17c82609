// A release as Swiss finds it in a cluster: installed by the real helm, with the plan ConfigMap beside it.
import { join } from 'node:path'
import { isReady } from './controlPlane.ts'
import type { Kube, KubeObject } from './kube.ts'
import type { StoryContext } from './story.ts'
import { until } from './wait.ts'

const CHART = join(import.meta.dirname, 'chart')

/** What a deleted pod takes to go, as stages.yaml has it. */
export const POD_TIME_MS = 8000

/** `helm install` of the chart in this folder; resolves when its three pods are ready. */
export async function installRelease(
  { cluster, helm }: StoryContext,
  namespace: string,
  name: string,
  ...flags: string[]
): Promise<void> {
  await helm('install', name, CHART, '--namespace', namespace, ...flags)
  await until(`the pods of ${name} are ready`, 120_000, async () => {
    cluster.check()
    const pods = await cluster.kube.list(podsPath(namespace), `${instance(name)},component=server`)
    return pods.length === 3 && pods.every(isReady) ? true : undefined
  })
}

/** What the tool that installed the release has written beside it. */
export type PlanOptions = {
  /** Archive Secrets of these revisions. */
  archives?: number[]
  autoscale?: boolean
}

/** The plan ConfigMap, and what `options` names. */
export async function makePlan(
  kube: Kube,
  namespace: string,
  name: string,
  options: PlanOptions = {},
): Promise<void> {
  const now = new Date().toISOString()
  const managed = { 'app.kubernetes.io/managed-by': 'swiss' }
  const data = {
    'plan.yaml': [
      'apiVersion: plan.swiss/v1',
      `release: {name: ${name}, namespace: ${namespace}}`,
      'source: {catalog: e2e, catalogName: e2e, ref: main, model: none, version: "1", variant: default}',
      'chart: {name: e2e-model, version: 0.1.0}',
      'engine: vllm',
      'profile: default',
      'hash: e2e0000000000000',
      '',
    ].join('\n'),
    'status.yaml': [
      'phase: applied',
      'action: install',
      'revision: 1',
      `startedAt: "${now}"`,
      `updatedAt: "${now}"`,
      '',
    ].join('\n'),
  }
  const make = (plural: string, object: object): Promise<KubeObject> =>
    kube.create(`/api/v1/namespaces/${namespace}/${plural}`, { apiVersion: 'v1', ...object })
  await make('configmaps', {
    kind: 'ConfigMap',
    metadata: { name: `swiss-plan-${name}`, labels: managed },
    data,
  })
  for (const revision of options.archives ?? []) {
    await make('secrets', {
      kind: 'Secret',
      metadata: {
        name: `swiss.plan.v1.${name}.v${revision}`,
        labels: { ...managed, owner: 'swiss', name, version: String(revision) },
      },
      stringData: data,
    })
  }
  if (options.autoscale) {
    await make('configmaps', {
      kind: 'ConfigMap',
      metadata: { name: `swiss-autoscale-${name}` },
      data: { 'policy.yaml': 'enabled: false\npools: []\n' },
    })
  }
}

/** Names of the release's pods, asked of the API server itself; finished ones left out. */
export async function podsOf(kube: Kube, namespace: string, name: string): Promise<string[]> {
  const pods = await kube.list(podsPath(namespace), instance(name))
  return pods
    .filter((p) => !['Succeeded', 'Failed'].includes(String(p.status?.phase)))
    .map((p) => p.metadata.name)
}

/** A bare watch beside the gateway's: when did the last pod of the release leave? */
export async function watchPods(
  kube: Kube,
  namespace: string,
  name: string,
): Promise<{ lastDeletedAt: () => number; stop: () => void }> {
  let lastDeletedAt = 0
  const { stop } = await kube.watch(podsPath(namespace), instance(name), (event) => {
    if (event.type === 'DELETED') lastDeletedAt = performance.now()
  })
  return { lastDeletedAt: () => lastDeletedAt, stop }
}

const podsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`
const instance = (name: string): string => `app.kubernetes.io/instance=${name}`
