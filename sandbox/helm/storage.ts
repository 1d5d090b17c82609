import type { KubeObject } from '../api/types.ts'
import { ApiError } from '../apiError.ts'
import type { KubeClient } from '../client.ts'
import { SECRET } from '../resourceTypes.ts'
import { HelmError } from './helmError.ts'
import { decodeRelease, encodeRelease, type HelmRelease } from './payload.ts'

/** One revision of a release as it is stored. */
export interface StoredRelease {
  secret: KubeObject
  release: HelmRelease
}

/** Name of the Secret that holds one revision. */
export const secretName = (name: string, revision: number) => `sh.helm.release.v1.${name}.v${revision}`

/**
 * The Secret of one revision, as helm's driver makes it.
 *
 * @param labels labels to keep; helm's own four win over them
 */
export function releaseSecret(
  release: HelmRelease,
  labels: Record<string, string>,
  data = encodeRelease(release),
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: secretName(release.name, release.version),
      namespace: release.namespace,
      labels: {
        ...labels,
        name: release.name,
        owner: 'helm',
        status: release.info.status,
        version: String(release.version),
      },
    },
    type: 'helm.sh/release.v1',
    data: { release: data },
  }
}

/** helm's storage of one namespace (all of them when it is empty). */
export interface ReleaseStorage {
  /** Every revision of a release, oldest first; null when there is no Secret at all. Unreadable ones are left out. */
  history(name: string): Promise<StoredRelease[] | null>
  /** Every revision of every release that can be read. */
  all(): Promise<StoredRelease[]>
  /**
   * Writes the next revision, after dropping old ones so that `max` stay (0: all); the deployed one always does.
   * Throws HelmError when it is there already, as when another helm was faster.
   */
  create(release: HelmRelease, labels: Record<string, string>, max: number): Promise<StoredRelease>
  /** Writes a revision anew, whatever stands there. */
  update(stored: StoredRelease): Promise<void>
  /** The Secrets of every revision of a release, unreadable ones too. */
  secrets(name: string): Promise<KubeObject[]>
  /** False when it was not there. */
  remove(stored: Pick<StoredRelease, 'secret'>): Promise<boolean>
}

export function createStorage(client: KubeClient, namespace: string): ReleaseStorage {
  async function query(labels: string): Promise<{ found: number; releases: StoredRelease[] }> {
    const { items } = await client.list(SECRET, { namespace, labelSelector: labels })
    const releases = items.flatMap((secret) => {
      try {
        return [{ secret, release: decodeRelease(String((secret.data as { release?: string })?.release)) }]
      } catch {
        return []
      }
    })
    return { found: items.length, releases }
  }

  async function prune(name: string, max: number): Promise<void> {
    const { releases } = await query(`name=${name},owner=helm`)
    const oldest = releases.sort((a, b) => a.release.version - b.release.version)
    const deployed = oldest.filter(({ release }) => release.info.status === 'deployed').at(-1)
    const droppable = oldest.filter((it) => it !== deployed)
    for (const { secret } of droppable.slice(0, Math.max(0, oldest.length - max))) {
      await client.delete(SECRET, namespace, secret.metadata.name)
    }
  }

  return {
    async history(name) {
      const { found, releases } = await query(`name=${name},owner=helm`)
      return found === 0 ? null : releases.sort((a, b) => a.release.version - b.release.version)
    },
    secrets: async (name) =>
      (await client.list(SECRET, { namespace, labelSelector: `name=${name},owner=helm` })).items,
    async create(release, labels, max) {
      if (max > 0) await prune(release.name, max - 1)
      const createdAt = String(Math.floor(Date.now() / 1000))
      try {
        const secret = releaseSecret(release, { ...labels, createdAt })
        return { secret: await client.create(SECRET, secret, namespace), release }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (error.reason === 'AlreadyExists') throw new HelmError('release: already exists')
        throw new HelmError(`create: failed to create: ${error.message}`)
      }
    },
    all: async () => (await query('owner=helm')).releases,
    async update({ secret, release }) {
      // helm sets modifiedAt and then lays the labels it has read over it, so an old value stays.
      const modifiedAt = String(Math.floor(Date.now() / 1000))
      await client.replace(SECRET, releaseSecret(release, { modifiedAt, ...secret.metadata.labels }))
    },
    async remove({ secret }) {
      const { name, namespace: own = namespace } = secret.metadata
      return client.delete(SECRET, own, name)
    },
  }
}
