import { equalJson } from '../api/json.ts'
import type { KubeObject } from '../api/types.ts'
import { isMap, type Values } from '../charts/values.ts'
import type { KubeClient } from '../client.ts'
import type { ResourceType } from '../resourceTypes.ts'
import { findType, ownershipProblems } from './deleteObjects.ts'
import { HelmError } from './helmError.ts'
import { documentsOf } from './manifest.ts'
import type { HelmRelease } from './payload.ts'

/** One object that is written or deleted on the way from one manifest to the next. */
export interface ObjectStep {
  /** False for one that is the same in both manifests: it is written again all the same, as helm does. */
  changes: boolean
  run(): Promise<void>
}

interface Document {
  object: KubeObject
  namespace: string
}

const idOf = ({ object: { apiVersion, kind, metadata }, namespace }: Document) =>
  `${apiVersion} ${kind} ${namespace}/${metadata.name}`

/**
 * What leads from the objects of one release to those of the next: creations and patches in the order of the
 * manifest, then deletions of what the next one does not have. Everything is read before anything is written.
 *
 * @param current null for a first install
 * @param action for helm's words: `install` or `update`; undefined for a rollback, which does not look whose they are
 * Throws HelmError when an object that would be new is there already and belongs to somebody else.
 */
export async function planObjects(
  client: KubeClient,
  current: HelmRelease | null,
  next: HelmRelease,
  action?: 'install' | 'update',
): Promise<ObjectStep[]> {
  const before = new Map((await documents(current)).map((it) => [idOf(it), it]))
  const after = new Map((await documents(next)).map((it) => [idOf(it), it]))
  const steps: ObjectStep[] = []
  for (const [id, document] of after) {
    const { object, namespace } = document
    const { name } = object.metadata
    const type = await findType(client, object.apiVersion, object.kind)
    const live = await client.get(type, namespace, name)
    const old = before.get(id)?.object
    if (live && !old && action) refuseForeign(live, next, action)
    const wanted = asOwned(document, next)
    steps.push({
      changes: !live || !old || !equalJson(old, object),
      run: async () => {
        if (!live) await client.create(type, wanted, namespace)
        else
          await client.patch(
            type,
            namespace,
            name,
            patchOf((old ?? {}) as Values, wanted as unknown as Values),
          )
      },
    })
  }
  for (const [id, { object, namespace }] of before) {
    if (after.has(id) || object.metadata.annotations?.['helm.sh/resource-policy'] === 'keep') continue
    const type = await findType(client, object.apiVersion, object.kind)
    const live = await client.get(type, namespace, object.metadata.name)
    if (live && ownershipProblems(live, next).length === 0) steps.push(deletion(client, type, live))
  }
  return steps
}

async function documents(release: HelmRelease | null): Promise<Document[]> {
  if (!release) return []
  const objects = await documentsOf(release.manifest)
  return objects.map((object) => ({ object, namespace: object.metadata.namespace || release.namespace }))
}

function deletion(client: KubeClient, type: ResourceType, { metadata }: KubeObject): ObjectStep {
  const { namespace = '', name, uid } = metadata
  const options = { propagation: 'Background' as const, ...(uid ? { uid } : {}) }
  return { changes: true, run: async () => void (await client.delete(type, namespace, name, options)) }
}

function refuseForeign(live: KubeObject, release: HelmRelease, action: string): void {
  const problems = ownershipProblems(live, release)
  if (problems.length === 0) return
  const what = `${live.kind} "${live.metadata.name}" in namespace "${live.metadata.namespace}"`
  throw new HelmError(
    `unable to continue with ${action}: ${what} exists and cannot be imported into the current release: invalid ownership metadata; ${problems.join('; ')}`,
  )
}

/** With the metadata by which helm knows its own. */
function asOwned({ object, namespace }: Document, release: HelmRelease): KubeObject {
  const { labels, annotations, ...metadata } = object.metadata
  return {
    ...object,
    metadata: {
      ...metadata,
      namespace,
      labels: { ...labels, 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: {
        ...annotations,
        'meta.helm.sh/release-name': release.name,
        'meta.helm.sh/release-namespace': release.namespace,
      },
    },
  }
}

/**
 * A merge patch: everything that is wanted, and null for what was in the manifest before and is not any more. What
 * others have added to the live object stays, but for lists, which are replaced.
 */
function patchOf(before: Values, wanted: Values): Values {
  const patch: Values = {}
  for (const key of Object.keys(before)) if (!Object.hasOwn(wanted, key)) patch[key] = null
  for (const [key, value] of Object.entries(wanted)) {
    const old = before[key]
    patch[key] = isMap(value) ? patchOf(isMap(old) ? old : {}, value) : value
  }
  return patch
}
