import { isDeepStrictEqual } from 'node:util'

export type JsonRecord = Record<string, unknown>

/** True for a JSON object, not for null and lists. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value itself when it is a JSON object, else an empty one. */
export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}

/** The value when it is a text, else the empty text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value when it is a finite number, else undefined. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The list, or an empty one. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Equal as JSON: the order of keys does not matter. */
export function equalJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other)
}

/** The JSON text of a value, the same whatever the order of its keys. */
export const orderedJson = (value: unknown) => JSON.stringify(ordered(value))

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, ordered(inner)]))
}

/** A deep copy that holds nothing but JSON: undefined members fall away. */
export function jsonCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

/** The value at a path of member names, undefined where a step is missing. */
export function at(value: unknown, ...path: string[]): unknown {
  let here = value
  for (const step of path) {
    if (!isRecord(here)) return undefined
    here = here[step]
  }
  return here
}

/** Without members that are null, at any depth: typed Kubernetes kinds never write them. List elements stay. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  const kept: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    if (member !== null) kept.push([key, withoutNulls(member)])
  }
  return Object.fromEntries(kept)
}
