/** Archive Secrets: the plan of a revision, kept before an apply replaces it (contract, 1.2). */
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import type { PlanData } from './document.ts'
import { archiveName, boundedLabel } from './names.ts'

export interface Archive {
  name: string
  uid: string
  revision: number
}

/** What is asked of the cluster here. */
export type ArchiveClient = Pick<KubeClient, 'list' | 'delete'>

/** A release's archives by metadata alone, newest first. Throws KubeError. */
export async function listArchives(client: ArchiveClient, release: ReleaseRef): Promise<Archive[]> {
  const { items } = await client.list(Kinds.Secret, {
    namespace: release.namespace,
    labelSelector: `owner=swiss,name=${boundedLabel(release.name)}`,
    metadataOnly: true,
  })
  return items
    .flatMap((secret) => archiveOf(secret, release) ?? [])
    .sort((one, other) => other.revision - one.revision)
}

/**
 * Deletes all archives of a release, and nothing else: each is one by labels, name and namespace, and is
 * deleted as the very object that was listed. One that is gone already is fine; the others are tried even
 * when one fails. Throws the first KubeError at the end.
 */
export async function deleteArchives(client: ArchiveClient, release: ReleaseRef): Promise<void> {
  let failed: unknown
  for (const { name, uid } of await listArchives(client, release)) {
    try {
      const ref = { namespace: release.namespace, name }
      await client.delete(Kinds.Secret, ref, { preconditions: { uid } })
    } catch (error) {
      // Another uid bears the name now: not what was listed, so the next look decides about it.
      if (!isKubeError(error, 'NotFound', 'Conflict')) failed ??= error
    }
  }
  if (failed !== undefined) throw failed
}

/** The plan's texts in an archive Secret that was read whole. */
export function archiveData(secret: KubeObject): PlanData {
  const data: Record<string, string> = {}
  for (const [key, value] of Object.entries((secret.data as Record<string, unknown> | null) ?? {})) {
    if (typeof value === 'string') data[key] = Buffer.from(value, 'base64').toString('utf8')
  }
  return data
}

/**
 * The archive that a Secret is; null when it is none of this release. The selector has asked for the labels
 * already, but what is deleted because of them is looked at once more.
 */
export function archiveOf({ metadata }: KubeObject, release: ReleaseRef): Archive | null {
  const { name, namespace, uid, labels } = metadata
  if (labels?.owner !== 'swiss' || labels.name !== boundedLabel(release.name)) return null
  if (namespace !== release.namespace) return null
  const revision = labels.version ?? ''
  if (!/^\d{1,9}$/.test(revision) || name !== archiveName(release.name, revision)) return null
  return { name, uid, revision: Number(revision) }
}
