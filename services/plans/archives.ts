/** Archive Secrets: the plan of a revision, kept before an apply replaces it (contract, 1.2). */
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError, KubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import type { PlanData } from './document.ts'
import { archiveName, boundedLabel, MANAGED_BY, MANAGED_BY_LABEL } from './names.ts'

export interface Archive {
  name: string
  uid: string
  revision: number
}

/** What is asked of the cluster here. */
export type ArchiveClient = Pick<KubeClient, 'list' | 'delete'>

/** How many archives of a release are kept (`planHistory`). */
const KEPT = 5
/** Conflicts in a row after which a write is given up. */
const ATTEMPTS = 5

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
  await deleteThese(client, release, await listArchives(client, release))
}

/** As `deleteArchives`, of all but the newest five. */
export async function pruneArchives(client: ArchiveClient, release: ReleaseRef): Promise<void> {
  await deleteThese(client, release, (await listArchives(client, release)).slice(KEPT))
}

/**
 * Keeps the plan of a revision. One that is there of that revision (an apply that died after it had written it,
 * or an earlier life of the name) is written over. Throws KubeError; a Secret of that name which is no archive of
 * this release is left alone, and is one too.
 */
export async function writeArchive(
  client: Pick<KubeClient, 'get' | 'create' | 'update'>,
  release: ReleaseRef,
  revision: number,
  plan: PlanData,
): Promise<void> {
  const name = archiveName(release.name, revision)
  const ref = { namespace: release.namespace, name }
  const data = Object.fromEntries(
    Object.entries(plan).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  )
  const labels = {
    owner: 'swiss',
    name: boundedLabel(release.name),
    version: String(revision),
    [MANAGED_BY_LABEL]: MANAGED_BY,
  }
  for (let attempt = 1; ; attempt++) {
    try {
      await client.create(Kinds.Secret, { metadata: { ...ref, labels }, type: 'Opaque', data })
      return
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error
    }
    try {
      const found = await client.get(Kinds.Secret, ref)
      if (archiveOf(found, release)?.revision !== revision) {
        throw new KubeError('Invalid', `the Secret ${name} is there, and is no archive of this release`)
      }
      await client.update(Kinds.Secret, { ...found, data })
      return
    } catch (error) {
      if (!isKubeError(error, 'NotFound', 'Conflict') || attempt >= ATTEMPTS) throw error
    }
  }
}

/** The plan that was kept of a revision; null when there is none. Throws KubeError. */
export async function readArchive(
  client: Pick<KubeClient, 'get'>,
  release: ReleaseRef,
  revision: number,
): Promise<PlanData | null> {
  try {
    const name = archiveName(release.name, revision)
    const found = await client.get(Kinds.Secret, { namespace: release.namespace, name })
    return archiveOf(found, release)?.revision === revision ? archiveData(found) : null
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return null
    throw error
  }
}

async function deleteThese(client: ArchiveClient, release: ReleaseRef, archives: Archive[]): Promise<void> {
  let failed: unknown
  for (const { name, uid } of archives) {
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
