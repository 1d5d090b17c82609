import type { ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import { tooOld } from './lists.ts'
import type { Objects } from './objects.ts'
import type { StatusBody } from './status.ts'
import { tooLargeVersion } from './status.ts'
import type { WatchHub } from './watchHub.ts'
import type { WatchRequest } from './watchStream.ts'
import { WatchStream } from './watchStream.ts'

/** Why a watch cannot begin; undefined when it can. */
export function watchProblem(objects: Objects, request: WatchRequest): StatusBody | undefined {
  const asked = Number(request.query.resourceVersion)
  if (request.query.sendInitialEvents !== true || asked <= objects.version) return undefined
  return tooLargeVersion(asked, objects.version)
}

/**
 * Begins a watch: what the reader has missed (or everything that is there), then what comes. It joins the hub
 * in the same turn, so nothing can fall in between. A `mute` one writes nothing at all.
 */
export function beginWatch(
  objects: Objects,
  hub: WatchHub,
  clock: Clock,
  request: WatchRequest,
  response: ServerResponse,
  mute: boolean,
): WatchStream {
  const { def, namespace, query } = request
  const asked = Number(query.resourceVersion)
  const current = (): number => objects.version
  const fromStart = query.sendInitialEvents ?? asked <= 1
  const fromNow = query.sendInitialEvents === false && asked <= 1
  const from = fromStart || fromNow ? objects.version : asked
  const stream = new WatchStream(request, response, clock, current, from, fromStart ? asked : from)
  if (mute) stream.silence()
  // One packet for what is there already, not one for each object.
  response.cork()
  if (fromStart) {
    for (const object of objects.all(def.kind, namespace)) {
      if (query.selects(object)) stream.initial(object)
    }
    if (query.sendInitialEvents === true && query.allowWatchBookmarks) stream.bookmark(true)
  } else {
    const missed = objects.since(def.kind, from)
    if (missed === 'expired' && !mute) {
      stream.fail(tooOld(from, objects.oldest(def.kind)))
      response.uncork()
      return stream
    }
    for (const change of missed === 'expired' ? [] : missed) stream.follow(change)
  }
  response.uncork()
  hub.add(stream)
  response.on('close', () => hub.remove(stream))
  if (!mute) stream.start()
  return stream
}
