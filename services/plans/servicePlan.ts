/** An LLMService as a plan, and a plan as an LLMService (contract, 1.5): the object itself is the plan. */
import type { KubeObject } from '../cluster/kinds.ts'
import {
  LAYERS,
  type LayerName,
  layerKey,
  mergeValues,
  PLAN_KEY,
  type PlanData,
  readLayers,
  readPlan,
  textAt,
} from './document.ts'
import { isPlanMap, type PlanMap, type PlanValue } from './scalars.ts'
import { writeYaml } from './yaml.ts'

const PREFIX = 'swiss.modelsphere.dev/'
const ANNOTATIONS = {
  hash: `${PREFIX}plan-hash`,
  catalog: `${PREFIX}catalog`,
  catalogName: `${PREFIX}catalog-name`,
  ref: `${PREFIX}catalog-ref`,
  digest: `${PREFIX}entry-digest`,
  profile: `${PREFIX}profile`,
  action: `${PREFIX}action`,
  note: `${PREFIX}note`,
} as const

/** The plan that an LLMService is; its ControllerRevisions too, with their spec and annotations put in its place. */
export function planOfService({ metadata, spec }: KubeObject): PlanData {
  const { namespace = '', name, annotations = {} } = metadata
  const said = (key: keyof typeof ANNOTATIONS): string | null => annotations[ANNOTATIONS[key]] || null
  const map = asMap(spec as PlanValue | undefined)
  const chart = asMap(map.chart)
  const model = asMap(map.model)
  const plan = known({
    apiVersion: 'plan.swiss/v1',
    release: { name, namespace },
    source: known({
      catalog: said('catalog'),
      catalogName: said('catalogName'),
      ref: said('ref'),
      model: textAt(model, 'name'),
      version: textAt(model, 'version'),
      variant: textAt(model, 'variant'),
      hf: textAt(model, 'hf'),
      digest: said('digest'),
    }),
    chart: known({
      name: textAt(chart, 'name'),
      version: textAt(chart, 'version'),
      repo: textAt(chart, 'repo'),
    }),
    engine: textAt(model, 'engine'),
    profile: said('profile'),
    hash: said('hash'),
  })
  const layers = LAYERS.flatMap((layer) => {
    const values = layersOf(map)
      .filter((entry) => entry.name === layer)
      .reduce<PlanMap>((merged, entry) => mergeValues(merged, asMap(entry.values)), {})
    return Object.keys(values).length === 0 ? [] : [[layerKey(layer), writeYaml(values)] as const]
  })
  return { [PLAN_KEY]: writeYaml(plan), ...Object.fromEntries(layers) }
}

/** Why the layers of an LLMService are not what a plan can say: sentences, none where they are. */
export function oddLayers({ spec }: KubeObject): string[] {
  const names = layersOf(asMap(spec as PlanValue | undefined)).map((entry) => textAt(entry, 'name') ?? '')
  const places = names.flatMap((name) => (isLayer(name) ? [LAYERS.indexOf(name)] : []))
  const odd: string[] = []
  const foreign = names.filter((name) => !isLayer(name))
  if (foreign.length > 0) {
    odd.push(
      `the LLMService has layers that are not shown or changed here, and are kept: ${foreign.join(', ')}`,
    )
  }
  if (places.some((place, index) => index > 0 && place <= (places[index - 1] as number))) {
    odd.push('the layers of the LLMService stand in another order than a plan has, and are put into that')
  }
  return odd
}

/**
 * The LLMService that a plan makes of the live one: chart, model, layers and the annotations of Swiss are the
 * plan's, everything foreign is kept (labels, other annotations, owners, finalizers, `suspend`, credentials of
 * the chart, layers of other names). For the spec of a revision pass the live object with that revision's spec.
 *
 * @throws Error when the plan cannot be read; whoever made it has read it
 */
export function serviceOfPlan(
  live: KubeObject,
  data: PlanData,
  { action, note }: { action: string; note: string | null },
): KubeObject {
  const plan = readPlan(data)
  const read = readLayers(data)
  if (plan.unreadable !== null) throw new Error(plan.unreadable)
  if (!read.ok) throw new Error(read.reason)
  const { chart, source } = plan
  const spec = asMap(live.spec as PlanValue | undefined)
  return {
    ...live,
    metadata: {
      ...live.metadata,
      annotations: changed(live.metadata.annotations ?? {}, {
        [ANNOTATIONS.hash]: plan.hash,
        [ANNOTATIONS.catalog]: source?.catalog ?? null,
        [ANNOTATIONS.catalogName]: source?.catalogName ?? null,
        [ANNOTATIONS.ref]: source?.ref ?? null,
        [ANNOTATIONS.digest]: plan.digest,
        [ANNOTATIONS.profile]: plan.profile,
        [ANNOTATIONS.action]: action,
        [ANNOTATIONS.note]: note,
      }),
    },
    spec: {
      ...spec,
      chart: changed(asMap(spec.chart), {
        name: chart?.name ?? null,
        version: chart?.version ?? null,
        repo: chart?.repo ?? null,
      }),
      ...modelOf(asMap(spec.model), {
        name: source?.model ?? null,
        version: source?.version ?? null,
        variant: source?.variant ?? null,
        hf: source?.hf ?? null,
        engine: plan.engine,
      }),
      layers: changedLayers(layersOf(spec), new Map(read.layers.map(({ name, values }) => [name, values]))),
    },
  }
}

/** Nothing where a service that has no model gets none. */
function modelOf(live: PlanMap, model: Record<string, string | null>): { model?: PlanMap } {
  const next = changed(live, model)
  return Object.keys(next).length === 0 ? {} : { model: next }
}

/** Layers in their order; one of another name stays behind the one that it stood behind. */
function changedLayers(live: readonly PlanMap[], layers: ReadonlyMap<LayerName, PlanMap>): PlanMap[] {
  const entries = new Map<number, PlanMap[]>()
  const put = (place: number, entry: PlanMap) => entries.set(place, [...(entries.get(place) ?? []), entry])
  for (const [name, values] of layers) {
    const before = live.find((entry) => entry.name === name)
    put(LAYERS.indexOf(name), { ...before, name, values })
  }
  let place = -1
  for (const entry of live) {
    const name = textAt(entry, 'name') ?? ''
    if (isLayer(name)) place = LAYERS.indexOf(name)
    else put(place, entry)
  }
  return [...entries].sort(([one], [other]) => one - other).flatMap(([, list]) => list)
}

/** `map` with the given keys set, or taken away where they are null. */
function changed<T extends PlanValue | string>(
  map: Readonly<Record<string, T>>,
  keys: Readonly<Record<string, T | null>>,
): Record<string, T> {
  const next = { ...map }
  for (const [key, value] of Object.entries(keys)) {
    if (value === null) delete next[key]
    else next[key] = value
  }
  return next
}

const isLayer = (name: string): name is LayerName => (LAYERS as readonly string[]).includes(name)

const asMap = (value: PlanValue | undefined): PlanMap => (isPlanMap(value) ? value : {})

const layersOf = (spec: PlanMap): PlanMap[] =>
  Array.isArray(spec.layers) ? spec.layers.filter((entry) => isPlanMap(entry)) : []

/** Without what nobody has said. */
const known = (map: PlanMap): PlanMap =>
  Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null))
