import type { RefusalOf } from './outcome.ts'

/** What a caller says the release must still be, against what it is; null when it fits. Pure. */
export function failedPrecondition(
  expected: { expectedRevision: number | null; expectedUid: string | null },
  current: { revision: number | null; uid: string | null },
): RefusalOf<'PreconditionFailed'> | null {
  const { expectedRevision, expectedUid } = expected
  const wrong: string[] = []
  if (expectedRevision !== null && expectedRevision !== current.revision) {
    wrong.push(`its revision is ${current.revision ?? 'none'}, not ${expectedRevision}`)
  }
  if (expectedUid !== null && expectedUid !== current.uid) {
    wrong.push(`its uid is ${current.uid ?? 'none'}, not ${expectedUid}`)
  }
  if (wrong.length === 0) return null
  return {
    kind: 'PreconditionFailed',
    message: `the release is not what was expected: ${wrong.join(', and ')}`,
    expectedRevision,
    currentRevision: current.revision,
    expectedUid,
    currentUid: current.uid,
  }
}
