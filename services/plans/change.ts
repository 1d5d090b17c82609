/** Plans with a part of them changed; whatever is not changed stays byte for byte, and the hash is renewed. */
import type { ReleaseRef } from '../deployments/row.ts'
import { type LayerName, layerKey, mergeValues, PLAN_KEY, type PlanData } from './document.ts'
import { planHash } from './hash.ts'
import type { PlanMap } from './scalars.ts'
import { readYamlMap, writeYaml } from './yaml.ts'
import { editYaml, type YamlEdit } from './yamlEdit.ts'

/**
 * The plan with `form` merged onto its form layer: maps merge, everything else replaces, and a null stays, which
 * takes away what lies below it and the chart's default. A layer that says the same afterwards keeps its text.
 *
 * @throws Error when the form layer cannot be read; `readLayers` says so before
 */
export function withForm(data: PlanData, form: PlanMap): PlanData {
  const text = data[layerKey('form')] ?? ''
  const reading = readYamlMap(text)
  if (!reading.ok) throw new Error(`the form layer ${reading.reason}`)
  const merged = mergeValues(reading.value, form)
  return writeYaml(merged) === writeYaml(reading.value) ? withHash(data) : withLayer(data, 'form', merged)
}

/** The plan with a layer replaced; an empty one is taken away. */
export function withLayer(data: PlanData, layer: LayerName, values: PlanMap): PlanData {
  const { [layerKey(layer)]: _, ...rest } = data
  const empty = Object.keys(values).length === 0
  return withHash(empty ? rest : { ...rest, [layerKey(layer)]: writeYaml(values) })
}

/** The plan for another release or with another version of its chart; nothing else is changed. */
export function withIdentity(
  data: PlanData,
  { release, chartVersion }: { release: ReleaseRef; chartVersion: string | null },
): PlanData {
  const edits: YamlEdit[] = [
    [['release', 'name'], release.name],
    [['release', 'namespace'], release.namespace],
  ]
  if (chartVersion !== null) edits.push([['chart', 'version'], chartVersion])
  return withHash({ ...data, [PLAN_KEY]: editYaml(data[PLAN_KEY] ?? '', edits) })
}

/** The plan with its hash written into `plan.yaml`. */
export function withHash(data: PlanData): PlanData {
  const text = data[PLAN_KEY] ?? ''
  return { ...data, [PLAN_KEY]: editYaml(text, [[['hash'], planHash(data)]]) }
}
