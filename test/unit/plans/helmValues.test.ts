import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  LAYERS,
  type LayerName,
  layerKey,
  mergeLayers,
  mergeValues,
  readLayers,
} from '../../../services/plans/document.ts'
import type { PlanMap } from '../../../services/plans/scalars.ts'
import { writeYaml } from '../../../services/plans/yaml.ts'
import { asHelmShows, readRecordings } from '../support/helmValues.ts'
import { valueLayers } from '../support/valueLayers.ts'

const merged = (texts: readonly string[]) => {
  const read = readLayers(
    Object.fromEntries(texts.map((text, at) => [layerKey(LAYERS[at] as LayerName), text])),
  )
  if (!read.ok) throw new Error(read.reason)
  return mergeLayers(read.layers)
}

test.each(readRecordings().map((one) => [one.what, one] as const))(
  'as helm merges: %s',
  (_what, { layers, values }) => {
    expect(asHelmShows(merged(layers))).toEqual(values)
  },
)

test('layers that are written and read again merge to the same values', () => {
  fc.assert(
    fc.property(valueLayers, (layers) => {
      expect(merged(layers.map(writeYaml))).toEqual(layers.reduce<PlanMap>(mergeValues, {}))
    }),
  )
})
