/** Which releases the pods with an `app` label belong to, as far as their charts are known. */
export class AppLabels {
  /** `namespace/app label` → keys of releases. */
  readonly #releases = new Map<string, Set<string>>()
  readonly #labelOf = new Map<string, string>()

  /** Keys of the releases whose pods have this label. */
  releasesOf(label: string): Iterable<string> {
    return this.#releases.get(label) ?? []
  }

  /** @param label `namespace/app label` of the release's pods; null when it has none, or none any more */
  learn(key: string, label: string | null): void {
    const old = this.#labelOf.get(key)
    if (old === (label ?? undefined)) return
    if (old !== undefined) {
      const keys = this.#releases.get(old)
      keys?.delete(key)
      if (keys?.size === 0) this.#releases.delete(old)
      this.#labelOf.delete(key)
    }
    if (label !== null) {
      const keys = this.#releases.get(label) ?? new Set()
      this.#releases.set(label, keys.add(key))
      this.#labelOf.set(key, label)
    }
  }
}
