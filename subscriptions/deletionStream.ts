import { isDeepStrictEqual } from 'node:util'
import type { RowChange } from '../services/deployments/change.ts'
import type { Deletion, ReleaseRef, Row } from '../services/deployments/row.ts'
import {
  type DeletionEvent,
  isUninstalling,
  type Standing,
  standingAfter,
  standingOf,
} from './deletionEvent.ts'
import type { Feed } from './feed.ts'
import { FeedStream } from './feedStream.ts'
import { type StreamRefusal, type StreamStart, type StreamStartArgs, streamStart } from './streamStart.ts'

export type DeletionStreamArgs = ReleaseRef & Pick<StreamStartArgs, 'since' | 'lastEventId'>

/**
 * Begins the stream of one uninstall: how it stands, then each change, up to the event that ends it.
 *
 * With `since` it tells what came after that cursor instead, beginning with the first uninstall it finds
 * there; where that is no longer known, how the uninstall stands. A release that is not being uninstalled
 * gives a stream that completes without an event.
 */
export function deletionProgressed(feed: Feed, args: DeletionStreamArgs): DeletionStream | StreamRefusal {
  const { namespace, name, since, lastEventId } = args
  const start = streamStart(feed, { since, lastEventId, snapshot: since == null })
  return 'refused' in start ? start : new DeletionStream(feed, { namespace, name }, start.from)
}

/** One uninstall of one release. It has no bookmarks: its events cannot say that nothing has happened. */
export class DeletionStream extends FeedStream<DeletionEvent> {
  readonly #ref: ReleaseRef
  #position: number
  /** How it stood when the stream was opened, for a reader that has no place in the feed. */
  #first: DeletionEvent | null = null
  /** The row at the position; unknown until something was read. */
  #row: Row | null | 'unknown' = 'unknown'
  /** What the reader was told last. */
  #told: Deletion | null = null
  /** The last event has been told: a later uninstall of the name is another stream's. */
  #over = false

  constructor(feed: Feed, ref: ReleaseRef, from: StreamStart) {
    super(feed)
    this.#ref = ref
    this.#position = typeof from === 'number' ? from : feed.position
    // Whoever comes back with the cursor of the last event has seen it all.
    if (typeof from === 'number') this.#over = this.#leaves(from)
    // Read now and not when the reader comes: it may be gone by then, and its end would go untold.
    else this.#first = this.#catchUp()
  }

  protected override take(): DeletionEvent | 'none' | 'end' {
    const first = this.#first
    this.#first = null
    if (first) return first
    while (!this.#over) {
      const reading = this.feed.after(this.#position)
      if (reading === 'none') return this.#waits() ? 'none' : 'end'
      const event = reading === 'lost' ? this.#catchUp() : this.#read(reading)
      if (event) return event
    }
    return 'end'
  }

  /** True when the change at this position is the end of the release. */
  #leaves(position: number): boolean {
    const reading = this.feed.after(position - 1)
    return typeof reading === 'object' && reading.change.after === null && this.#concerns(reading.change)
  }

  #concerns({ before, after }: RowChange): boolean {
    const row = after ?? before
    return row?.namespace === this.#ref.namespace && row.name === this.#ref.name
  }

  /** At the end of the feed: true while the release is being uninstalled, so that there is something to come. */
  #waits(): boolean {
    if (this.#row === 'unknown') this.#row = this.feed.present(this.#ref).row
    return isUninstalling(this.#row)
  }

  #read({ change, position }: { change: RowChange; position: number }): DeletionEvent | null {
    this.#position = position
    if (!this.#concerns(change)) return null
    const { before, after, gone, at } = change
    this.#row = after
    if (isUninstalling(before)) {
      return this.#tell(standingAfter(before, after, gone), at, this.#told ?? before.deletion)
    }
    return isUninstalling(after) ? this.#tell(standingOf(after), at, null) : null
  }

  /** Goes on at the present, whatever has happened since the position. */
  #catchUp(): DeletionEvent | null {
    const before = this.#row
    const { row, position } = this.feed.present(this.#ref)
    this.#row = row
    this.#position = position
    if (before !== 'unknown' && isUninstalling(before)) {
      return this.#tell(standingAfter(before, row, null), this.now(), this.#told)
    }
    return isUninstalling(row) ? this.#tell(standingOf(row), this.now(), null) : null
  }

  /** The event of a standing, or null when the reader knows it: `known` is the deletion that it has seen. */
  #tell(standing: Standing, at: string, known: Deletion | null): DeletionEvent | null {
    const { phase, deletion } = standing
    if (phase !== 'UNINSTALLING') this.#over = true
    else if (known && isDeepStrictEqual(known, deletion)) return null
    this.#told = deletion
    return { cursor: this.feed.cursor(this.#position), at, ...standing }
  }
}
