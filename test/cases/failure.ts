import { explain } from './diff.ts'
import type { Json } from './json.ts'
import { matches } from './match.ts'

/** What a case expected and did not find; the message is for people and may have several lines. */
export class CaseFailure extends Error {}

/** Nothing when `got` is as expected, else the diff. */
export function difference(subject: string, expected: Json, got: Json | undefined): string | undefined {
  return matches(expected, got) ? undefined : explain(subject, expected, got)
}

/** GraphQL errors as lines below a diff. */
export function errorLines(errors: Json | undefined): string {
  if (!Array.isArray(errors) || errors.length === 0) return ''
  const lines = errors.map((error) => {
    const message = (error as { message?: Json } | null)?.message
    return `! GraphQL error: ${typeof message === 'string' ? message : JSON.stringify(error)}`
  })
  return `\n${lines.join('\n')}`
}
