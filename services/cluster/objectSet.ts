import { isDeepStrictEqual } from 'node:util'
import type { ChangeCause, VersionedChange } from './changes.ts'
import type { KubeObject } from './kinds.ts'
import { stripMetadata } from './stripMetadata.ts'
import type { WatchEvent } from './watchStream.ts'

/** One object as the reflector has it. */
export interface Kept<T> {
  namespace: string
  name: string
  uid: string
  resourceVersion: string
  /** Null: `trim` does not want it. */
  value: T | null
}

const REPLAY_MEMORY = 1024

/** `namespace/name`; for cluster-scoped objects `/name`. */
export function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

/**
 * The objects of one list and watch, and what each event or list changes about them. Plain data in, changes
 * out; no I/O.
 *
 * resourceVersions are compared for equality only. An event whose version of the object has been replaced
 * before is a replay and changes nothing.
 */
export class ObjectSet<T> {
  readonly #trim: (raw: KubeObject) => T | null
  readonly #onBadObject: (error: unknown) => void
  #objects = new Map<string, Kept<T>>()
  // The last versions that were replaced or deleted, as `uid/resourceVersion`, oldest first.
  readonly #past = new Set<string>()

  /** @param onBadObject told when `trim` throws; the object then stays as it was known */
  constructor(trim: (raw: KubeObject) => T | null, onBadObject: (error: unknown) => void) {
    this.#trim = trim
    this.#onBadObject = onBadObject
  }

  get size(): number {
    return this.#objects.size
  }

  /** What an item of a list is kept as. */
  keep(raw: KubeObject): Kept<T> {
    const { namespace = '', name, uid, resourceVersion } = raw.metadata
    const known = this.#objects.get(objectKey(namespace, name))
    if (known && known.uid === uid && known.resourceVersion === resourceVersion) return known
    const value = this.#trimmed(raw, known?.uid === uid ? known.value : null)
    return { namespace, name, uid, resourceVersion, value }
  }

  /** Applies an event that carries an object (not a bookmark). */
  apply(event: WatchEvent): VersionedChange<T>[] {
    const { namespace = '', name, uid, resourceVersion } = event.object.metadata
    const key = objectKey(namespace, name)
    const known = this.#objects.get(key)
    if (this.#past.has(versionKey(uid, resourceVersion))) return []
    if (event.type === 'DELETED') {
      this.#remember(uid, resourceVersion)
      return known ? this.#remove(key, known, 'event') : []
    }
    const kept = this.keep(event.object)
    return kept === known ? [] : this.#put(key, known, kept, 'event')
  }

  /** Puts a whole list in the place of what is there. */
  replace(items: Kept<T>[]): VersionedChange<T>[] {
    const changes: VersionedChange<T>[] = []
    const listed = new Set<string>()
    for (const item of items) listed.add(objectKey(item.namespace, item.name))
    for (const [key, known] of this.#objects) {
      if (!listed.has(key)) changes.push(...this.#remove(key, known, 'relist'))
    }
    for (const item of items) {
      const key = objectKey(item.namespace, item.name)
      const known = this.#objects.get(key)
      if (known !== item) changes.push(...this.#put(key, known, item, 'relist'))
    }
    // A list is the truth. After a restore from a backup versions are given out a second time.
    this.#past.clear()
    return changes
  }

  /** Lets everything go because it can no longer be read. */
  clear(): VersionedChange<T>[] {
    const changes: VersionedChange<T>[] = []
    for (const [key, known] of this.#objects) changes.push(...this.#remove(key, known, 'unreadable'))
    this.#past.clear()
    return changes
  }

  #trimmed(raw: KubeObject, before: T | null): T | null {
    try {
      return this.#trim(stripMetadata(raw))
    } catch (error) {
      this.#onBadObject(error)
      return before
    }
  }

  #put(key: string, known: Kept<T> | undefined, kept: Kept<T>, cause: ChangeCause): VersionedChange<T>[] {
    if (known && known.uid !== kept.uid) {
      return [...this.#remove(key, known, cause), ...this.#put(key, undefined, kept, cause)]
    }
    if (known) this.#remember(known.uid, known.resourceVersion)
    // An equal object keeps its identity, so that whoever holds it need not compare.
    const same = known !== undefined && isDeepStrictEqual(known.value, kept.value)
    this.#objects.set(key, same ? { ...kept, value: known.value } : kept)
    if (same || (known?.value ?? null) === (kept.value ?? null)) return []
    return [change(kept, known?.value ?? undefined, kept.value ?? undefined, cause)]
  }

  #remove(key: string, known: Kept<T>, cause: ChangeCause): VersionedChange<T>[] {
    this.#objects.delete(key)
    this.#remember(known.uid, known.resourceVersion)
    return known.value === null ? [] : [change(known, known.value, undefined, cause)]
  }

  #remember(uid: string, resourceVersion: string): void {
    this.#past.add(versionKey(uid, resourceVersion))
    if (this.#past.size <= REPLAY_MEMORY) return
    const oldest = this.#past.values().next()
    if (!oldest.done) this.#past.delete(oldest.value)
  }
}

function versionKey(uid: string, resourceVersion: string): string {
  return `${uid}/${resourceVersion}`
}

function change<T>(
  kept: Kept<T>,
  old: T | undefined,
  now: T | undefined,
  cause: ChangeCause,
): VersionedChange<T> {
  const { namespace, name, uid, resourceVersion } = kept
  return { old, now, cause, namespace, name, uid, resourceVersion }
}
