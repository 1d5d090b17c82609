/** The plan document in a plan ConfigMap or an archive Secret, and its value layers (contract, 1.1 and 7). */
import type { Chart, PlanSource, ReleaseRef } from '../deployments/row.ts'
import { isPlanMap, type PlanMap, type PlanValue, setKey } from './scalars.ts'
import { readYamlMap } from './yaml.ts'

/** The text keys of a plan: `data` of its ConfigMap, or the decoded data of an archive Secret. */
export type PlanData = Readonly<Record<string, string>>

export const PLAN_KEY = 'plan.yaml'
export const STATUS_KEY = 'status.yaml'

/** Value layers in the order in which they are merged; each lies in `<name>.yaml`. */
export const LAYERS = ['catalog', 'site', 'derived', 'form', 'edit'] as const
export type LayerName = (typeof LAYERS)[number]
export const layerKey = (layer: LayerName): string => `${layer}.yaml`

/** `plan.yaml`: the plan without its layers. Whatever is absent or has an unexpected shape is null. */
export interface PlanDocument {
  /** Why it cannot be read (never quotes it); null when it can. Then all else is null. */
  unreadable: string | null
  release: ReleaseRef | null
  chart: Chart | null
  /** A chart by path, instead of one from a repository. */
  chartPath: string | null
  source: PlanSource | null
  /** Digest of the catalog entry it was made from. */
  digest: string | null
  engine: string | null
  profile: string | null
  createNamespace: boolean | null
  hash: string | null
}

export interface PlanLayer {
  name: LayerName
  values: PlanMap
}

const API_VERSION = 'plan.swiss/v1'

/** Reads `plan.yaml`. It never throws: a plan that cannot be read is a document with a reason. */
export function readPlan(data: PlanData): PlanDocument {
  const text = data[PLAN_KEY]
  if (text === undefined) return unreadablePlan('has no plan.yaml')
  // Everything in there is text, digit for digit: a chart version 1.10 is not the number 1.1.
  const reading = readYamlMap(text, { asText: true })
  if (!reading.ok) return unreadablePlan(`plan.yaml ${reading.reason}`)
  const plan = reading.value
  if (Object.keys(plan).length === 0) return unreadablePlan('plan.yaml is empty')
  const apiVersion = textAt(plan, 'apiVersion')
  if (apiVersion !== null && apiVersion !== API_VERSION) {
    return unreadablePlan(`plan.yaml has another apiVersion than ${API_VERSION}`)
  }
  const engine = textAt(plan, 'engine')
  const createNamespace = textAt(plan, 'createNamespace')
  return {
    unreadable: null,
    release: releaseOf(mapAt(plan, 'release')),
    chart: chartOf(mapAt(plan, 'chart')),
    chartPath: textAt(mapAt(plan, 'chart'), 'path'),
    source: sourceOf(mapAt(plan, 'source'), engine),
    digest: textAt(mapAt(plan, 'source'), 'digest'),
    engine,
    profile: textAt(plan, 'profile'),
    createNamespace: createNamespace === null ? null : /^(true|yes|on)$/i.test(createNamespace),
    hash: textAt(plan, 'hash'),
  }
}

/** A plan that cannot be read, for this reason. */
export function unreadablePlan(reason: string | null): PlanDocument {
  return {
    unreadable: reason,
    release: null,
    chart: null,
    chartPath: null,
    source: null,
    digest: null,
    engine: null,
    profile: null,
    createNamespace: null,
    hash: null,
  }
}

/** The non-empty layers in their order. The reason of a failure names the layer and never quotes it. */
export function readLayers(
  data: PlanData,
): { ok: true; layers: PlanLayer[] } | { ok: false; reason: string } {
  const layers: PlanLayer[] = []
  for (const name of LAYERS) {
    const text = data[layerKey(name)]
    if (text === undefined || text === '') continue
    const reading = readYamlMap(text)
    if (!reading.ok) return { ok: false, reason: `${layerKey(name)} ${reading.reason}` }
    if (Object.keys(reading.value).length > 0) layers.push({ name, values: reading.value })
  }
  return { ok: true, layers }
}

/**
 * The values a chart gets from layers, the last of which wins: maps merge, everything else (lists, scalars,
 * null) replaces. A null stays: it makes helm drop the chart's own default. Nothing given is changed.
 */
export function mergeLayers(layers: readonly PlanLayer[]): PlanMap {
  return layers.reduce<PlanMap>((merged, layer) => mergeValues(merged, layer.values), {})
}

/** `over` merged onto `under`, as one layer onto another. */
export function mergeValues(under: PlanMap, over: PlanMap): PlanMap {
  const merged: PlanMap = {}
  for (const [key, value] of Object.entries(under)) setKey(merged, key, value)
  for (const [key, value] of Object.entries(over)) {
    const before = Object.hasOwn(under, key) ? under[key] : undefined
    setKey(merged, key, isPlanMap(value) && isPlanMap(before) ? mergeValues(before, value) : value)
  }
  return merged
}

/** A map under a key; null where there is none. */
export function mapAt(map: PlanMap | null, key: string): PlanMap | null {
  const value: PlanValue | undefined = map !== null && Object.hasOwn(map, key) ? map[key] : undefined
  return isPlanMap(value) ? value : null
}

/** A non-empty text under a key, a number or boolean as its text; null where there is none. */
export function textAt(map: PlanMap | null, key: string): string | null {
  const value = map !== null && Object.hasOwn(map, key) ? map[key] : null
  if (value === null || value === undefined || value === '' || typeof value === 'object') return null
  return String(value)
}

function releaseOf(release: PlanMap | null): ReleaseRef | null {
  const name = textAt(release, 'name')
  const namespace = textAt(release, 'namespace')
  return name === null || namespace === null ? null : { namespace, name }
}

function chartOf(chart: PlanMap | null): Chart | null {
  const name = textAt(chart, 'name')
  return name === null ? null : { name, version: textAt(chart, 'version'), repo: textAt(chart, 'repo') }
}

function sourceOf(source: PlanMap | null, engine: string | null): PlanSource | null {
  if (source === null && engine === null) return null
  return {
    catalog: textAt(source, 'catalog'),
    catalogName: textAt(source, 'catalogName'),
    ref: textAt(source, 'ref'),
    model: textAt(source, 'model'),
    version: textAt(source, 'version'),
    variant: textAt(source, 'variant'),
    hf: textAt(source, 'hf'),
    engine,
  }
}
