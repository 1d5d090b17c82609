import type { Clock } from '../clock.ts'
import { negotiate } from './accept.ts'
import type { Call } from './calls.ts'
import type { DeleteOptions } from './deletion.ts'
import type { Faults } from './faults.ts'
import { isRecord, numberOf, textOf } from './json.ts'
import { listPage } from './lists.ts'
import type { Objects } from './objects.ts'
import { keyOf } from './objects.ts'
import { readListQuery } from './query.ts'
import type { ListMeta } from './rendering.ts'
import { fullText, listText, partialListText, partialText } from './rendering.ts'
import type { Reply } from './responses.ts'
import { jsonReply, pageNotFound, statusReply } from './responses.ts'
import * as status from './status.ts'
import type { IncludeObject } from './tables.ts'
import { table } from './tables.ts'
import type { Fault, KubeObject } from './types.ts'
import type { Subresource } from './updating.ts'
import { beginWatch, watchProblem } from './watches.ts'
import type { WatchHub } from './watchHub.ts'
import type { WatchRequest } from './watchStream.ts'
import type { Answer, Target, Writes } from './writes.ts'
import { jsonPatchType, mergePatchType } from './writes.ts'

/** What the handlers work on. */
export interface Room {
  objects: Objects
  writes: Writes
  hub: WatchHub
  faults: Faults
  clock: Clock
}

/**
 * Handles one call for a resource. `fault` is one for watches that drops, expires or silences this one.
 * Without a reply a watch has begun, and its stream is the answer.
 */
export function handleResource(room: Room, call: Call, fault: Fault | undefined): Reply | undefined {
  const { def, path, verb } = call
  const subresource = knownSubresource(call)
  if (subresource === undefined || (!def.namespaced && path.namespace !== '')) {
    return def.custom ? pageNotFound : statusReply(status.noSuchResource)
  }
  const collection = verb === 'create' || verb === 'deletecollection' || path.name !== ''
  if (def.namespaced && path.namespace === '' && collection) {
    return statusReply(status.methodNotAllowed())
  }
  if (verb === 'watch') return watch(room, call, fault)
  if (verb === 'list') return list(room, call)
  if (verb === 'deletecollection') return deleteCollection(room, call)
  const shape = negotiate(call.request.headers.accept, 'one')
  if (typeof shape !== 'string') return statusReply(status.notAcceptable(shape.problem))
  const target: Target = {
    def,
    namespace: path.namespace,
    name: path.name,
    subresource,
    dryRun: call.params.getAll('dryRun').includes('All'),
  }
  const answer = act(room, call, target)
  if ('status' in answer) return statusReply(answer.status)
  const include = includeOf(call)
  const text =
    shape === 'full'
      ? fullText(answer.object)
      : shape === 'partial'
        ? partialText(answer.object)
        : tableText(room, call, [answer.object], include, { headers: true })
  return jsonReply(answer.code, text)
}

function act(room: Room, call: Call, target: Target): Answer {
  const { def, verb, body } = call
  switch (verb) {
    case 'get': {
      const object = room.objects.get(def.kind, keyOf(def.namespaced ? target.namespace : '', target.name))
      return object === undefined ? { status: status.notFound(def, target.name) } : { code: 200, object }
    }
    case 'create':
      if (!isJson(call.contentType)) return { status: status.unsupportedMediaType(['application/json']) }
      return room.writes.create(target, body)
    case 'update':
      if (!isJson(call.contentType)) return { status: status.unsupportedMediaType(['application/json']) }
      return room.writes.update(target, body)
    case 'patch':
      // Strategic merge and apply patches need the schema of the kind: refused, never taken for a merge patch.
      if (call.contentType !== mergePatchType && call.contentType !== jsonPatchType) {
        return { status: status.unsupportedMediaType([jsonPatchType, mergePatchType]) }
      }
      return room.writes.patch(target, call.contentType, body)
    default:
      return room.writes.delete(target, deleteOptions(call))
  }
}

function list(room: Room, call: Call): Reply {
  const { def, path } = call
  const shape = negotiate(call.request.headers.accept, 'list')
  if (typeof shape !== 'string') return statusReply(status.notAcceptable(shape.problem))
  const read = readListQuery(def, call.params, false)
  if ('status' in read) return statusReply(read.status)
  const page = listPage(room.objects, room.clock, def, path.namespace, read.query)
  if ('status' in page) return statusReply(page.status)
  const { meta, objects } = page
  const text =
    shape === 'full'
      ? listText(def, meta, objects)
      : shape === 'partial'
        ? partialListText(meta, objects)
        : tableText(room, call, objects, read.query.includeObject, { meta, headers: true })
  return jsonReply(200, text)
}

