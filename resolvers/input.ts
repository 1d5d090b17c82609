import { z } from 'zod'
import type { InputIssue } from '../services/releases/outcome.ts'
import { invalidInput } from './errors.ts'

/** Most edges of a page, and most entries of a list in the input. */
export const MAX_ENTRIES = 500
/** Longest text that names something: as long as the longest name in Kubernetes. */
const MAX_TEXT = 253

const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/
const SUBDOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/

/** A text of bounded length. */
export const atMost = (length: number) =>
  z.string().max(length, { abort: true, error: `must have at most ${length} characters` })

/** The name of a namespace: a DNS label. */
export const namespaceName = atMost(63).regex(LABEL, {
  error: "must be a DNS label: lower-case letters, digits and '-', a letter or digit at both ends",
})

/** The name of a release: a DNS subdomain, since an LLMService may have dots in its name. */
export const releaseName = atMost(MAX_TEXT).regex(SUBDOMAIN, {
  error:
    "must be a DNS subdomain: lower-case letters, digits, '-' and '.', a letter or digit at both ends of each part",
})

export const text = atMost(MAX_TEXT)

/** An entry that may be left out or null, which is the same. */
export const optional = <T extends z.ZodType>(type: T) =>
  type.nullish().transform((value) => value ?? undefined)

/** As `optional`, for what a service takes as null. */
export const nullable = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? null)

export const listOf = <T extends z.ZodType>(type: T) =>
  optional(z.array(type).max(MAX_ENTRIES, { error: `must have at most ${MAX_ENTRIES} entries` }))

export const integer = (least: number, most: number) => {
  const error =
    most === Number.MAX_SAFE_INTEGER ? `must be ${least} or more` : `must be between ${least} and ${most}`
  return z.number().min(least, { error }).max(most, { error })
}

/** `first` or `last`: how many edges a page has. */
export const pageSize = integer(0, MAX_ENTRIES)

/** All issues of an input, with the names of arguments and fields that lead there. */
const issuesOf = (error: z.ZodError): InputIssue[] =>
  error.issues.map(({ path, message }) => ({ path: path.map(String), message }))

/** One sentence about the first issue. What was sent is never repeated: it may be long, or a secret. */
function sentence([issue]: InputIssue[]): string {
  const where = issue?.path.join('.') ?? ''
  return where === '' ? `${issue?.message}.` : `${where} ${issue?.message}.`
}

/** The arguments as the services take them; throws the GraphQL error of a query that makes no sense. */
export function parseArgs<T extends z.ZodType>(type: T, args: unknown): z.output<T> {
  const parsed = type.safeParse(args)
  if (parsed.success) return parsed.data
  throw invalidInput(sentence(issuesOf(parsed.error)))
}

/** As `parseArgs`, for a mutation, whose refusals are values. */
export function parseInput<T extends z.ZodType>(
  type: T,
  args: unknown,
): { data: z.output<T> } | { refusal: { kind: 'InvalidInput'; message: string; issues: InputIssue[] } } {
  const parsed = type.safeParse(args)
  if (parsed.success) return { data: parsed.data }
  const issues = issuesOf(parsed.error)
  return { refusal: { kind: 'InvalidInput', message: sentence(issues), issues } }
}
