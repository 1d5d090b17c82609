import type { KubeObject } from '../api/types.ts'
import type { KubeClient } from '../client.ts'
import { type ManifestHead, manifestHeads } from '../helm/manifest.ts'
import { DEPLOYMENT, type ResourceType, SERVICE } from '../resourceTypes.ts'
import type { HelmRecord } from './records.ts'
import { releaseOf } from './records.ts'

/** An object of a release, as it stood when it was read. */
export interface Owned {
  type: ResourceType
  object: KubeObject
}

/** The objects that records name, in helm's order of deletion, each once. Throws for a record that cannot be read. */
export function headsOf(records: HelmRecord[]): ManifestHead[] {
  const heads = manifestHeads(records.map((record) => releaseOf(record).manifest).join('\n')).flat()
  return [...new Map(heads.map((head) => [idOf(head), head])).values()]
}

export const idOf = ({ apiVersion, kind, name }: Pick<ManifestHead, 'apiVersion' | 'kind' | 'name'>) =>
  `${apiVersion} ${kind} ${name}`

/** Those of them that are there and belong to the release, as helm knows its own. */
export async function readOwned(
  client: KubeClient,
  release: { namespace: string; name: string },
  heads: ManifestHead[],
): Promise<Owned[]> {
  const owned: Owned[] = []
  for (const head of heads) {
    if (head.annotations['helm.sh/resource-policy'] === 'keep') continue
    const type = await typeOf(client, head)
    const object = type && (await client.get(type, head.namespace || release.namespace, head.name))
    if (type && object && isOwn(object, release)) owned.push({ type, object })
  }
  return owned
}

export function isOwn({ metadata }: KubeObject, { namespace, name }: { namespace: string; name: string }) {
  const { labels = {}, annotations = {} } = metadata
  return (
    labels['app.kubernetes.io/managed-by'] === 'Helm' &&
    annotations['meta.helm.sh/release-name'] === name &&
    annotations['meta.helm.sh/release-namespace'] === namespace
  )
}

/** Deletes the very objects that were read, in the background; others under their names stay. */
export async function deleteOwned(client: KubeClient, owned: Owned[]): Promise<void> {
  for (const { type, object } of owned) {
    const { namespace = '', name, uid } = object.metadata
    await client.delete(type, namespace, name, { propagation: 'Background', ...(uid ? { uid } : {}) })
  }
}

/** Undefined when the kind is not served (any more): there is nothing of it then. */
export async function typeOf(
  client: KubeClient,
  { apiVersion, kind }: Pick<ManifestHead, 'apiVersion' | 'kind'>,
): Promise<ResourceType | undefined> {
  const known = [SERVICE, DEPLOYMENT].find((type) => type.apiVersion === apiVersion && type.kind === kind)
  return known ?? client.discover(apiVersion, kind)
}