function watch(room: Room, call: Call, fault: Fault | undefined): Reply | undefined {
  const { def, path, response } = call
  const shape = negotiate(call.request.headers.accept, 'watch')
  if (typeof shape !== 'string') return statusReply(status.notAcceptable(shape.problem))
  const read = readListQuery(def, call.params, true)
  if ('status' in read) return statusReply(read.status)
  const { query } = read
  const request: WatchRequest = {
    def,
    namespace: path.namespace,
    query,
    userAgent: call.userAgent,
    token: call.token,
    shape: shape === 'partial' ? 'partial' : 'full',
  }
  if (shape === 'table') {
    request.asTable = (object, headers) => {
      const meta = { resourceVersion: object.metadata.resourceVersion ?? '' }
      return tableText(room, call, [object], query.includeObject, { meta, headers })
    }
  }
  const problem = watchProblem(room.objects, request)
  if (problem !== undefined) return statusReply(problem)
  if (fault?.gone === true) {
    return statusReply(status.expired('The resourceVersion for the provided watch is too old.'))
  }
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' })
  response.flushHeaders()
  const stream = beginWatch(room.objects, room.hub, room.clock, request, response, fault !== undefined)
  if (fault !== undefined) room.faults.act(fault, stream)
  return undefined
}

function deleteCollection(room: Room, call: Call): Reply {
  const { def, path } = call
  const read = readListQuery(def, call.params, false)
  if ('status' in read) return statusReply(read.status)
  const options = deleteOptions(call)
  const found = room.objects.all(def.kind, path.namespace).filter(read.query.selects)
  for (const object of found) {
    const { namespace = '', name } = object.metadata
    const dryRun = call.params.getAll('dryRun').includes('All')
    const answer = room.writes.delete({ def, namespace, name, subresource: '', dryRun }, options)
    if ('status' in answer && answer.status.status === 'Failure' && answer.status.code !== 404) {
      return statusReply(answer.status)
    }
  }
  return jsonReply(200, listText(def, { resourceVersion: String(room.objects.version) }, found))
}

function tableText(
  room: Room,
  call: Call,
  objects: KubeObject[],
  include: IncludeObject,
  options: { meta?: ListMeta; headers: boolean },
): string {
  const { def } = call
  const crdKey = keyOf('', `${def.plural}.${def.group}`)
  const crd = def.custom ? room.objects.get('CustomResourceDefinition', crdKey) : undefined
  return JSON.stringify(table(def, crd, objects, include, room.clock.now(), options))
}

function includeOf(call: Call): IncludeObject {
  const asked = call.params.get('includeObject')
  return asked === 'None' || asked === 'Object' ? asked : 'Metadata'
}

function isJson(contentType: string): boolean {
  return contentType === '' || contentType === 'application/json'
}

/** The subresource of a call, when its kind has it and the verb goes with it. */
function knownSubresource(call: Call): Subresource | undefined {
  const { subresource } = call.path
  const { def, verb } = call
  if (subresource === '') return ''
  if (subresource === 'status' && def.status && ['get', 'update', 'patch'].includes(verb)) return 'status'
  return subresource === 'finalize' && def.kind === 'Namespace' && verb === 'update' ? 'finalize' : undefined
}

/** Of the body, or of the query where there is none. */
function deleteOptions(call: Call): DeleteOptions {
  const { body, params } = call
  const options: DeleteOptions = {}
  const given = isRecord(body) ? body : Object.fromEntries(params)
  const grace = given.gracePeriodSeconds
  const seconds = typeof grace === 'string' && grace !== '' ? Number(grace) : numberOf(grace)
  if (seconds !== undefined && Number.isFinite(seconds)) options.gracePeriodSeconds = seconds
  if (textOf(given.propagationPolicy) !== '') options.propagationPolicy = textOf(given.propagationPolicy)
  if (isRecord(given.preconditions)) {
    const { uid, resourceVersion } = given.preconditions
    if (typeof uid === 'string') options.uid = uid
    if (typeof resourceVersion === 'string') options.resourceVersion = resourceVersion
  }
  return options
}
