import type { DeploymentFilter } from '../services/deployments/listing.ts'
import type { Feed } from './feed.ts'
import { ListStream } from './listStream.ts'
import { type RowEvent, rowTelling } from './rowEvent.ts'
import { type StreamRefusal, type StreamStart, type StreamStartArgs, streamStart } from './streamStart.ts'

export interface RowStreamArgs extends StreamStartArgs {
  filter?: DeploymentFilter | null | undefined
}

/**
 * Begins a stream of everything that changes in the rows that fit, in the order of the view: whoever applies
 * the events to what a query or a snapshot gave has the list.
 *
 * `snapshot` begins with the present rows and SNAPSHOT_COMPLETE; `since` with what came after that cursor,
 * or with RESYNC and a snapshot when that is no longer known.
 */
export function deploymentChanged(feed: Feed, args: RowStreamArgs): RowStream | StreamRefusal {
  const start = streamStart(feed, args)
  return 'refused' in start ? start : new RowStream(feed, args, start.from)
}

/** The rows that fit a filter. */
export class RowStream extends ListStream<RowEvent> {
  constructor(feed: Feed, { filter }: RowStreamArgs, from: StreamStart) {
    super(feed, { filter }, from, rowTelling)
  }
}
