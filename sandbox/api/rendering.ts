import type { KindDef } from './kinds.ts'
import type { KubeObject } from './types.ts'

interface Texts {
  full?: string
  item?: string
  partial?: string
}

// Stored objects are never changed in place, so a text stays right as long as its object lives.
const texts = new WeakMap<KubeObject, Texts>()

function textsOf(object: KubeObject): Texts {
  const known = texts.get(object)
  if (known !== undefined) return known
  const made: Texts = {}
  texts.set(object, made)
  return made
}

/** The object as JSON. */
export function fullText(object: KubeObject): string {
  const known = textsOf(object)
  known.full ??= JSON.stringify(object)
  return known.full
}

/** The object as an element of a list: built-in kinds carry neither `kind` nor `apiVersion` there, custom ones do. */
export function itemText(def: KindDef, object: KubeObject): string {
  if (def.custom) return fullText(object)
  const known = textsOf(object)
  if (known.item === undefined) {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = object
    known.item = JSON.stringify(rest)
  }
  return known.item
}

/** `meta.k8s.io/v1 PartialObjectMetadata`. */
export function partialText(object: KubeObject): string {
  const known = textsOf(object)
  known.partial ??= JSON.stringify(partialOf(object))
  return known.partial
}

export function partialOf(object: KubeObject): Record<string, unknown> {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata }
}

/** `metadata` of a list. */
export interface ListMeta {
  resourceVersion: string
  continue?: string
  remainingItemCount?: number
}

/** A list of whole objects. */
export function listText(def: KindDef, listMeta: ListMeta, objects: KubeObject[]): string {
  // Lists of custom resources always say `continue`, empty at the end.
  const meta = def.custom ? { continue: '', ...listMeta } : listMeta
  const apiVersion = def.group === '' ? def.version : `${def.group}/${def.version}`
  const items = objects.map((object) => itemText(def, object)).join(',')
  return `{"kind":"${def.kind}List","apiVersion":"${apiVersion}","metadata":${JSON.stringify(meta)},"items":[${items}]}`
}

/** A metadata-only list; an empty one has no list at all, as Go writes a nil slice. */
export function partialListText(meta: ListMeta, objects: KubeObject[]): string {
  const items = objects.length === 0 ? 'null' : `[${objects.map(partialText).join(',')}]`
  return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":${JSON.stringify(meta)},"items":${items}}`
}
