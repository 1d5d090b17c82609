import type { JsonRecord } from './json.ts'
import { at, equalJson, isRecord, listOf, recordOf, withoutNulls } from './json.ts'
import type { KindDef } from './kinds.ts'
import { apiVersionOf } from './kinds.ts'
import type { StatusCause } from './status.ts'
import type { KubeObject } from './types.ts'
import { forbiddenField, invalidValue } from './validation.ts'

/** The part of an object a write is about: the whole, or a subresource. */
export type Subresource = '' | 'status' | 'finalize'

/**
 * A body as an object of its kind: typed kinds lose their nulls, empty maps and lists fall out of the
 * metadata, and the namespace is that of the path.
 */
export function asObject(def: KindDef, body: JsonRecord, namespace: string): KubeObject {
  const kept = recordOf(def.custom ? body : withoutNulls(body))
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = kept
  return {
    apiVersion: apiVersionOf(def),
    kind: def.kind,
    metadata: cleanMetadata(recordOf(metadata), def.namespaced ? namespace : ''),
    ...rest,
  }
}

const emptied = ['labels', 'annotations', 'finalizers', 'ownerReferences']

function cleanMetadata(metadata: JsonRecord, namespace: string): KubeObject['metadata'] {
  const clean: KubeObject['metadata'] = { name: '' }
  for (const [key, value] of Object.entries(metadata)) {
    if (value === null || value === undefined || key === 'selfLink' || key === 'managedFields') continue
    if (emptied.includes(key) && (Array.isArray(value) || isRecord(value))) {
      if (Object.keys(value).length === 0) continue
    }
    clean[key] = value
  }
  if (namespace === '') delete clean.namespace
  else clean.namespace = namespace
  return clean
}

/**
 * What stands in the store after an update: the parts that the write is about from the incoming object, the
 * others, and the metadata that only the server sets, from the stored one.
 */
export function mergedUpdate(
  def: KindDef,
  before: KubeObject,
  incoming: KubeObject,
  subresource: Subresource,
): KubeObject {
  if (subresource === 'finalize') {
    const { finalizers: _finalizers, ...spec } = recordOf(before.spec)
    const finalizers = listOf(at(incoming.spec, 'finalizers'))
    return { ...before, spec: finalizers.length === 0 ? spec : { ...spec, finalizers } }
  }
  if (subresource === 'status') {
    // A custom resource's status write leaves the metadata alone; built-in kinds take labels and annotations.
    const metadata = def.custom ? before.metadata : serverMetadata(before, incoming)
    return withStatus({ ...before, metadata }, incoming.status)
  }
  const merged = { ...incoming, metadata: serverMetadata(before, incoming) }
  const after = def.status ? withStatus(merged, before.status) : merged
  if (def.generation !== 'none' && !equalJson(counted(def, before), counted(def, after))) {
    const generation = (before.metadata.generation ?? 0) + 1
    return { ...after, metadata: { ...after.metadata, generation } }
  }
  return after
}

function withStatus(object: KubeObject, status: unknown): KubeObject {
  const { status: _old, ...rest } = object
  return status === undefined ? (rest as KubeObject) : ({ ...rest, status } as KubeObject)
}

/** What a change of makes a new generation. */
function counted(def: KindDef, object: KubeObject): unknown {
  if (def.generation === 'spec') return object.spec
  const { metadata: _metadata, status, ...body } = object
  return def.status ? body : { ...body, status }
}

const setByServer = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
]

function serverMetadata(before: KubeObject, incoming: KubeObject): KubeObject['metadata'] {
  const metadata = { ...incoming.metadata }
  for (const member of setByServer) {
    const value = before.metadata[member]
    if (value === undefined) delete metadata[member]
    else metadata[member] = value
  }
  return metadata
}

/** What an update may not do to the metadata. */
export function metadataUpdateCauses(before: KubeObject, incoming: KubeObject): StatusCause[] {
  const causes: StatusCause[] = []
  const given = incoming.metadata
  const had = before.metadata
  if (given.uid !== undefined && given.uid !== had.uid) {
    causes.push(invalidValue('metadata.uid', given.uid, 'field is immutable'))
  }
  if (given.deletionTimestamp !== undefined && had.deletionTimestamp === undefined) {
    causes.push(invalidValue('metadata.deletionTimestamp', given.deletionTimestamp, 'field is immutable'))
  }
  if (had.deletionTimestamp !== undefined) {
    const old = had.finalizers ?? []
    const added = (given.finalizers ?? []).filter((one) => !old.includes(one))
    if (added.length > 0) {
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((one) => JSON.stringify(one)).join(', ')}}`
      causes.push(forbiddenField('metadata.finalizers', why))
    }
  }
  return causes
}
