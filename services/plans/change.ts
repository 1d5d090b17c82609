/** Plans with a part of them changed; whatever is not changed stays byte for byte, and the hash is renewed. */
import type { ReleaseRef } from '../deployments/row.ts'
import { isSame } from './differences.ts'
import {
  LAYERS,
  type LayerName,
  layerKey,
  mergeValues,
  PLAN_KEY,
  type PlanData,
  type PlanLayer,
  readLayers,
} from './document.ts'
import { hashOf } from './hash.ts'
import type { PlanMap } from './scalars.ts'
import { writeYaml } from './yaml.ts'
import { editYaml, type YamlEdit } from './yamlEdit.ts'

/** What is absent or null stays. */
export interface PlanChange {
  /** Merged onto the form layer: a null stays, and takes away what lies below it and the chart's default. */
  form?: PlanMap | null
  /** Replaces the edit layer; an empty map takes it away. */
  edits?: PlanMap | null
  /** For which release the plan is. */
  release?: ReleaseRef
  chartVersion?: string | null
}

/** A plan and its layers as they have been read: reading a large one once more takes long. */
export interface ReadPlan {
  data: PlanData
  layers: readonly PlanLayer[]
}

/** The plan with `form` merged onto its form layer, as the autoscaler does. See `changePlan`. */
export const withForm = (data: PlanData, form: PlanMap): PlanData => changePlan(data, { form })

/**
 * The plan with parts of it changed.
 *
 * @throws Error when a layer cannot be read; `readLayers` says so before
 */
export function changePlan(data: PlanData, change: PlanChange): PlanData {
  const read = readLayers(data)
  if (!read.ok) throw new Error(`the plan cannot be read: ${read.reason}`)
  return changeRead({ data, layers: read.layers }, change).data
}

/** As `changePlan`. A layer that says the same afterwards keeps its text. */
export function changeRead(plan: ReadPlan, { form, edits, release, chartVersion }: PlanChange): ReadPlan {
  let next = plan
  if (form) next = withLayer(next, 'form', mergeValues(valuesOf(next, 'form'), form))
  if (edits) next = withLayer(next, 'edit', edits)
  const texts: YamlEdit[] = []
  if (release) {
    texts.push([['release', 'name'], release.name])
    texts.push([['release', 'namespace'], release.namespace])
  }
  if (chartVersion) texts.push([['chart', 'version'], chartVersion])
  const before = next.data[PLAN_KEY] ?? ''
  const text = texts.length === 0 ? before : editYaml(before, texts)
  const hash = hashOf(text, (layer) => valuesOf(next, layer))
  return { ...next, data: { ...next.data, [PLAN_KEY]: editYaml(text, [[['hash'], hash]]) } }
}

/** The plan with its hash written into `plan.yaml`. */
export const withHash = (data: PlanData): PlanData => changePlan(data, {})

function withLayer(plan: ReadPlan, name: LayerName, values: PlanMap): ReadPlan {
  if (isSame(valuesOf(plan, name), values)) return plan
  const { [layerKey(name)]: _, ...data } = plan.data
  const others = plan.layers.filter((layer) => layer.name !== name)
  if (Object.keys(values).length === 0) return { data, layers: others }
  const layers = [...others, { name, values }].sort(
    (one, other) => LAYERS.indexOf(one.name) - LAYERS.indexOf(other.name),
  )
  return { data: { ...data, [layerKey(name)]: writeYaml(values) }, layers }
}

const valuesOf = (plan: ReadPlan, name: LayerName): PlanMap =>
  plan.layers.find((layer) => layer.name === name)?.values ?? {}
