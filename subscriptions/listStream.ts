import type { RowChange } from '../services/deployments/change.ts'
import { type DeploymentFilter, matches } from '../services/deployments/listing.ts'
import type { Row } from '../services/deployments/row.ts'
import { INCOMPLETE } from './cursor.ts'
import type { Feed } from './feed.ts'
import { FeedStream } from './feedStream.ts'
import type { StreamStart } from './streamStart.ts'

/** What a stream of the list says about itself, beside its events. */
export type MarkerKind = 'SNAPSHOT_COMPLETE' | 'RESYNC' | 'BOOKMARK'

/** Which rows a stream is about. */
export interface Selection {
  filter?: DeploymentFilter | null | undefined
  namespace?: string | null | undefined
  name?: string | null | undefined
}

/** How a stream of the list tells what it reads. */
export interface Telling<Event> {
  /**
   * What a change says, or null when it says nothing in this stream. `wanted` tells which of its two rows are
   * selected; at least one is.
   */
  change(change: RowChange, wanted: { before: boolean; after: boolean }, cursor: string): Event | null
  /** A row of a snapshot. */
  row(row: Row, cursor: string, at: string): Event
  /** Something about the stream itself. */
  marker(kind: MarkerKind, cursor: string, at: string): Event
}

/** A stream about the rows of a selection: a snapshot if there is to be one, then what the changes say. */
export class ListStream<Event extends object> extends FeedStream<Event> {
  readonly #filter: DeploymentFilter | undefined
  readonly #wants: (row: Row | null) => boolean
  readonly #telling: Telling<Event>
  #position: number
  /** A snapshot is due: its first event says RESYNC when the reader had been somewhere before. */
  #due: 'snapshot' | 'lost' | null
  #rows: { rows: Row[]; next: number } | null = null

  constructor(feed: Feed, selection: Selection, from: StreamStart, telling: Telling<Event>) {
    super(feed)
    const { namespace, name } = selection
    const filter = selection.filter ?? undefined
    this.#filter = filter
    this.#wants = (row) =>
      row !== null &&
      (namespace == null || row.namespace === namespace) &&
      (name == null || row.name === name) &&
      matches(row, filter)
    this.#telling = telling
    this.#position = typeof from === 'number' ? from : feed.position
    this.#due = typeof from === 'number' ? null : from
  }

  protected override take(): Event | 'none' {
    if (this.#due) return this.#beginSnapshot(this.#due === 'lost')
    if (this.#rows) return this.#nextRow(this.#rows)
    for (;;) {
      const reading = this.feed.after(this.#position)
      if (reading === 'none') return 'none'
      if (reading === 'lost') return this.#beginSnapshot(true)
      this.#position = reading.position
      const { change } = reading
      const wanted = { before: this.#wants(change.before), after: this.#wants(change.after) }
      if (!wanted.before && !wanted.after) continue
      const event = this.#telling.change(change, wanted, this.feed.cursor(reading.position))
      if (event) return event
    }
  }

  protected override bookmark(): Event {
    return this.#marker('BOOKMARK', this.#position)
  }

  #beginSnapshot(lost: boolean): Event {
    const { rows, position } = this.feed.snapshot(this.#filter)
    this.#due = null
    this.#position = position
    this.#rows = { rows: rows.filter((row) => this.#wants(row)), next: 0 }
    return lost ? this.#marker('RESYNC', INCOMPLETE) : this.#nextRow(this.#rows)
  }

  #nextRow(snapshot: { rows: Row[]; next: number }): Event {
    const row = snapshot.rows[snapshot.next++]
    if (row) return this.#telling.row(row, this.feed.cursor(INCOMPLETE), this.now())
    this.#rows = null
    return this.#marker('SNAPSHOT_COMPLETE', this.#position)
  }

  #marker(kind: MarkerKind, position: number): Event {
    return this.#telling.marker(kind, this.feed.cursor(position), this.now())
  }
}
