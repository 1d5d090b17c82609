import type { ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import type { Change } from './history.ts'
import type { KindDef } from './kinds.ts'
import type { ListQuery } from './query.ts'
import type { StatusBody } from './status.ts'
import type { KubeObject, StreamInfo } from './types.ts'
import { bookmarkObject, errorLine, eventLine, objectLine, seenAs } from './watchEvents.ts'

/** Bookmarks come about this often. */
const bookmarkEvery = 60_000
/** How long a watch lasts that does not say; a real server picks a time between half an hour and an hour. */
const defaultTimeout = 45 * 60_000
/** A reader that lets this much pile up is cut off, as a real server ends watchers that fall behind. */
const slowReaderLimit = 128 * 1024 * 1024

/** Who watches what, in which form. */
export interface WatchRequest {
  def: KindDef
  namespace: string
  query: ListQuery
  userAgent: string
  token: string
  /** The object in its form: a row of a table for kubectl, else undefined and the shape decides. */
  shape: 'full' | 'partial'
  /** For kubectl: the object of an event as a table; headers with the first one only. */
  asTable?: (object: KubeObject, headers: boolean) => string
}

/** One open watch. All its writing happens in the turn in which the change is made. */
export class WatchStream {
  readonly request: WatchRequest
  private readonly response: ServerResponse
  private readonly clock: Clock
  private readonly currentVersion: () => number
  private readonly timers = new Set<() => void>()
  private headersSent = false
  private over = false
  private quiet = false
  /** Changes up to here are not written: the reader has them, or has asked for later ones only. */
  private from: number
  private written: number

  constructor(
    request: WatchRequest,
    response: ServerResponse,
    clock: Clock,
    currentVersion: () => number,
    from: number,
    seen: number,
  ) {
    this.request = request
    this.response = response
    this.clock = clock
    this.currentVersion = currentVersion
    this.from = from
    this.written = seen
  }

  get ended(): boolean {
    return this.over
  }

  info(): StreamInfo {
    return {
      kind: this.request.def.kind,
      namespace: this.request.namespace,
      labelSelector: this.request.query.labelSelector,
      userAgent: this.request.userAgent,
      token: this.request.token,
      sent: String(this.written),
      silent: this.quiet,
    }
  }

  /** Starts the bookmarks and the timeout the reader has asked for. */
  start(): void {
    const { timeoutSeconds, allowWatchBookmarks } = this.request.query
    const life = timeoutSeconds > 0 ? timeoutSeconds * 1000 : defaultTimeout
    this.after(life, () => {
      if (allowWatchBookmarks) this.bookmark(false)
      this.end()
    })
    if (allowWatchBookmarks) this.bookmarkLater()
  }

  /** Writes a change, when this watcher sees it. */
  follow(change: Change): void {
    if (change.version <= this.from || !this.concerns(change.object)) return
    const seen = seenAs(change, this.request.query.selects)
    if (seen !== undefined) this.writeObject(seen.type, seen.object, change.version)
    if (this.response.writableLength > slowReaderLimit) this.cut()
  }

  /** An object that is there already, at the beginning of the stream. */
  initial(object: KubeObject): void {
    this.writeObject('ADDED', object, Math.max(this.written, Number(object.metadata.resourceVersion)))
  }

  bookmark(initialEnd: boolean): void {
    const version = this.currentVersion()
    // A reader that has asked for a version in the future is not set back.
    if (version < this.from) return
    const { def, shape, asTable } = this.request
    const object = bookmarkObject(def, shape, version, initialEnd)
    const text = asTable === undefined ? JSON.stringify(object) : asTable(object, !this.headersSent)
    this.headersSent = true
    this.write(eventLine('BOOKMARK', text), version)
  }

  /** Writes nothing more, and stays open until the reader leaves. */
  silence(): void {
    this.quiet = true
    this.stopTimers()
  }

  /** Ends with an error inside the stream. */
  fail(status: StatusBody): void {
    if (!this.over) this.response.write(errorLine(status))
    this.end()
  }

  /** Ends cleanly. */
  end(): void {
    if (this.over) return
    this.close()
    this.response.end()
  }

  /** Cuts the connection, after what has been written: the reader finds the body unfinished. */
  cut(): void {
    if (this.over) return
    this.close()
    this.response.socket?.destroySoon()
  }

  /** The reader has gone, or the stream is over: no more timers, no more writing. */
  close(): void {
    this.over = true
    this.stopTimers()
  }

  private concerns(object: KubeObject): boolean {
    const { namespace } = this.request
    return namespace === '' || object.metadata.namespace === namespace
  }

  private writeObject(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject, version: number): void {
    const { asTable, shape } = this.request
    const line =
      asTable === undefined
        ? objectLine(type, object, shape)
        : eventLine(type, asTable(object, !this.headersSent))
    this.headersSent = true
    this.write(line, version)
  }

  private write(line: Buffer, version: number): void {
    if (this.over || this.quiet) return
    this.response.write(line)
    this.written = version
  }

  private bookmarkLater(): void {
    this.after(bookmarkEvery, () => {
      this.bookmark(false)
      this.bookmarkLater()
    })
  }

  private after(milliseconds: number, fire: () => void): void {
    const cancel = this.clock.setTimer(milliseconds, () => {
      this.timers.delete(cancel)
      if (!this.over && !this.quiet) fire()
    })
    this.timers.add(cancel)
  }

  private stopTimers(): void {
    for (const cancel of this.timers) cancel()
    this.timers.clear()
  }
}
