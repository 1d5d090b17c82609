import type { Feed } from './feed.ts'
import { ListStream, type Selection } from './listStream.ts'
import { type PhaseEvent, phaseTelling } from './phaseEvent.ts'
import {
  invalidArgument,
  type StreamRefusal,
  type StreamStart,
  type StreamStartArgs,
  streamStart,
} from './streamStart.ts'

export type PhaseStreamArgs = Selection & StreamStartArgs

/**
 * Begins a stream of phase changes, in the order of the view.
 *
 * `snapshot` begins with the present rows and SNAPSHOT_COMPLETE; `since` with what came after that cursor,
 * or with RESYNC and a snapshot when that is no longer known.
 */
export function deploymentPhaseChanged(feed: Feed, args: PhaseStreamArgs): PhaseStream | StreamRefusal {
  if (args.name != null && args.namespace == null) {
    const message = 'name needs namespace: two namespaces may each have a release of that name.'
    return invalidArgument('name', message)
  }
  const start = streamStart(feed, args)
  return 'refused' in start ? start : new PhaseStream(feed, args, start.from)
}

/** The phases of the rows of a selection. */
export class PhaseStream extends ListStream<PhaseEvent> {
  constructor(feed: Feed, selection: Selection, from: StreamStart) {
    super(feed, selection, from, phaseTelling)
  }
}
