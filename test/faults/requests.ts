/** What callers have asked for, what they were answered, and what the audit log must say of it. */
import type { Run } from '../../services/audit/run.ts'

export const UNINSTALL = `mutation ($input: UninstallReleaseInput!) {
  result: uninstallRelease(input: $input) {
    __typename
    ... on UninstallReleasePayload { alreadyInProgress run { id outcome note } }
    ... on UserError { message }
  }
}`

export interface Request {
  note: string
  /** `namespace/name` as it was asked for. */
  key: string
  wrong: string | null
  /** Undefined while it is under way, null when no answer came. */
  answer?: { typename: string; already: boolean } | null
}

/** What an answer of the mutation says; null when it is no answer. */
export function readAnswer(response: { data?: unknown; errors?: unknown }): Request['answer'] {
  const result = (response.data as { result?: { __typename: string; alreadyInProgress?: boolean } } | null)
    ?.result
  return result ? { typename: result.__typename, already: result.alreadyInProgress === true } : null
}

/** Each broken rule about the audit log, in words: one final row per accepted uninstall, none for a refusal. */
export function auditProblems(requests: readonly Request[], rows: readonly Run[]): string[] {
  const problems: string[] = []
  const of = (note: string) => rows.filter((row) => row.note === note)
  for (const row of rows) {
    if (row.outcome === 'STARTED') problems.push(`the row ${row.id} (${row.note}) is still open`)
    const asked = requests.some(({ note }) => note === row.note)
    if (!asked && !row.id.startsWith('unasked-')) problems.push(`nobody asked for the row ${row.id}`)
    if (row.id.startsWith('unasked-')) problems.push(...twice(row, rows))
  }
  for (const { note, key, answer } of requests) {
    const mine = of(note)
    const said = mine.map(({ outcome }) => outcome).join(', ') || 'none'
    if (answer === undefined || answer === null) {
      if (mine.length > 1) problems.push(`${note} of ${key} (no answer) has ${mine.length} rows: ${said}`)
    } else if (answer.typename === 'UninstallReleasePayload' && !answer.already) {
      if (mine.length !== 1) problems.push(`${note} of ${key} (accepted) has not one row: ${said}`)
    } else if (answer.typename === 'HelmFailedError') {
      // A repeat that waited for the end is told of the failure of the first.
      if (mine.length > 1) problems.push(`${note} of ${key} (helm failed) has ${mine.length} rows: ${said}`)
    } else if (mine.length > 0) {
      const what = answer.already ? 'already in progress' : answer.typename
      problems.push(`${note} of ${key} (${what}) has a row: ${said}`)
    }
  }
  return problems
}

/** A deletion that Swiss was asked for and finished is not one that nobody asked for as well. */
function twice(row: Run, rows: readonly Run[]): string[] {
  const { id, objectUid } = row
  const other = rows.find(
    (one) =>
      one.id !== id && one.objectUid === objectUid && objectUid !== null && one.outcome === 'SUCCEEDED',
  )
  return other ? [`${id} is a second row for the end that ${other.note} has already`] : []
}
