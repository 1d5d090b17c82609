/** The refusals that several steps of an uninstall share, each with its one sentence. */
import type { KubeError } from '../cluster/errors.ts'
import { type ReleaseRef, releaseKey } from '../deployments/row.ts'
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
