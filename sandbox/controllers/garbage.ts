import type { KubeObject } from '../api/types.ts'
import { ApiError, isConflict, isNotFound } from '../apiError.ts'
import type { KubeClient } from '../client.ts'
import type { Clock } from '../clock.ts'
import { startInformer } from '../informer.ts'
import {
  CONFIG_MAP,
  CONTROLLER_REVISION,
  DEPLOYMENT,
  JOB,
  LLM_SERVICE,
  PERSISTENT_VOLUME_CLAIM,
  POD,
  REPLICA_SET,
  type ResourceType,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
  STATEFUL_SET,
} from '../resourceTypes.ts'
import { createQueue } from '../workQueue.ts'
import { type OwnerReference, ownersOf } from './owners.ts'

const watched = [
  ...[POD, REPLICA_SET, DEPLOYMENT, STATEFUL_SET, JOB, CONFIG_MAP, SECRET, SERVICE, SERVICE_ACCOUNT],
  ...[PERSISTENT_VOLUME_CLAIM, CONTROLLER_REVISION, LLM_SERVICE],
]

/** A real collector needs about this long from an owner's end to the deletion of what it owned, in milliseconds. */
export const usualDelayMs = 25

export interface Controller {
  readonly synced: Promise<void>
  stop(): Promise<void>
}

/**
 * The garbage collector: deletes, in the background and gracefully, what has only owners that are gone, and does
 * what the finalizers `foregroundDeletion` and `orphan` ask for. It works on metadata alone. An owner of a kind
 * that is not served counts as present, as it does for the real one.
 */
export function startGarbageCollector(options: {
  client: KubeClient
  clock: Clock
  delayMs?: number
  onError: (message: string) => void
}): Controller {
  const { client, clock, delayMs = usualDelayMs, onError } = options
  const present = new Set<string>()
  /** uid of an owner → objects that name it, as `Kind key`. */
  const dependents = new Map<string, Set<string>>()

  const queue = createQueue(clock, reconcile, (key, error) => onError(`${key}: ${(error as Error).message}`))
  const informers = new Map(
    watched.map((type) => [
      type.kind,
      startInformer({
        client,
        clock,
        type,
        selection: { metadataOnly: true },
        onChange: (key, now, before) => changed(type, key, now, before),
        onError,
      }),
    ]),
  )
  const synced = Promise.all([...informers.values()].map((informer) => informer.synced)).then(() => {})

  function changed(
    type: ResourceType,
    key: string,
    now: KubeObject | undefined,
    before: KubeObject | undefined,
  ): void {
    const id = `${type.kind} ${key}`
    const uid = String((now ?? before)?.metadata.uid)
    for (const owner of before ? ownersOf(before) : []) dependents.get(owner.uid)?.delete(id)
    if (!now) {
      present.delete(uid)
      for (const dependent of dependents.get(uid) ?? []) queue.add(dependent, delayMs)
      dependents.delete(uid)
      // An owner that is being deleted in the foreground waits for this one.
      for (const owner of before ? ownersOf(before) : []) lookAtOwner(owner, before)
      return
    }
    present.add(uid)
    const owners = ownersOf(now)
    for (const owner of owners) {
      const set = dependents.get(owner.uid) ?? new Set()
      dependents.set(owner.uid, set.add(id))
    }
    if (owners.length > 0 || finalizerOf(now)) queue.add(id, delayMs)
  }

  function lookAtOwner(owner: OwnerReference, of: KubeObject | undefined): void {
    const key = `${of?.metadata.namespace ?? ''}/${owner.name}`
    const object = informers.get(owner.kind)?.get(key)
    if (object && finalizerOf(object)) queue.add(`${owner.kind} ${key}`)
  }

  async function reconcile(id: string): Promise<number | undefined> {
    await synced
    const [kind = '', key = ''] = id.split(' ')
    const informer = informers.get(kind)
    const object = informer?.get(key)
    if (!informer || !object) return undefined
    const { namespace = '', name, uid } = object.metadata
    const finalizer = finalizerOf(object)
    if (finalizer) {
      try {
        await finish(informer.type, object, finalizer)
      } catch (error) {
        // Somebody else has written it meanwhile: once more, with what the watch will have brought.
        if (isConflict(error)) return delayMs
        if (!isNotFound(error)) throw error
      }
      return undefined
    }
    if (object.metadata.deletionTimestamp !== undefined) return undefined
    for (const owner of ownersOf(object)) if (await isThere(owner, namespace)) return undefined
    if (ownersOf(object).length === 0) return undefined
    try {
      await client.delete(informer.type, namespace, name, {
        propagation: 'Background',
        ...(uid ? { uid } : {}),
      })
    } catch (error) {
      // Another object under this name: it is looked at when the watch brings it.
      if (!isConflict(error)) throw error
    }
    return undefined
  }

  async function isThere(owner: OwnerReference, namespace: string): Promise<boolean> {
    if (present.has(owner.uid)) return true
    const known = watched.find((type) => type.kind === owner.kind && type.apiVersion === owner.apiVersion)
    const type = known ?? (await client.discover(owner.apiVersion, owner.kind))
    if (!type) return true
    try {
      return (await client.get(type, namespace, owner.name))?.metadata.uid === owner.uid
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return true
      throw error
    }
  }

  /** Frees the dependents, or deletes them and waits for them; then takes the finalizer off. */
  async function finish(type: ResourceType, owner: KubeObject, finalizer: Finalizer): Promise<void> {
    const uid = owner.metadata.uid ?? ''
    let waitsFor = 0
    for (const id of [...(dependents.get(uid) ?? [])]) {
      const [kind = '', key = ''] = id.split(' ')
      const informer = informers.get(kind)
      const object = informer?.get(key)
      if (!informer || !object) continue
      const { namespace = '', name } = object.metadata
      if (finalizer === 'orphan') {
        const ownerReferences = ownersOf(object).filter((it) => it.uid !== uid)
        const { resourceVersion } = object.metadata
        await client.patch(informer.type, namespace, name, { metadata: { resourceVersion, ownerReferences } })
        continue
      }
      if (ownersOf(object).some((it) => it.uid === uid && it.blockOwnerDeletion)) waitsFor += 1
      if (object.metadata.deletionTimestamp === undefined) {
        await client.delete(informer.type, namespace, name, {
          propagation: 'Foreground',
          ...(object.metadata.uid ? { uid: object.metadata.uid } : {}),
        })
      }
    }
    if (waitsFor > 0) return
    const { namespace = '', name, resourceVersion } = owner.metadata
    const finalizers = (owner.metadata.finalizers ?? []).filter((it) => it !== finalizer)
    await client.patch(type, namespace, name, { metadata: { resourceVersion, finalizers } })
  }

  return {
    synced,
    async stop() {
      await Promise.all([...informers.values()].map((informer) => informer.stop()))
      await queue.stop()
    },
  }
}

type Finalizer = 'orphan' | 'foregroundDeletion'

function finalizerOf({ metadata }: KubeObject): Finalizer | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined
  return (['orphan', 'foregroundDeletion'] as const).find((it) => metadata.finalizers?.includes(it))
}
