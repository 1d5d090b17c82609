import type { IncomingMessage } from 'node:http'
import type { Refusal } from './respond.ts'

/** Where GraphQL is answered, over all transports. */
export const GRAPHQL = '/graphql'

/** The target of a request. One that is no plain path (`//x`, a whole URL) leads to where nothing is. */
export function urlOf({ url = '' }: IncomingMessage): URL {
  return new URL(/^\/(?![/\\])/.test(url) ? url : '/-', 'http://gateway')
}

export const isGraphql = (path: string): boolean => path === GRAPHQL || path === `${GRAPHQL}/`

export const notFound = (path: string): Refusal => ({
  status: 404,
  code: 'NOT_FOUND',
  message: `There is nothing at ${JSON.stringify(path.slice(0, 100))}; GraphQL is at ${GRAPHQL}.`,
})
