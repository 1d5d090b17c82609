import type { Clock } from '../clock.ts'
import type { KindDef } from './kinds.ts'
import type { Objects, View } from './objects.ts'
import type { ListQuery } from './query.ts'
import type { ListMeta } from './rendering.ts'
import type { StatusBody } from './status.ts'
import { badRequest, expired, tooLargeVersion } from './status.ts'
import type { KubeObject } from './types.ts'

/** etcd compacts what is older than this, and with it the lists that were begun before. */
const tokenLifetime = 5 * 60 * 1000

interface Token {
  v: 'meta.k8s.io/v1'
  /** The version of the list that is being continued; -1: whatever there is now. */
  rv: number
  /** The first key of the next page. */
  start: string
  /** When the token was given out, in milliseconds since the epoch. */
  at: number
}

/** One page of a list, or a Status that says why there is none. */
export type Page = { meta: ListMeta; objects: KubeObject[] } | { status: StatusBody }

/** Lists a kind: consistent over all pages of one list, as it was when the first page was read. */
export function listPage(
  objects: Objects,
  clock: Clock,
  def: KindDef,
  namespace: string,
  query: ListQuery,
): Page {
  const asked = Number(query.resourceVersion)
  if (asked > objects.version) return { status: tooLargeVersion(asked, objects.version) }
  if (query.continue !== '') return continued(objects, clock, def, namespace, query)
  if (query.resourceVersionMatch === 'Exact') {
    const then = objects.viewAt(def.kind, asked)
    if (then === 'expired') return { status: tooOld(asked, objects.oldest(def.kind)) }
    return cut(then, '', namespace, asked, query, clock)
  }
  // Version 0 is answered from the watch cache, whole, whatever the limit.
  const whole = query.resourceVersion === '0' ? { ...query, limit: 0 } : query
  return cut(objects.view(def.kind), '', namespace, objects.version, whole, clock)
}

function continued(objects: Objects, clock: Clock, def: KindDef, namespace: string, query: ListQuery): Page {
  const token = readToken(query.continue)
  if (token === undefined) return { status: badRequest('invalid continue token: continue key is not valid') }
  if (query.resourceVersion !== '' && query.resourceVersion !== '0') {
    return { status: badRequest('specifying resource version is not allowed when using continue') }
  }
  const { start, rv } = token
  if (rv === -1) return cut(objects.view(def.kind), start, namespace, objects.version, query, clock)
  const then = objects.viewAt(def.kind, rv)
  if (then === 'expired' || clock.now() - token.at > tokenLifetime) {
    const message =
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'
    const metadata = { continue: writeToken({ ...token, rv: -1, at: clock.now() }) }
    return { status: { ...expired(message), metadata } }
  }
  return cut(then, start, namespace, rv, query, clock)
}

export function tooOld(asked: number, oldest: number): StatusBody {
  return expired(`too old resource version: ${asked} (${oldest})`)
}

/** The page that begins at `start`: what the selectors leave, up to the limit. */
function cut(
  view: View,
  start: string,
  namespace: string,
  version: number,
  query: ListQuery,
  clock: Clock,
): Page {
  const meta: ListMeta = { resourceVersion: String(version) }
  const prefix = namespace === '' ? '' : `${namespace}/`
  const keys = view.keys.filter((key) => key >= start && key.startsWith(prefix))
  const found: KubeObject[] = []
  for (const [index, key] of keys.entries()) {
    if (query.limit > 0 && found.length === query.limit) {
      meta.continue = writeToken({ v: 'meta.k8s.io/v1', rv: version, start: key, at: clock.now() })
      // What a selector would leave of the rest is not known, so no count is given then.
      if (query.labels.everything && query.fields.everything) meta.remainingItemCount = keys.length - index
      break
    }
    const object = view.get(key)
    if (object !== undefined && query.selects(object)) found.push(object)
  }
  return { meta, objects: found }
}

function writeToken(token: Token): string {
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

function readToken(text: string): Token | undefined {
  try {
    const token = JSON.parse(Buffer.from(text, 'base64url').toString()) as Partial<Token>
    if (token.v !== 'meta.k8s.io/v1' || typeof token.start !== 'string') return undefined
    if (typeof token.rv !== 'number' || typeof token.at !== 'number') return undefined
    return token as Token
  } catch {
    return undefined
  }
}
