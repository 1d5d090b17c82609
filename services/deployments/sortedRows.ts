import { byRelease } from './ordering.ts'
import type { DeploymentPhase, ReleaseRef, Row } from './row.ts'

/** Rows by namespace and name, with their counts: kept in order as they change, never sorted anew. */
export class SortedRows {
  readonly #rows: Row[] = []
  readonly #counts = new Map<DeploymentPhase, number>()

  /** Valid until the next change; not to be altered. */
  get all(): readonly Row[] {
    return this.#rows
  }

  get counts(): ReadonlyMap<DeploymentPhase, number> {
    return this.#counts
  }

  get(ref: ReleaseRef): Row | undefined {
    const row = this.#rows[this.#indexOf(ref)]
    return row && byRelease(row, ref) === 0 ? row : undefined
  }

  put(row: Row): void {
    const index = this.#indexOf(row)
    const old = this.#rows[index]
    if (old && byRelease(old, row) === 0) {
      this.#count(old.phase, -1)
      this.#rows[index] = row
    } else {
      this.#rows.splice(index, 0, row)
    }
    this.#count(row.phase, 1)
  }

  remove(ref: ReleaseRef): void {
    const index = this.#indexOf(ref)
    const old = this.#rows[index]
    if (!old || byRelease(old, ref) !== 0) return
    this.#rows.splice(index, 1)
    this.#count(old.phase, -1)
  }

  #count(phase: DeploymentPhase, by: number): void {
    this.#counts.set(phase, (this.#counts.get(phase) ?? 0) + by)
  }

  /** Where the release stands, or would stand. */
  #indexOf(ref: ReleaseRef): number {
    let low = 0
    let high = this.#rows.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (byRelease(this.#rows[middle] as Row, ref) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
