/** Value files and what the real helm has made of them, with a chart that has no defaults. `npm run e2e -- values` compares. */
import { readFileSync } from 'node:fs'
import { isPlanMap, type PlanValue } from '../../../services/plans/scalars.ts'

export interface Recording {
  what: string
  /** As files, in their order. */
  layers: string[]
  values: Record<string, unknown>
}

export const readRecordings = (): Recording[] =>
  JSON.parse(readFileSync(new URL('../../fixtures/recordings/helm-values.json', import.meta.url), 'utf8'))

/** A value as helm's `toJson` has it: helm itself reads a large integer as a double. */
export function asHelmShows(value: PlanValue): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(asHelmShows)
  if (!isPlanMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asHelmShows(item)]))
}
