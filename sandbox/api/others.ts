import type { IncomingMessage } from 'node:http'
import { aggregatedDiscoveryType, wantsAggregatedDiscovery } from './accept.ts'
import { mediaType, parseJson } from './bodies.ts'
import { discover, version } from './discovery.ts'
import { builtinKinds } from './kinds.ts'
import type { Registry } from './registry.ts'
import type { Reply } from './responses.ts'
import { jsonReply, notJson, pageNotFound, statusReply, textReply } from './responses.ts'
import type { Identity } from './reviews.ts'
import { isReviewPath, review } from './reviews.ts'
import { noSuchResource, unsupportedMediaType } from './status.ts'

/** What may be read without a token: health and version. */
export function isOpenPath(pathname: string): boolean {
  return isHealthPath(pathname) || pathname === '/version'
}

/** Answers what is no resource: health, version, discovery and reviews. */
export function otherReply(
  registry: Registry,
  tokens: Map<string, Identity>,
  request: IncomingMessage,
  pathname: string,
  text: string,
  caller: Identity | undefined,
): Reply {
  if (request.method === 'POST' && isReviewPath(pathname) && caller !== undefined) {
    const type = mediaType(request)
    if (type !== '' && type !== 'application/json') {
      return statusReply(unsupportedMediaType(['application/json']))
    }
    const json = parseJson(text)
    if ('problem' in json) return notJson(json.problem)
    const lookup = (token: string): Identity | undefined => tokens.get(token)
    return jsonReply(201, JSON.stringify(review(pathname, json.value, caller, lookup)))
  }
  if (request.method !== 'GET') return nothingAt(pathname)
  if (isHealthPath(pathname)) return textReply(200, 'ok')
  if (pathname === '/version') return jsonReply(200, JSON.stringify(version))
  const whole = pathname === '/api' || pathname === '/apis'
  const aggregated = whole && wantsAggregatedDiscovery(request.headers.accept)
  const found = discover(registry, pathname, aggregated)
  if (found === undefined) return nothingAt(pathname)
  return jsonReply(200, JSON.stringify(found), aggregated ? aggregatedDiscoveryType : undefined)
}

function isHealthPath(pathname: string): boolean {
  return ['/healthz', '/readyz', '/livez'].includes(pathname)
}

/** Built-in groups answer for everything below them; elsewhere there is nobody to write a Status. */
function nothingAt(pathname: string): Reply {
  const [, root, group] = pathname.split('/')
  const builtin = root === 'api' || (root === 'apis' && builtinKinds.some((def) => def.group === group))
  return builtin ? statusReply(noSuchResource) : pageNotFound
}
