/** The small pieces that every part of a case is made of. */
import { z } from 'zod'
import { builtinKinds } from '../../sandbox/api/kinds.ts'
import { isMap, type Json } from './json.ts'
import { regexOf } from './match.ts'
import { chartOf, durationMs, objectRef, timeMs } from './refs.ts'

// A misspelt kind would make an `absent:` or a `max: 0` that can never fail.
const knownKinds = new Set([...builtinKinds.map(({ kind }) => kind), 'LLMService', 'LLMCanary'])

export const text = z.string().min(1)
export const json: z.ZodType<Json> = z.json() as z.ZodType<Json>
export const texts = z.record(z.string(), z.string())
export const uint = z.int().min(0)
export const kind = text.refine((value) => knownKinds.has(value), 'is not a kind that is known here')

export const ref = text.refine((value) => {
  const parts = objectRef(value)
  return parts !== undefined && knownKinds.has(parts.kind)
}, 'is not Kind/namespace/name or Kind//name of a kind that is known here')

export const duration = text.refine(
  (value) => durationMs(value) !== undefined,
  'is not a duration such as 30s, 5m or 1h',
)
export const time = text.refine((value) => timeMs(value) !== undefined, 'is not an RFC 3339 time')
export const chart = text.refine((value) => chartOf(value) !== undefined, 'is not NAME-VERSION')

export const manifest = z.looseObject({
  apiVersion: text,
  kind,
  metadata: z.looseObject({ name: text, namespace: text.optional() }),
})
export type Manifest = z.infer<typeof manifest>

/** What must hold of an answer or of the world. It must say something, and its regular expressions compile. */
export const expectation = json.superRefine((value, issues) => {
  if (value === null || (isMap(value) && Object.keys(value).length === 0)) {
    issues.addIssue({ code: 'custom', message: 'expects nothing' })
  }
  checkPatterns(value, issues, [])
})

function checkPatterns(value: Json, issues: z.RefinementCtx, path: (string | number)[]): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkPatterns(item, issues, [...path, index])
  } else if (isMap(value)) {
    for (const [key, item] of Object.entries(value)) checkPatterns(item, issues, [...path, key])
  }
  try {
    regexOf(value)
  } catch (error) {
    issues.addIssue({ code: 'custom', path, message: (error as Error).message })
  }
}

/** True when at least one key says something: it is there, and no empty list. */
export const saysSomething = (value: object): boolean =>
  Object.values(value).some((item) => item !== undefined && !(Array.isArray(item) && item.length === 0))

/** Parses data, or throws an Error with one line per mistake that names its place. */
export function parse<T extends z.ZodType>(schema: T, data: unknown, place: string): z.infer<T> {
  const result = schema.safeParse(data)
  if (result.success) return result.data
  throw new Error(result.error.issues.map((issue) => describe(issue, place)).join('\n'))
}

function describe(issue: z.core.$ZodIssue, place: string): string {
  const path = issue.path.reduce<string>(
    (before, key) =>
      typeof key === 'number'
        ? `${before}[${key}]`
        : before === ''
          ? String(key)
          : `${before}.${String(key)}`,
    place,
  )
  const message =
    issue.code === 'unrecognized_keys'
      ? `unknown key ${issue.keys.map((key) => `\`${key}\``).join(', ')}`
      : issue.message
  return path === '' ? message : `${path}: ${message}`
}
