import type { Feed } from './feed.ts'

export interface StreamStartArgs {
  /** A cursor to go on after. */
  since?: string | null | undefined
  /** Begin with what is there now. */
  snapshot?: boolean | null | undefined
  /**
   * What an SSE client that comes back has sent as `Last-Event-ID`. It stands for `since` where that is
   * absent, and then also for the snapshot: the client had it before it was cut off. Any text is taken: one
   * that is no cursor of ours is as good as one that is too old.
   */
  lastEventId?: string | null | undefined
}

/** Where a stream begins: after a position, with what is there now, or with that because its place is lost. */
export type StreamStart = number | 'snapshot' | 'lost'

/** Why a stream could not be begun. An expected outcome, hence a value. */
export interface StreamRefusal {
  refused: 'INVALID_INPUT' | 'NOT_READY'
  /** The argument that is wrong, if one is. */
  argument: 'since' | 'name' | null
  /** One sentence for the caller. */
  message: string
}

/**
 * Where a stream with these arguments begins: at the present position, unless they say otherwise. Both
 * `snapshot` and `since`: the snapshot wins, since replaying older changes after it would show releases as
 * they no longer are.
 */
export function streamStart(feed: Feed, args: StreamStartArgs): { from: StreamStart } | StreamRefusal {
  const since = args.since ?? null
  const resumed = since === null ? null : feed.resume(since)
  if (resumed === 'malformed') {
    return invalidArgument('since', 'since is not a cursor that this API has given out.')
  }
  if (!feed.ready) {
    const message = 'The gateway has not read the cluster yet; try again in a moment.'
    return { refused: 'NOT_READY', argument: null, message }
  }
  if (since === null && args.lastEventId != null) {
    const last = feed.resume(args.lastEventId)
    return { from: typeof last === 'number' ? last : 'lost' }
  }
  if (resumed === 'lost') return { from: 'lost' }
  return { from: args.snapshot ? 'snapshot' : (resumed ?? feed.position) }
}

/** The refusal of an argument that makes no sense; `message` says what would. */
export const invalidArgument = (argument: 'since' | 'name', message: string): StreamRefusal => ({
  refused: 'INVALID_INPUT',
  argument,
  message,
})
