import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { refusedCreation, refusedDeletion } from './admission.ts'
import { normalised, withDefaults, withSpecDefaults } from './defaults.ts'
import type { DeleteOptions } from './deletion.ts'
import { decideDeletion, endsDeletion } from './deletion.ts'
import { equalJson, isRecord, recordOf, textOf } from './json.ts'
import type { KindDef } from './kinds.ts'
import { apiVersionOf } from './kinds.ts'
import { randomSuffix } from './names.ts'
import { decodeProblem, kindCauses } from './objectRules.ts'
import type { Objects } from './objects.ts'
import { keyOf } from './objects.ts'
import { jsonPatch, mergePatch } from './patching.ts'
import type { StatusBody } from './status.ts'
import * as status from './status.ts'
import { timestamp } from './times.ts'
import type { KubeObject } from './types.ts'
import type { Subresource } from './updating.ts'
import { asObject, mergedUpdate, metadataUpdateCauses } from './updating.ts'
import { invalidValue, metadataCauses, shapeProblem } from './validation.ts'

/** What a write answers: the object with its code, or a Status. */
export type Answer = { code: number; object: KubeObject } | { status: StatusBody }

/** Where a write goes. */
export interface Target {
  def: KindDef
  namespace: string
  name: string
  subresource: Subresource
  /** Everything is checked and answered as usual, nothing is stored. */
  dryRun: boolean
}

export const mergePatchType = 'application/merge-patch+json'
export const jsonPatchType = 'application/json-patch+json'

/** The writing verbs of the API, with the rules a real API server applies to them. */
export class Writes {
  private readonly objects: Objects
  private readonly clock: Clock
  /** Says why a CustomResourceDefinition cannot be had here; undefined when it can. */
  private readonly crdProblem: (crd: KubeObject) => string | undefined

  constructor(objects: Objects, clock: Clock, crdProblem: (crd: KubeObject) => string | undefined) {
    this.objects = objects
    this.clock = clock
    this.crdProblem = crdProblem
  }

  create(target: Target, body: unknown): Answer {
    const { def, namespace } = target
    const wrong = bodyProblem(def, body, namespace)
    if (wrong !== undefined) return { status: status.badRequest(wrong) }
    const given = asObject(def, recordOf(body), namespace)
    const undecodable = decodeProblem(given)
    if (undecodable !== undefined) return { status: status.badRequest(undecodable) }
    const { generateName } = given.metadata
    const name = given.metadata.name || (generateName ? `${textOf(generateName)}${randomSuffix()}` : '')
    const refused = refusedCreation(this.objects, def, namespace, name)
    if (refused !== undefined) return { status: refused }
    if ((given.metadata.resourceVersion ?? '') !== '') {
      return { status: status.failure(500, '', 'resourceVersion should not be set on objects to be created') }
    }
    const object = this.fresh(def, { ...given, metadata: { ...given.metadata, name } })
    const causes = [...metadataCauses(def, object), ...kindCauses(object, undefined)]
    const problem = def.kind === 'CustomResourceDefinition' ? this.crdProblem(object) : undefined
    if (problem !== undefined) causes.push(invalidValue('spec.names.kind', name, problem))
    if (causes.length > 0) return { status: status.invalid(def, name, causes) }
    if (this.objects.get(def.kind, keyOf(object.metadata.namespace, name)) !== undefined) {
      return { status: status.alreadyExists(def, name) }
    }
    return { code: 201, object: target.dryRun ? object : this.objects.put(object) }
  }

