/** Value layers to be merged, for whoever compares our merging with helm's. */
import fc from 'fast-check'
import type { PlanMap, PlanValue } from '../../../services/plans/scalars.ts'

/** Texts that a reader of YAML 1.1 or 1.2 could take for something else, were they not quoted. */
const ODD = [
  'yes',
  'off',
  '0755',
  '1e3',
  '1_000',
  '~',
  'null',
  '',
  ' x',
  'x: y',
  '# x',
  '<<',
  '12:30',
  '2031-01-01',
  '{{ .Values }}',
  'a\nb\n',
  '\t',
  '9007199254740993',
]
const KEYS = ['a', 'b', 'c.d', 'on', '1', 'global']

const { map } = fc.letrec<{ map: PlanMap; value: PlanValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<PlanValue>(null, true, false, 0, -1, 1.5, 1e21, 9007199254740993n, -9007199254740993n),
    fc.constantFrom(...ODD),
    fc.string({ unit: 'grapheme', maxLength: 5 }),
    fc.array(tie('value'), { maxLength: 3 }),
    { weight: 3, arbitrary: tie('map') },
  ),
  map: fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 4 }),
}))

/** Two to five layers that speak of the same keys, so that they get into each other's way. */
export const valueLayers: fc.Arbitrary<PlanMap[]> = fc.array(map, { minLength: 2, maxLength: 5 })
