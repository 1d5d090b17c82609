/** Values as callers send them, JSON or YAML, made into values of a plan; or what is wrong with them. */
import { isPlanMap, type PlanMap, type PlanValue } from './scalars.ts'
import { readYamlMap } from './yaml.ts'

/** One thing that is wrong, and where: keys, outermost first. */
export interface PlanIssue {
  path: string[]
  message: string
}

export type Read<T> = { value: T } | { issues: PlanIssue[] }

/** As deep as YAML may be. */
const MAX_DEPTH = 200
/** Told at most: a list of numbers that are all too large says it no better with the thousandth. */
const MAX_ISSUES = 20

/** The values in a JSON input; `path` leads to it. A bigint in it is an integer that JSON readers would round. */
export function readJsonValues(input: unknown, path: readonly string[], yamlField: string): Read<PlanMap> {
  if (!isPlanMap(input as PlanValue))
    return { issues: [{ path: [...path], message: 'must be a JSON object' }] }
  const issues: PlanIssue[] = []
  look(input as PlanValue, path, issues, (value) => {
    return typeof value === 'bigint'
      ? `is an integer beyond 2^53, of which readers of JSON lose digits; send it as YAML, with ${yamlField}`
      : null
  })
  return issues.length > 0 ? { issues } : { value: input as PlanMap }
}

/** The values in a YAML input, with every digit. */
export function readYamlValues(text: string, path: readonly string[]): Read<PlanMap> {
  const reading = readYamlMap(text)
  if (!reading.ok) return { issues: [{ path: [...path], message: reading.reason }] }
  const issues: PlanIssue[] = []
  look(reading.value, path, issues, () => null)
  return issues.length > 0 ? { issues } : { value: reading.value }
}

function look(
  value: PlanValue,
  path: readonly string[],
  issues: PlanIssue[],
  forbids: (value: PlanValue) => string | null,
  depth = 0,
): void {
  if (issues.length >= MAX_ISSUES) return
  const message = depth > MAX_DEPTH ? 'is nested too deeply' : (forbids(value) ?? impossible(value))
  if (message !== null) issues.push({ path: [...path], message })
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      look(item, [...path, String(index)], issues, forbids, depth + 1)
  } else if (isPlanMap(value)) {
    for (const [key, item] of Object.entries(value)) look(item, [...path, key], issues, forbids, depth + 1)
  }
}

/** What no values file can say so that helm takes it. */
function impossible(value: PlanValue): string | null {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'is a number that JSON does not know'
  if (typeof value === 'string' && !value.isWellFormed()) return 'is no Unicode text'
  if (!isPlanMap(value)) return null
  return Object.keys(value).every((key) => key.isWellFormed()) ? null : 'has a key that is no Unicode text'
}
