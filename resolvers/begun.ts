import type { StreamRefusal } from '../subscriptions/streamStart.ts'
import { clusterUnavailable, invalidInput } from './errors.ts'

/** The stream that was begun; throws the GraphQL error of one that was refused. */
export function begun<Stream extends object>(stream: Stream | StreamRefusal): Stream {
  if (!('refused' in stream)) return stream
  throw stream.refused === 'NOT_READY'
    ? clusterUnavailable(stream.message, true)
    : invalidInput(stream.message)
}
