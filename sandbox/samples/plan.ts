import { createHash } from 'node:crypto'
import { stringify } from 'yaml'
import type { KubeObject } from '../api/types.ts'
import { merge, type Values } from '../charts/values.ts'
import type { Model } from './models.ts'

/** The layers of a plan that hold something, by name, in the order they are merged. */
export type Layers = Partial<Record<'catalog' | 'site' | 'derived' | 'form' | 'edit', Values>>

/** `status.yaml` of a plan. Times are RFC 3339. */
export interface PlanStatus {
  phase: 'applying' | 'applied' | 'failed' | 'uninstalling'
  action: 'install' | 'apply' | 'rollback' | 'uninstall' | 'autoscale'
  revision: number
  startedAt: string
  updatedAt: string
  actor?: string
  note?: string
  error?: string
  /** While uninstalling: the status before. */
  previous?: PlanStatus
}

/** Where the sample's charts would come from; there is no such host. */
export const chartRepository = 'oci://charts.sandbox.invalid/llm'

export const catalog = {
  catalog: 'https://modelsphere.github.io/model-catalog/',
  catalogName: 'model-catalog',
  ref: 'main',
}

/** YAML that reads the same under the rules of 1.1 and of 1.2. */
export const toYaml = (value: unknown) => stringify(value, { version: '1.1', lineWidth: 0 })

/** The values of a release: its layers, merged in their order. */
export const mergeLayers = (layers: Layers): Values => Object.values(layers).reduce<Values>(merge, {})

/** The layers of a model as they come from the catalog and the site, with a form on top. */
export const layersOf = (model: Model, form: Values): Layers => ({
  catalog: { image: model.image, ...model.values },
  site: {
    nodeSelector: { 'nvidia.com/gpu.product': model.gpuProduct },
    model: { hostPath: `/mnt/disk0/models/${model.name}` },
  },
  form,
})

/** What a release is deployed from: hash over everything but the release's own name. */
export function planHash(model: Model, layers: Layers): string {
  const text = JSON.stringify([model.name, model.version, model.variant, model.chartVersion, layers])
  return createHash('sha256').update(text).digest('hex')
}

/** Data of the plan ConfigMap, and of its archives. */
export function planData(
  release: { namespace: string; name: string },
  model: Model,
  layers: Layers,
  status: PlanStatus,
): Record<string, string> {
  const plan = {
    apiVersion: 'plan.swiss/v1',
    release: { name: release.name, namespace: release.namespace },
    source: {
      ...catalog,
      model: model.name,
      version: model.version,
      variant: model.variant,
      hf: model.hf,
      digest: model.digest,
    },
    chart: { name: model.engine, version: model.chartVersion, repo: chartRepository },
    engine: model.engine,
    profile: 'sandbox',
    hash: planHash(model, layers),
  }
  return {
    'plan.yaml': toYaml(plan),
    ...Object.fromEntries(Object.entries(layers).map(([name, values]) => [`${name}.yaml`, toYaml(values)])),
    'status.yaml': toYaml(status),
  }
}

export function planConfigMap(
  { namespace, name }: { namespace: string; name: string },
  data: Record<string, string>,
  createdAt: string,
  labels: Record<string, string> = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `swiss-plan-${name}`,
      namespace,
      labels: { 'app.kubernetes.io/managed-by': 'swiss', ...labels },
      creationTimestamp: createdAt,
    },
    data,
  }
}

export function planArchive(
  { namespace, name }: { namespace: string; name: string },
  revision: number,
  data: Record<string, string>,
  createdAt: string,
): KubeObject {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `swiss.plan.v1.${name}.v${revision}`,
      namespace,
      labels: { owner: 'swiss', name, version: String(revision), 'app.kubernetes.io/managed-by': 'swiss' },
      creationTimestamp: createdAt,
    },
    type: 'Opaque',
    data: Object.fromEntries(encoded),
  }
}

/** Policy and last decision of the autoscaler, for a release with a prefill and a decode pool. */
export function autoscaleConfigMap(
  { namespace, name }: { namespace: string; name: string },
  decidedAt: string,
  createdAt: string,
): KubeObject {
  const query = (pool: string) =>
    `avg(sglang_num_queue_reqs{namespace=$namespace,release=$release,pool="${pool}"})`
  const policy = {
    // Whoever switches it on sees it work; until then the sample stands still.
    enabled: false,
    pools: ['prefill', 'decode'].map((pool) => ({
      name: pool,
      min: 1,
      max: 4,
      query: query(pool),
      target: 8,
    })),
    cooldown: { up: '60s', down: '300s' },
  }
  const status = {
    at: decidedAt,
    action: 'none',
    holdReason: null,
    pools: ['prefill', 'decode'].map((pool) => ({ name: pool, replicas: 2, desired: 2, metric: 8 })),
    lastScaledAt: null,
  }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `swiss-autoscale-${name}`, namespace, creationTimestamp: createdAt },
    data: { 'policy.yaml': toYaml(policy), 'status.yaml': toYaml(status) },
  }
}
