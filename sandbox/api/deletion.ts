import { at, equalJson, listOf, recordOf } from './json.ts'
import type { KindDef } from './kinds.ts'
import type { StatusBody } from './status.ts'
import { unmetPrecondition } from './status.ts'
import { timeOf, timestamp } from './times.ts'
import type { KubeObject } from './types.ts'

/** `meta/v1 DeleteOptions`, as far as they are looked at. */
export interface DeleteOptions {
  gracePeriodSeconds?: number
  propagationPolicy?: string
  uid?: string
  resourceVersion?: string
}

/** What a DELETE does: refuse, keep the object (changed or as it is), or let it go (after a last change). */
export type Deletion =
  | { outcome: 'refused'; status: StatusBody }
  | { outcome: 'kept'; object: KubeObject }
  | { outcome: 'gone'; last: KubeObject }

/** The finalizer that holds a CustomResourceDefinition until its objects are gone. */
export const crdCleanup = 'customresourcecleanup.apiextensions.k8s.io'

/** Decides one DELETE, by the rules of the API server's registry (`rest.BeforeDelete`, `Store.Delete`). */
export function decideDeletion(
  def: KindDef,
  object: KubeObject,
  options: DeleteOptions,
  now: number,
): Deletion {
  const refused = refusal(def, object, options)
  if (refused !== undefined) return { outcome: 'refused', status: refused }
  const first = object.metadata.deletionTimestamp === undefined
  if (def.kind === 'Namespace') {
    if (first) return { outcome: 'kept', object: terminatingNamespace(object, now) }
    if (listOf(at(object.spec, 'finalizers')).length > 0) return { outcome: 'kept', object }
  }
  if (def.kind === 'CustomResourceDefinition' && first) {
    return { outcome: 'kept', object: terminatingCrd(object, now) }
  }
  const graceful = def.kind === 'Pod' ? podGrace(object, options, now) : 'none'
  if (graceful === 'pending') return { outcome: 'kept', object }
  return settle(object, graceful, options, now)
}

function settle(
  object: KubeObject,
  graceful: PodGrace | 'none',
  options: DeleteOptions,
  now: number,
): Deletion {
  const metadata = { ...object.metadata }
  // Whoever deletes a Job without a word about its pods leaves them there.
  const policy = options.propagationPolicy ?? (object.kind === 'Job' ? 'Orphan' : undefined)
  const finalizers = collectorFinalizers(metadata.finalizers ?? [], policy)
  if (!equalJson(finalizers, metadata.finalizers ?? [])) metadata.finalizers = finalizers
  if (graceful !== 'none') {
    if (metadata.deletionTimestamp === undefined) raiseGeneration(metadata)
    metadata.deletionTimestamp = graceful.at
    metadata.deletionGracePeriodSeconds = graceful.seconds
  } else if (finalizers.length > 0) {
    if (metadata.deletionTimestamp === undefined) raiseGeneration(metadata)
    const then = timeOf(metadata.deletionTimestamp)
    if (then === undefined || then > now) metadata.deletionTimestamp = timestamp(now)
    metadata.deletionGracePeriodSeconds = 0
  }
  const changed = { ...object, metadata }
  const waits = finalizers.length > 0 || (graceful !== 'none' && graceful.seconds > 0)
  return waits ? { outcome: 'kept', object: changed } : { outcome: 'gone', last: changed }
}

/** True when an update has taken away the last thing that held an object whose deletion has begun. */
export function endsDeletion(before: KubeObject, after: KubeObject): boolean {
  if (before.metadata.deletionTimestamp === undefined) return false
  if ((before.metadata.deletionGracePeriodSeconds ?? 0) > 0) return false
  return isHeld(before) && !isHeld(after)
}

function isHeld(object: KubeObject): boolean {
  if ((object.metadata.finalizers ?? []).length > 0) return true
  return object.kind === 'Namespace' && listOf(at(object.spec, 'finalizers')).length > 0
}

function refusal(def: KindDef, object: KubeObject, options: DeleteOptions): StatusBody | undefined {
  const { name, uid, resourceVersion } = object.metadata
  if (options.uid !== undefined && options.uid !== uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
    return unmetPrecondition(def, name, why)
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`
    return unmetPrecondition(def, name, why)
  }
  return undefined
}

interface PodGrace {
  /** The new deletionTimestamp. */
  at: string
  seconds: number
}

/** `pending`: its grace runs already, and the new one is not shorter. `none`: nothing graceful is left to do. */
function podGrace(pod: KubeObject, options: DeleteOptions, now: number): PodGrace | 'pending' | 'none' {
  const wanted = options.gracePeriodSeconds
  const asked = wanted !== undefined && wanted < 0 ? 1 : wanted
  const { deletionTimestamp, deletionGracePeriodSeconds: running } = pod.metadata
  if (deletionTimestamp !== undefined) {
    if (running === undefined || running === 0) return 'none'
    if (asked === undefined || asked >= running) return 'pending'
    const moved = (timeOf(deletionTimestamp) ?? now) + (asked - running) * 1000
    if (moved >= now) return { at: timestamp(moved), seconds: asked }
    // The whole new grace is over already: now, and the last second is left to whoever ends the pod.
    return { at: timestamp(now), seconds: asked === 0 ? 0 : 1 }
  }
  const fromSpec = at(pod.spec, 'terminationGracePeriodSeconds')
  let seconds = asked ?? (typeof fromSpec === 'number' ? fromSpec : 0)
  if (seconds < 0) seconds = 1
  const phase = at(pod.status, 'phase')
  // A pod without a node, or one that has ended, has nobody who would confirm: it goes at once.
  if (!at(pod.spec, 'nodeName') || phase === 'Failed' || phase === 'Succeeded') seconds = 0
  return { at: timestamp(now + seconds * 1000), seconds }
}

function terminatingNamespace(object: KubeObject, now: number): KubeObject {
  const metadata = { ...object.metadata, deletionTimestamp: timestamp(now) }
  return { ...object, metadata, status: { ...recordOf(object.status), phase: 'Terminating' } }
}

function terminatingCrd(object: KubeObject, now: number): KubeObject {
  const finalizers = object.metadata.finalizers ?? []
  const metadata = {
    ...object.metadata,
    deletionTimestamp: timestamp(now),
    finalizers: finalizers.includes(crdCleanup) ? finalizers : [...finalizers, crdCleanup],
  }
  const status = recordOf(object.status)
  const conditions = listOf(status.conditions).filter((one) => at(one, 'type') !== 'Terminating')
  conditions.push({
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: timestamp(now),
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  })
  return { ...object, metadata, status: { ...status, conditions } }
}

/** The finalizers that tell the garbage collector what to do with the dependents. */
function collectorFinalizers(finalizers: string[], policy: string | undefined): string[] {
  if (policy === undefined) return finalizers
  const others = finalizers.filter((one) => one !== 'orphan' && one !== 'foregroundDeletion')
  if (policy === 'Orphan') return [...others, 'orphan']
  return policy === 'Foreground' ? [...others, 'foregroundDeletion'] : others
}

function raiseGeneration(metadata: KubeObject['metadata']): void {
  if (metadata.generation !== undefined && metadata.generation > 0) metadata.generation += 1
}
