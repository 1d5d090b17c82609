/** The refusals that several steps share, each with its one sentence. */
import type { KubeError } from '../cluster/errors.ts'
import { type ReleaseRef, type Row, releaseKey } from '../deployments/row.ts'
import type { RefusalOf } from './outcome.ts'

export const notFound = (ref: ReleaseRef): RefusalOf<'ReleaseNotFound'> => ({
  kind: 'ReleaseNotFound',
  message: `there is no release ${releaseKey(ref)}`,
  ...ref,
})

export const conflict = (ref: ReleaseRef): RefusalOf<'Conflict'> => ({
  kind: 'Conflict',
  message: `${releaseKey(ref)} was written by others while it was to be uninstalled; try again`,
})

/** @param held by whom the lock is held */
export function busy(
  ref: ReleaseRef,
  { holder, since }: { holder: string; since: string | null },
): RefusalOf<'ApplyInProgress'> {
  return {
    kind: 'ApplyInProgress',
    message: `another operation on ${releaseKey(ref)} is in progress; try again when it is over`,
    holder,
    since,
  }
}

/** A 403 is about Swiss's own rights, never about the caller. */
export const unavailable = (error: KubeError): RefusalOf<'ClusterUnavailable'> => ({
  kind: 'ClusterUnavailable',
  message: `the cluster cannot be asked: ${error.message}`,
  retryable: error.retryable,
})

export const readOnly = (): RefusalOf<'ReadOnly'> => ({
  kind: 'ReadOnly',
  message: 'this gateway is read-only',
})

/** @param row as the view has it now */
export const uninstalling = (ref: ReleaseRef, row: Row | null): RefusalOf<'ReleaseUninstalling'> => ({
  kind: 'ReleaseUninstalling',
  message: `${releaseKey(ref)} is being uninstalled; wait until it is gone`,
  row,
})

/** @param path of the field that is wrong, below the mutation's arguments */
export const invalid = (path: string[], message: string): RefusalOf<'InvalidInput'> => ({
  kind: 'InvalidInput',
  message,
  issues: [{ path, message }],
})

export const changedMeanwhile = (ref: ReleaseRef): RefusalOf<'Conflict'> => ({
  kind: 'Conflict',
  message: `${releaseKey(ref)} was written by others in the same moment; look again, and try again`,
})

export const noRevision = (ref: ReleaseRef, revision: number): RefusalOf<'RevisionNotFound'> => ({
  kind: 'RevisionNotFound',
  message: `nothing is kept of revision ${revision} of ${releaseKey(ref)}, so it cannot be brought back`,
  revision,
})
