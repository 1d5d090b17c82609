import type { KubeObject } from '../api/types.ts'
import { ApiError } from '../apiError.ts'
import type { KubeClient } from '../client.ts'
import {
  CONFIG_MAP,
  DEPLOYMENT,
  JOB,
  POD,
  type ResourceType,
  SECRET,
  STATEFUL_SET,
} from '../resourceTypes.ts'
import { type ManifestHead, manifestHeads } from './manifest.ts'
import type { HelmRelease } from './payload.ts'

/** Background, Foreground or Orphan: what happens to the objects behind the ones that are deleted. */
export type Propagation = 'Background' | 'Foreground' | 'Orphan'

const wellKnown = [POD, CONFIG_MAP, SECRET, DEPLOYMENT, STATEFUL_SET, JOB]

/**
 * Deletes the objects of a release's manifest, kind by kind. Objects with the policy `keep`, and since helm 4.3
 * those that other hands own, stay; the answer tells of them in helm's words (empty when there are none).
 * What is gone already is no error. Throws when a document cannot be read or a deletion fails.
 */
export async function deleteObjects(
  client: KubeClient,
  release: HelmRelease,
  propagation: Propagation,
): Promise<string> {
  const kept: string[] = []
  const foreign: string[] = []
  const unverified: string[] = []
  const types = new Map<string, Promise<ResourceType>>()
  const typeOf = ({ apiVersion, kind }: ManifestHead) => {
    const key = `${apiVersion} ${kind}`
    const known = types.get(key) ?? findType(client, apiVersion, kind)
    types.set(key, known)
    return known
  }

  const groups = manifestHeads(release.manifest)
  // Before anything is deleted: one kind that is not served stops an uninstall.
  for (const head of groups.flat()) await typeOf(head)
  const owned: { type: ResourceType; head: ManifestHead; namespace: string }[][] = []
  for (const group of groups) {
    const mine: (typeof owned)[number] = []
    for (const head of group) {
      const label = `[${head.kind}] ${head.name}`
      const type = await typeOf(head)
      const namespace = head.namespace || release.namespace
      if (head.annotations['helm.sh/resource-policy']?.trim().toLowerCase() === 'keep') kept.push(label)
      else {
        const verdict = await ownership(client, type, namespace, head.name, release)
        if (verdict === 'own') mine.push({ type, head, namespace })
        else if (verdict === 'foreign') foreign.push(label)
        else if (verdict !== 'gone') unverified.push(`${label}: ${verdict.message}`)
      }
    }
    owned.push(mine)
  }
  for (const group of owned) {
    await Promise.all(
      group.map(({ type, head, namespace }) => client.delete(type, namespace, head.name, { propagation })),
    )
  }
  return [
    section('These resources were kept due to the resource policy', kept),
    section(
      `${foreign.length} resource(s) were not deleted because they are not owned by this release`,
      foreign,
    ),
    section(
      `${unverified.length} resource(s) were not deleted because their ownership could not be verified`,
      unverified,
    ),
  ]
    .filter((text) => text !== '')
    .join('\n')
}

const section = (title: string, lines: string[]) =>
  lines.length === 0 ? '' : `${title}:\n${lines.join('\n')}\n`

/** The type behind a manifest's apiVersion and kind; throws in helm's words when it is not served. */
export async function findType(client: KubeClient, apiVersion: string, kind: string): Promise<ResourceType> {
  const known = wellKnown.find((type) => type.apiVersion === apiVersion && type.kind === kind)
  const type = known ?? (await client.discover(apiVersion, kind))
  if (type) return type
  throw new Error(
    `unable to build kubernetes objects for delete: resource mapping not found: no matches for kind "${kind}" in version "${apiVersion}"`,
  )
}

async function ownership(
  client: KubeClient,
  type: ResourceType,
  namespace: string,
  name: string,
  release: HelmRelease,
): Promise<'own' | 'foreign' | 'gone' | ApiError> {
  try {
    const object = await client.get(type, namespace, name)
    if (!object) return 'gone'
    return ownershipProblems(object, release).length === 0 ? 'own' : 'foreign'
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Why an object is not a release's, in helm's words; empty when it is. */
export function ownershipProblems(
  { metadata: { labels = {}, annotations = {} } }: KubeObject,
  release: { namespace: string; name: string },
): string[] {
  const problem = (kind: string, map: Record<string, string>, key: string, value: string) => {
    const actual = map[key]
    if (actual === value) return []
    const why =
      actual === undefined
        ? `missing key "${key}": must be set to "${value}"`
        : `key "${key}" must equal "${value}": current value is "${actual}"`
    return [`${kind} validation error: ${why}`]
  }
  return [
    ...problem('label', labels, 'app.kubernetes.io/managed-by', 'Helm'),
    ...problem('annotation', annotations, 'meta.helm.sh/release-name', release.name),
    ...problem('annotation', annotations, 'meta.helm.sh/release-namespace', release.namespace),
  ]
}
