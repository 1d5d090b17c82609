import type { KubeObject } from '../api/types.ts'
import type { KubeClient } from '../client.ts'
import { SECRET } from '../resourceTypes.ts'
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

  return {
    async history(name) {
      const { found, releases } = await query(`name=${name},owner=helm`)
      return found === 0 ? null : releases.sort((a, b) => a.release.version - b.release.version)
    },
    secrets: async (name) =>
      (await client.list(SECRET, { namespace, labelSelector: `name=${name},owner=helm` })).items,
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
