/** Plans with a part of them changed; whatever is not changed stays byte for byte, and the hash is renewed. */
import type { ReleaseRef } from '../deployments/row.ts'
import { type LayerName, layerKey, mergeValues, PLAN_KEY, type PlanData } from './document.ts'
import { planHash } from './hash.ts'
import type { PlanMap } from './scalars.ts'
import { readYamlMap, writeYaml } from './yaml.ts'
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

/** The plan with `form` merged onto its form layer, as the autoscaler does. See `changePlan`. */
export const withForm = (data: PlanData, form: PlanMap): PlanData => changePlan(data, { form })

/**
 * The plan with parts of it changed. A layer that says the same afterwards keeps its text.
 *
 * @throws Error when the form layer is to be changed and cannot be read; `readLayers` says so before
 */
export function changePlan(data: PlanData, change: PlanChange): PlanData {
  let next = data
  if (change.form) next = withLayer(next, 'form', mergeValues(readLayer(data, 'form'), change.form))
  if (change.edits) next = withLayer(next, 'edit', change.edits)
  const edits: YamlEdit[] = []
  if (change.release) {
    edits.push([['release', 'name'], change.release.name])
    edits.push([['release', 'namespace'], change.release.namespace])
  }
  if (change.chartVersion) edits.push([['chart', 'version'], change.chartVersion])
  const text = next[PLAN_KEY] ?? ''
  return withHash(edits.length === 0 ? next : { ...next, [PLAN_KEY]: editYaml(text, edits) })
}

/** The plan with its hash written into `plan.yaml`. */
export function withHash(data: PlanData): PlanData {
  const text = data[PLAN_KEY] ?? ''
  return { ...data, [PLAN_KEY]: editYaml(text, [[['hash'], planHash(data)]]) }
}

function withLayer(data: PlanData, layer: LayerName, values: PlanMap): PlanData {
  const { [layerKey(layer)]: before = '', ...rest } = data
  if (Object.keys(values).length === 0) return rest
  const written = writeYaml(values)
  const reading = readYamlMap(before)
  const same = reading.ok && writeYaml(reading.value) === written
  return { ...rest, [layerKey(layer)]: same ? before : written }
}

function readLayer(data: PlanData, layer: LayerName): PlanMap {
  const reading = readYamlMap(data[layerKey(layer)] ?? '')
  if (!reading.ok) throw new Error(`the ${layer} layer ${reading.reason}`)
  return reading.value
}
