/** A named way to find objects by a key: release, node, owner … One object may have several keys, or none. */
export class Index<T> {
  readonly #keysOf: (object: T) => string[]
  readonly #byKey = new Map<string, Set<T>>()

  constructor(keysOf: (object: T) => string[]) {
    this.#keysOf = keysOf
  }

  add(object: T): void {
    for (const key of this.#keysOf(object)) {
      const found = this.#byKey.get(key)
      if (found) found.add(object)
      else this.#byKey.set(key, new Set([object]))
    }
  }

  /** `object` must be the very one that was added. */
  remove(object: T): void {
    for (const key of this.#keysOf(object)) {
      const found = this.#byKey.get(key)
      if (found?.delete(object) && found.size === 0) this.#byKey.delete(key)
    }
  }

  lookup(key: string): T[] {
    const found = this.#byKey.get(key)
    return found ? [...found] : []
  }
}
