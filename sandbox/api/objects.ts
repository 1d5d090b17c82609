import type { Change } from './history.ts'
import { History } from './history.ts'
import type { KubeObject } from './types.ts'

/** The place of an object among those of its kind; sorted as etcd sorts them. */
export function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`
}

/** The objects of one kind at one moment, by sorted keys. */
export interface View {
  keys: readonly string[]
  get(key: string): KubeObject | undefined
}

interface Shelf {
  objects: Map<string, KubeObject>
  history: History
  /** Sorted keys, made when they are first asked for after an object has come or gone. */
  keys: string[] | undefined
}

/**
 * All objects by kind, one global version counter, and the changes of each kind. Objects in here are never
 * changed in place: a write puts a new one. Listeners hear of a change after it has been made, in order.
 */
export class Objects {
  // etcd starts at 1 as well: "0" and "1" mean "from the beginning" to a watch.
  private counter = 1
  private readonly shelves = new Map<string, Shelf>()
  private readonly listeners: ((change: Change) => void)[] = []
  private readonly historyLimit: number

  constructor(historyLimit: number) {
    this.historyLimit = historyLimit
  }

  get version(): number {
    return this.counter
  }

  onChange(listener: (change: Change) => void): void {
    this.listeners.push(listener)
  }

  get(kind: string, key: string): KubeObject | undefined {
    return this.shelves.get(kind)?.objects.get(key)
  }

  /** Keys in order; only those of one namespace when one is given. */
  keys(kind: string, namespace = ''): readonly string[] {
    const shelf = this.shelves.get(kind)
    if (shelf === undefined) return []
    shelf.keys ??= [...shelf.objects.keys()].sort(byBytes)
    return namespace === '' ? shelf.keys : shelf.keys.filter((key) => key.startsWith(`${namespace}/`))
  }

  /** The objects of a kind, in the order of their keys. */
  all(kind: string, namespace = ''): KubeObject[] {
    const shelf = this.shelves.get(kind)
    if (shelf === undefined) return []
    return this.keys(kind, namespace).flatMap((key) => shelf.objects.get(key) ?? [])
  }

  count(kind: string): number {
    return this.shelves.get(kind)?.objects.size ?? 0
  }

  /** The objects of a kind as they are now. Good until the next change. */
  view(kind: string): View {
    return { keys: this.keys(kind), get: (key) => this.get(kind, key) }
  }

  /** The objects of a kind as they were at a version, or `expired` when that is too long ago. */
  viewAt(kind: string, version: number): View | 'expired' {
    const later = this.since(kind, version)
    if (later === 'expired') return 'expired'
    const now = this.view(kind)
    if (later.length === 0) return now
    const before = new Map<string, KubeObject | undefined>()
    for (const change of later.reverse()) before.set(change.key, change.previous)
    const kept = now.keys.filter((key) => !before.has(key) || before.get(key) !== undefined)
    const gone = [...before].filter(([key, then]) => then !== undefined && now.get(key) === undefined)
    const keys = gone.length === 0 ? kept : [...kept, ...gone.map(([key]) => key)].sort(byBytes)
    return { keys, get: (key) => (before.has(key) ? before.get(key) : now.get(key)) }
  }

  /** The changes of a kind after a version, or `expired`. */
  since(kind: string, version: number): Change[] | 'expired' {
    return this.shelves.get(kind)?.history.since(version) ?? []
  }

  /** The oldest version a watch of this kind can be resumed from. */
  oldest(kind: string): number {
    return this.shelves.get(kind)?.history.oldest ?? 0
  }

  /** Puts an object under the next version, which is stamped on it, and tells the listeners. */
  put(object: KubeObject): KubeObject {
    const shelf = this.shelf(object.kind)
    const key = keyOf(object.metadata.namespace, object.metadata.name)
    const previous = shelf.objects.get(key)
    this.counter += 1
    const stored = withVersion(object, this.counter)
    shelf.objects.set(key, stored)
    if (previous === undefined) shelf.keys = undefined
    const change: Change = {
      type: previous === undefined ? 'ADDED' : 'MODIFIED',
      kind: object.kind,
      key,
      version: this.counter,
      object: stored,
    }
    if (previous !== undefined) change.previous = previous
    this.tell(shelf, change)
    return stored
  }

  /** Takes an object away. Returns its last state, or undefined when there was none. */
  drop(kind: string, key: string): KubeObject | undefined {
    const shelf = this.shelves.get(kind)
    const previous = shelf?.objects.get(key)
    if (shelf === undefined || previous === undefined) return undefined
    this.counter += 1
    shelf.objects.delete(key)
    shelf.keys = undefined
    const object = withVersion(previous, this.counter)
    this.tell(shelf, { type: 'DELETED', kind, key, version: this.counter, object, previous })
    return object
  }

  private shelf(kind: string): Shelf {
    const known = this.shelves.get(kind)
    if (known !== undefined) return known
    const made: Shelf = { objects: new Map(), history: new History(this.historyLimit), keys: undefined }
    this.shelves.set(kind, made)
    return made
  }

  private tell(shelf: Shelf, change: Change): void {
    shelf.history.add(change)
    for (const listener of this.listeners) listener(change)
  }
}

function withVersion(object: KubeObject, version: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
}

function byBytes(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
