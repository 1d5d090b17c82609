import { KubeError } from './errors.ts'
import type { Kind, ObjectRef } from './kinds.ts'

/** `/api/v1/namespaces/<ns>/pods` and the like; without a namespace the collection over all of them. */
export function collectionPath(kind: Kind, namespace: string | undefined): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`
  if (!kind.namespaced || namespace === undefined || namespace === '') return `${root}/${kind.plural}`
  return `${root}/namespaces/${segment(namespace, 'namespace')}/${kind.plural}`
}

/**
 * The path of one object.
 *
 * @throws KubeError `Invalid` for a name that cannot be one: an empty one would address the collection, and
 * one with a slash another object
 */
export function objectPath(kind: Kind, ref: ObjectRef, subresource?: string): string {
  if (kind.namespaced && !ref.namespace) throw new KubeError('Invalid', `a ${kind.kind} needs a namespace`)
  const tail = subresource === undefined ? '' : `/${segment(subresource, 'subresource')}`
  return `${collectionPath(kind, ref.namespace)}/${segment(ref.name, 'name')}${tail}`
}

/** How an object is called in messages: `ConfigMap team-a/swiss-plan-chat`. */
export function describeRef(
  kind: Kind,
  ref: { namespace?: string | undefined; name?: string | undefined },
): string {
  const name = [ref.namespace, ref.name].filter((part) => part !== undefined && part !== '').join('/')
  return name === '' ? kind.kind : `${kind.kind} ${name}`
}

/** The media type of a read; metadata-only ones have no payload, so no secret value ever gets here. */
export function accept(metadataOnly: boolean | undefined, form: '' | 'List'): string {
  return metadataOnly
    ? `application/json;as=PartialObjectMetadata${form};v=v1;g=meta.k8s.io`
    : 'application/json'
}

/** The rule of apimachinery's IsValidPathSegmentName. */
function segment(value: string, what: string): string {
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new KubeError('Invalid', `${JSON.stringify(value)} cannot be the ${what} of an object`)
  }
  return encodeURIComponent(value)
}
