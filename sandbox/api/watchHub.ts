import type { Change } from './history.ts'
import type { StreamInfo } from './types.ts'
import type { WatchStream } from './watchStream.ts'

/** The open watch streams, by kind. */
export class WatchHub {
  private readonly streams = new Map<string, Set<WatchStream>>()

  add(stream: WatchStream): void {
    const kind = stream.request.def.kind
    const known = this.streams.get(kind)
    if (known === undefined) this.streams.set(kind, new Set([stream]))
    else known.add(stream)
  }

  remove(stream: WatchStream): void {
    stream.close()
    this.streams.get(stream.request.def.kind)?.delete(stream)
  }

  /** Tells a change to all who watch its kind. */
  follow(change: Change): void {
    for (const stream of this.streams.get(change.kind) ?? []) {
      stream.follow(change)
      if (stream.ended) this.remove(stream)
    }
  }

  /** The open streams of a kind. */
  ofKind(kind: string): WatchStream[] {
    return [...(this.streams.get(kind) ?? [])].filter((stream) => !stream.ended)
  }

  /** Ends the streams of a kind cleanly. */
  endKind(kind: string): void {
    for (const stream of this.ofKind(kind)) {
      stream.end()
      this.remove(stream)
    }
  }

  /** Ends all streams cleanly. */
  endAll(): void {
    for (const kind of this.streams.keys()) this.endKind(kind)
  }

  infos(): StreamInfo[] {
    return [...this.streams.keys()].flatMap((kind) => this.ofKind(kind).map((stream) => stream.info()))
  }
}
