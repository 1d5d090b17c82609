import type { KubeObject } from './types.ts'

/** One change of one object. A DELETED one carries the last state under the version of the deletion. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  kind: string
  key: string
  version: number
  object: KubeObject
  /** The state before: of MODIFIED and DELETED changes. */
  previous?: KubeObject
}

/** The last changes of one kind, oldest first: what watches are resumed over and old lists are rebuilt from. */
export class History {
  /** Version of the newest change that has been dropped: nothing can be resumed from before it. */
  private dropped = 0
  private readonly changes: Change[] = []
  private start = 0
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  add(change: Change): void {
    this.changes.push(change)
    while (this.changes.length - this.start > this.limit) {
      this.dropped = this.changes[this.start]?.version ?? this.dropped
      this.start += 1
    }
    // Compacted now and then only: a shift for every change would move the whole list each time.
    if (this.start > this.limit) {
      this.changes.splice(0, this.start)
      this.start = 0
    }
  }

  /** The changes after a version, oldest first, or `expired` when some of them have been dropped. */
  since(version: number): Change[] | 'expired' {
    if (version < this.dropped) return 'expired'
    let low = this.start
    let high = this.changes.length
    while (low < high) {
      const middle = (low + high) >> 1
      const change = this.changes[middle]
      if (change !== undefined && change.version <= version) low = middle + 1
      else high = middle
    }
    return this.changes.slice(low)
  }

  /** The oldest version that can still be resumed from. */
  get oldest(): number {
    return this.dropped
  }
}
