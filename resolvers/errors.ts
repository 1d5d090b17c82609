import { GraphQLError } from 'graphql'
import { isKubeError } from '../services/cluster/errors.ts'
import type { DeploymentLister } from '../services/deployments/lister.ts'
import type { StreamRefusal } from '../subscriptions/streamStart.ts'

/** The input makes no sense; `message` is one sentence that says what would. */
export const invalidInput = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'INVALID_INPUT', retryable: false } })

/** The cluster did not answer, or the caches are not filled yet. */
export const clusterUnavailable = (message: string, retryable: boolean): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'CLUSTER_UNAVAILABLE', retryable } })

/** Throws while the watch caches are not filled: a list that is not known is refused, never answered empty. */
export function requireReady(lister: DeploymentLister): void {
  if (lister.ready) return
  throw clusterUnavailable('The watch caches are not filled yet; try again in a few seconds.', true)
}

/** Runs a live read; one that fails is an error of its field alone, and says whether to try again. */
export async function live<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!isKubeError(error)) throw error
    const advice = error.retryable ? 'try again in a moment' : 'see what the gateway is allowed to do'
    throw clusterUnavailable(`The cluster could not be asked (${error.message}); ${advice}.`, error.retryable)
  }
}

/** The stream that was begun; throws the GraphQL error of one that was refused. */
export function begun<Stream extends object>(stream: Stream | StreamRefusal): Stream {
  if (!('refused' in stream)) return stream
  throw stream.refused === 'NOT_READY'
    ? clusterUnavailable(stream.message, true)
    : invalidInput(stream.message)
}