  /** PUT. */
  update(target: Target, body: unknown): Answer {
    const { def, namespace, name } = target
    const wrong = bodyProblem(def, body, namespace)
    if (wrong !== undefined) return { status: status.badRequest(wrong) }
    const incoming = asObject(def, recordOf(body), namespace)
    const before = this.objects.get(def.kind, keyOf(incoming.metadata.namespace, name))
    const undecodable = decodeProblem(incoming, before)
    if (undecodable !== undefined) return { status: status.badRequest(undecodable) }
    if (incoming.metadata.name === '') {
      const why = `the name of the object (${name} based on URL) was undeterminable: name must be provided`
      return { status: status.badRequest(why) }
    }
    if (incoming.metadata.name !== name) {
      return { status: status.badRequest(otherName(incoming.metadata.name, name)) }
    }
    const { uid, resourceVersion } = incoming.metadata
    if (before === undefined && !(def.createOnUpdate && target.subresource === '')) {
      return { status: status.notFound(def, name) }
    }
    if (uid !== undefined && uid !== '' && uid !== before?.metadata.uid) {
      const key = `/registry/${def.plural}${keyOf(`/${namespace}`, name)}`
      const failed = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before?.metadata.uid ?? ''}`
      const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`
      return { status: status.conflict(def, name, why) }
    }
    if (before === undefined) {
      const { resourceVersion: _version, ...metadata } = incoming.metadata
      return this.create(target, { ...incoming, metadata: { ...metadata, name } })
    }
    if (unset(resourceVersion)) {
      if (!def.unconditionalUpdate) return { status: status.versionRequired(def, name) }
    } else if (resourceVersion !== before.metadata.resourceVersion) {
      return { status: status.staleVersion(def, name) }
    }
    return this.store(target, before, incoming)
  }

  /** PATCH, as a merge patch or a JSON patch. */
  patch(target: Target, contentType: string, patch: unknown): Answer {
    const { def, namespace, name } = target
    const before = this.objects.get(def.kind, keyOf(def.namespaced ? namespace : '', name))
    if (before === undefined) return { status: status.notFound(def, name) }
    let patched: unknown
    if (contentType === mergePatchType) {
      if (!isRecord(patch)) return { status: status.badRequest('error decoding patch: it is no object') }
      patched = mergePatch(before, patch)
    } else {
      const result = jsonPatch(before, patch)
      if ('failure' in result && result.failure === 'malformed') {
        return { status: status.badRequest(`error decoding patch: ${result.why}`) }
      }
      if ('failure' in result) {
        const told = 'the server rejected our request due to an error in our request'
        return { status: { ...status.failure(422, 'Invalid', told), details: {} } }
      }
      patched = result.value
    }
    const shape = shapeProblem(patched)
    if (shape !== undefined) return { status: status.unreadablePatch(shape) }
    const wrong = bodyProblem(def, patched, namespace)
    if (wrong !== undefined) return { status: status.badRequest(wrong) }
    const incoming = asObject(def, recordOf(patched), namespace)
    const undecodable = decodeProblem(incoming, before)
    if (undecodable !== undefined) return { status: status.unreadablePatch(undecodable) }
    if (incoming.metadata.name !== name) {
      return { status: status.badRequest(otherName(incoming.metadata.name, name)) }
    }
    if (unset(incoming.metadata.resourceVersion)) {
      if (!def.unconditionalUpdate) return { status: status.versionRequired(def, name) }
    } else if (incoming.metadata.resourceVersion !== before.metadata.resourceVersion) {
      return { status: status.staleVersion(def, name) }
    }
    return this.store(target, before, incoming)
  }

  delete(target: Target, options: DeleteOptions): Answer {
    const { def, name } = target
    const key = keyOf(def.namespaced ? target.namespace : '', name)
    const object = this.objects.get(def.kind, key)
    if (object === undefined) return { status: status.notFound(def, name) }
    const refused = refusedDeletion(def, name)
    if (refused !== undefined) return { status: refused }
    const deletion = decideDeletion(def, object, options, this.clock.now())
    if (deletion.outcome === 'refused') return { status: deletion.status }
    const next = deletion.outcome === 'kept' ? deletion.object : deletion.last
    if (target.dryRun) return { code: 200, object: next }
    const written = equalJson(next, object) ? object : this.objects.put(next)
    if (deletion.outcome === 'kept') return { code: 200, object: written }
    const last = this.objects.drop(def.kind, key) ?? written
    if (def.returnsDeleted) return { code: 200, object: last }
    return { status: status.deletedStatus(def, name, object.metadata.uid) }
  }

  /** An object as it is first stored: what the client may not set is set, the rest completed. */
  private fresh(def: KindDef, given: KubeObject): KubeObject {
    const now = this.clock.now()
    const { deletionTimestamp, deletionGracePeriodSeconds, resourceVersion, generation, ...kept } =
      given.metadata
    const metadata: KubeObject['metadata'] = { ...kept, uid: randomUUID(), creationTimestamp: timestamp(now) }
    if (def.generation !== 'none') metadata.generation = 1
    const object: KubeObject = { ...given, metadata }
    // A node registers with its status; everything else starts with the server's.
    if (def.status && def.kind !== 'Node') delete object.status
    return normalised(withDefaults(object, now))
  }

  private store(target: Target, before: KubeObject, incoming: KubeObject): Answer {
    const { def, name, subresource } = target
    const complete = subresource === '' ? withSpecDefaults(incoming) : incoming
    const after = normalised(mergedUpdate(def, before, complete, subresource))
    const causes = metadataUpdateCauses(before, incoming)
    if (!equalJson(before.metadata, after.metadata)) causes.push(...metadataCauses(def, after))
    causes.push(...kindCauses(after, before))
    if (causes.length > 0) return { status: status.invalid(def, name, causes) }
    if (target.dryRun || equalJson(before, after)) return { code: 200, object: after }
    if (endsDeletion(before, after)) {
      this.objects.drop(def.kind, keyOf(after.metadata.namespace, name))
      return { code: 200, object: after }
    }
    return { code: 200, object: this.objects.put(after) }
  }
}

function unset(version: string | undefined): boolean {
  return version === undefined || version === '' || version === '0'
}

function otherName(given: string, name: string): string {
  return `the name of the object (${given}) does not match the name on the URL (${name})`
}

/** Why a body cannot be taken for this path (400); undefined when it can. */
function bodyProblem(def: KindDef, body: unknown, namespace: string): string | undefined {
  const shape = shapeProblem(body)
  if (shape !== undefined) return shape
  const { apiVersion, kind, metadata } = recordOf(body)
  if (def.custom && (kind === undefined || apiVersion === undefined)) {
    return `Object 'Kind' is missing: apiVersion and kind must be set`
  }
  if (kind !== undefined && kind !== def.kind) {
    return `${textOf(kind)} in version "${textOf(apiVersion)}" cannot be handled as a ${def.kind}`
  }
  if (apiVersion !== undefined && apiVersion !== apiVersionOf(def)) {
    return `the API version in the data (${textOf(apiVersion)}) does not match the expected API version (${apiVersionOf(def)})`
  }
  const given = textOf(recordOf(metadata).namespace)
  if (!def.namespaced || given === '' || given === namespace) return undefined
  return 'the namespace of the provided object does not match the namespace sent on the request'
}
