/** A whole plan as a caller sends it: one document with chart, layers and identity. */
import { LAYERS, type LayerName, layerKey, mapAt, PLAN_KEY, type PlanData, textAt } from './document.ts'
import type { PlanIssue, Read } from './planInput.ts'
import { isPlanMap, type PlanMap, type PlanValue, setKey } from './scalars.ts'
import { writeYaml } from './yaml.ts'

const API_VERSION = 'plan.swiss/v1'
/** Parts of a plan that are text, by the map they are in. */
const TEXTS = {
  release: ['name', 'namespace'],
  source: ['catalog', 'catalogName', 'ref', 'model', 'version', 'variant', 'hf', 'digest'],
  chart: ['name', 'version', 'repo', 'path'],
} as const
const TOP_TEXTS = ['apiVersion', 'engine', 'profile'] as const
/** What clients that send back what they have read send too, and what is made anew. */
const IGNORED = ['hash', 'values', '__typename']
const KNOWN = [...Object.keys(TEXTS), ...TOP_TEXTS, 'createNamespace', 'layers', ...IGNORED]

export interface DocumentPlan {
  data: PlanData
  /** Name of the release it says it is of; null when it does not. */
  name: string | null
  namespace: string | null
  warnings: string[]
}

/**
 * The plan in a document: `plan.yaml` with `layers` in it, a list of `{name, values}` as everywhere in the API,
 * or a map of them by name. Keys that nobody here knows are kept.
 *
 * @param texts the same document with every scalar as the text it was written as (a version `1.10`); a JSON
 * document itself, where a number in place of a text is an issue
 */
export function readPlanDocument(
  document: PlanMap,
  texts: PlanMap,
  path: readonly string[],
): Read<DocumentPlan> {
  const issues: PlanIssue[] = []
  const say = (keys: readonly string[], message: string) =>
    void issues.push({ path: [...path, ...keys], message })
  const text = (map: PlanMap | null, key: string, keys: readonly string[]): string | null => {
    const value = map !== null && Object.hasOwn(map, key) ? map[key] : null
    if (typeof value === 'string' || value === null || value === undefined) return textAt(map, key)
    say([...keys, key], 'must be a text')
    return null
  }

  const plan: PlanMap = { apiVersion: API_VERSION }
  const apiVersion = text(texts, 'apiVersion', [])
  if (apiVersion !== null && apiVersion !== API_VERSION) say(['apiVersion'], `must be ${API_VERSION}`)
  for (const [part, keys] of Object.entries(TEXTS)) {
    const given = texts[part]
    if (given !== undefined && given !== null && !isPlanMap(given)) say([part], 'must be a map')
    const map = mapAt(texts, part)
    const known: PlanMap = {}
    for (const key of keys) {
      const value = text(map, key, [part])
      if (value !== null) known[key] = value
    }
    if (Object.keys(known).length > 0) plan[part] = known
  }
  for (const key of ['engine', 'profile']) {
    const value = text(texts, key, [])
    if (value !== null) plan[key] = value
  }
  const { createNamespace } = document
  if (typeof createNamespace === 'boolean') plan.createNamespace = createNamespace
  else if (createNamespace !== undefined && createNamespace !== null)
    say(['createNamespace'], 'must be true or false')

  const foreign = Object.keys(document).filter((key) => !KNOWN.includes(key))
  for (const key of foreign) setKey(plan, key, document[key] as PlanValue)
  if (document.layers === undefined && document.values !== undefined) {
    say(['values'], 'are the layers merged and say nothing themselves; send layers, form say')
  }
  const layers = readDocumentLayers(document.layers ?? null, say)
  if (issues.length > 0) return { issues }

  const data: Record<string, string> = { [PLAN_KEY]: writeYaml(plan) }
  for (const [name, values] of layers)
    if (Object.keys(values).length > 0) data[layerKey(name)] = writeYaml(values)
  return {
    value: {
      data,
      name: textAt(mapAt(plan, 'release'), 'name'),
      namespace: textAt(mapAt(plan, 'release'), 'namespace'),
      warnings:
        foreign.length === 0
          ? []
          : [`the plan has keys that are kept and mean nothing here: ${foreign.join(', ')}`],
    },
  }
}

function readDocumentLayers(
  layers: PlanValue,
  say: (keys: readonly string[], message: string) => void,
): Map<LayerName, PlanMap> {
  const found = new Map<LayerName, PlanMap>()
  const put = (
    name: PlanValue | undefined,
    values: PlanValue | undefined,
    nameAt: string[],
    valuesAt: string[],
  ) => {
    const layer = LAYERS.find((one) => one === name)
    if (layer === undefined) return say(nameAt, `must be one of ${LAYERS.join(', ')}`)
    if (found.has(layer)) return say(nameAt, 'is there twice')
    if (values !== undefined && values !== null && !isPlanMap(values)) return say(valuesAt, 'must be a map')
    found.set(layer, values ?? {})
  }
  if (isPlanMap(layers)) {
    for (const [name, values] of Object.entries(layers)) put(name, values, ['layers', name], ['layers', name])
  } else if (Array.isArray(layers)) {
    for (const [index, entry] of layers.entries()) {
      const at = ['layers', String(index)]
      if (isPlanMap(entry)) put(entry.name, entry.values, [...at, 'name'], [...at, 'values'])
      else say(at, 'must be a map with name and values')
    }
  } else if (layers !== null) say(['layers'], 'must be a list of layers')
  return found
}
