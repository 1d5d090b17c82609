import type { VersionedChange } from './changes.ts'

interface Version<T> {
  uid: string
  resourceVersion: string
  value: T
}

/** What one stream did to an object, as seen from all streams together. */
export interface Merged<T> {
  old: Version<T> | undefined
  now: Version<T> | undefined
}

const PAST = 16

/**
 * One object that several streams (selectors) of one kind may deliver, each in its own time: it is there as
 * long as one of them has it, and never goes back to an older version because another stream is slower.
 *
 * Which of two versions is newer cannot be read off them (they are compared for equality only), but each
 * stream has them in order. The *leader* is the stream that delivered the version that counts; another stream
 * is catching up until it delivers the same one, and takes over when it goes on from there. A stream that has
 * just come to the object, or lists it anew, is newer unless its version is one that counted before.
 */
export class SharedObject<T> {
  readonly #streams = new Map<number, Version<T>>()
  #leader: number | undefined
  #past: string[] = []

  get value(): T | undefined {
    return this.#current()?.value
  }

  /** Applies what `stream` reports. */
  apply(stream: number, change: VersionedChange<T>): Merged<T> {
    const old = this.#current()
    if (change.now === undefined) this.#leave(stream)
    else this.#deliver(stream, { ...change, value: change.now }, change.cause === 'relist')
    const now = this.#current()
    if (old && now && (old.uid !== now.uid || old.resourceVersion !== now.resourceVersion))
      this.#remember(old)
    return { old, now }
  }

  #deliver(stream: number, { uid, resourceVersion, value }: Version<T>, fresh: boolean): void {
    const before = this.#streams.get(stream)
    const leading = this.#current()
    const version = { uid, resourceVersion, value }
    this.#streams.set(stream, version)
    if (leading === undefined || stream === this.#leader) this.#leader = stream
    else if (sameVersion(version, leading)) return
    else if (before && sameVersion(before, leading)) this.#leader = stream
    else if ((!before || fresh) && !this.#past.includes(versionKey(version))) this.#leader = stream
  }

  #leave(stream: number): void {
    this.#streams.delete(stream)
    if (stream !== this.#leader) return
    const next = this.#streams.keys().next()
    this.#leader = next.done ? undefined : next.value
  }

  #current(): Version<T> | undefined {
    return this.#leader === undefined ? undefined : this.#streams.get(this.#leader)
  }

  #remember(version: Version<T>): void {
    this.#past.push(versionKey(version))
    if (this.#past.length > PAST) this.#past = this.#past.slice(-PAST)
  }
}

function versionKey(version: { uid: string; resourceVersion: string }): string {
  return `${version.uid}/${version.resourceVersion}`
}

function sameVersion(a: Version<unknown>, b: Version<unknown>): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion
}
