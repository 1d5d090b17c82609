import { expect, test } from 'vitest'
import type { ApiCall } from '../../../sandbox/api/types.ts'
import { configMap, harness, llmService, mergePatch, partialList, services, team } from './support.ts'

const path = `${team}/configmaps`
const watchPath = `${path}?watch=true&resourceVersion=2`

test('a fault answers the calls of its verb, kind, namespace and name, as often as it says', async () => {
  const { call, server } = await harness()
  server.store.create(configMap('a'))
  server.store.create(configMap('b'))
  server.fault({
    verb: 'delete',
    kind: 'ConfigMap',
    namespace: 'team-a',
    name: 'a',
    status: 500,
    reason: 'InternalError',
    times: 2,
  })
  const { status, body } = await call('DELETE', `${path}/a`)
  expect([status, body.kind, body.reason, body.code]).toEqual([500, 'Status', 'InternalError', 500])
  expect((await call('GET', `${path}/a`)).status).toBe(200)
  expect((await call('DELETE', `${path}/b`)).status).toBe(200)
  expect((await call('DELETE', `${path}/a`)).status).toBe(500)
  expect((await call('DELETE', `${path}/a`)).status).toBe(200)
})

test('without times it answers until it is cleared; metadata-only reads and status writes count with their kind', async () => {
  const { call, server } = await harness()
  server.store.create(llmService('a'))
  server.fault({ verb: 'list', kind: 'ConfigMap', status: 503, retryAfter: 7, message: 'busy' })
  server.fault({ verb: 'patch', kind: 'LLMService', status: 409 })
  for (const headers of [{}, partialList]) {
    const answer = await call('GET', path, undefined, headers)
    expect([answer.status, answer.body.message, answer.headers.get('retry-after')]).toEqual([
      503,
      'busy',
      '7',
    ])
    expect(answer.body.details.retryAfterSeconds).toBe(7)
  }
  const patched = await call('PATCH', `${services}/a/status`, { status: {} }, mergePatch)
  expect([patched.status, patched.body.reason]).toEqual([409, 'Conflict'])
  server.clearFaults()
  expect((await call('GET', path)).status).toBe(200)
})

test('every verb can be answered, a create by the name in its body', async () => {
  const { call, server } = await harness()
  const verbs: [string, string, string, unknown?][] = [
    ['get', 'GET', `${path}/a`],
    ['list', 'GET', path],
    ['watch', 'GET', watchPath],
    ['create', 'POST', path, configMap('a')],
    ['update', 'PUT', `${path}/a`, configMap('a')],
    ['patch', 'PATCH', `${path}/a`, {}],
    ['delete', 'DELETE', `${path}/a`],
    ['deletecollection', 'DELETE', path],
  ]
  for (const [verb, method, where, body] of verbs) {
    server.fault({ verb, kind: 'ConfigMap', status: 429, times: 1 })
    const headers = verb === 'patch' ? mergePatch : {}
    expect([verb, (await call(method, where, body, headers)).status]).toEqual([verb, 429])
  }
  server.fault({ verb: 'create', kind: 'ConfigMap', name: 'b', status: 500 })
  expect((await call('POST', path, configMap('a'))).status).toBe(201)
  expect((await call('POST', path, configMap('b'))).status).toBe(500)
  server.fault({ verb: 'list', kind: 'ConfigMap', name: 'a', status: 500 })
  expect((await call('GET', `${path}?fieldSelector=metadata.name%3Da`)).status).toBe(500)
  expect((await call('GET', path)).status).toBe(200)
})

test('the oldest that matches and has times left answers', async () => {
  const { call, server } = await harness()
  server.fault({ verb: 'get', kind: 'ConfigMap', status: 500, times: 1 })
  server.fault({ verb: 'get', kind: 'ConfigMap', status: 503 })
  const statuses = []
  for (let index = 0; index < 3; index++) statuses.push((await call('GET', `${path}/a`)).status)
  expect(statuses).toEqual([500, 503, 503])
})

test('first runs just before the call is handled, which then goes its normal way', async () => {
  const { call, server } = await harness()
  const stored = server.store.create(configMap('a'))
  const ref = { kind: 'ConfigMap', namespace: 'team-a', name: 'a' }
  server.fault({
    verb: 'update',
    kind: 'ConfigMap',
    times: 1,
    first: async () => {
      server.store.patch(ref, { data: { foreign: 'write' } })
    },
  })
  const update = () => call('PUT', `${path}/a`, { ...stored, data: { mine: 'yes' } })
  expect((await update()).status).toBe(409)
  server.fault({ verb: 'get', kind: 'ConfigMap', times: 1, first: () => server.store.remove(ref) })
  expect((await call('GET', `${path}/a`)).status).toBe(404)
})

test('inFlight counts what is being handled, not the watches that have begun', async () => {
  const { call, server, watch } = await harness()
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let reached = () => {}
  const inside = new Promise<void>((resolve) => {
    reached = resolve
  })
  server.fault({
    verb: 'get',
    kind: 'ConfigMap',
    first: () => {
      reached()
      return held
    },
  })
  await watch(watchPath)
  const answer = call('GET', `${path}/a`)
  await inside
  expect(server.inFlight).toBe(1)
  release()
  await answer
  expect(server.inFlight).toBe(0)
})

test('a status on watch answers watch requests and leaves the open streams alone', async () => {
  const { call, server, watch } = await harness()
  const open = await watch(watchPath)
  server.fault({ verb: 'watch', kind: 'ConfigMap', status: 503, reason: 'ServiceUnavailable' })
  expect((await call('GET', watchPath)).status).toBe(503)
  server.store.create(configMap('a'))
  expect((await open.next()).type).toBe('ADDED')
})

test('drop cuts all open streams of the kind at once, and then the requests that come', async () => {
  const { server, watch } = await harness()
  const streams = [await watch(watchPath), await watch('/api/v1/configmaps?watch=true&resourceVersion=2')]
  const other = await watch(`${team}/pods?watch=true&resourceVersion=2`)
  server.store.create(configMap('a'))
  for (const stream of streams) expect((await stream.next()).type).toBe('ADDED')
  server.fault({ verb: 'watch', kind: 'ConfigMap', drop: true })
  for (const stream of streams) expect(await stream.end()).toBe('cut')
  expect(server.streams().map((stream) => stream.kind)).toEqual(['Pod'])
  expect(await (await watch(watchPath)).end()).toBe('cut')
  server.clearFaults()
  const again = await watch(watchPath)
  expect((await again.next()).type).toBe('ADDED')
  other.close()
})

test('with times 1 drop acts on the open streams alone, or, where none is open, on the next request alone', async () => {
  const { server, watch } = await harness()
  const open = await watch(watchPath)
  server.fault({ verb: 'watch', kind: 'ConfigMap', drop: true, times: 1 })
  expect(await open.end()).toBe('cut')
  server.store.create(configMap('a'))
  const second = await watch(watchPath)
  expect((await second.next()).type).toBe('ADDED')
  second.close()
  server.fault({ verb: 'watch', kind: 'LLMService', drop: true, times: 1 })
  const llm = `${services}?watch=true&resourceVersion=2`
  expect(await (await watch(llm)).end()).toBe('cut')
  server.store.create(llmService('a'))
  expect((await (await watch(llm)).next()).type).toBe('ADDED')
})

test('gone sends 410 into the open streams, and answers the next request with it where none is open', async () => {
  const { call, server, watch } = await harness()
  const open = await watch(watchPath)
  server.fault({ verb: 'watch', kind: 'ConfigMap', gone: true, times: 1 })
  const event = await open.next()
  expect([event.type, event.object.code, event.object.reason]).toEqual(['ERROR', 410, 'Expired'])
  expect(await open.end()).toBe('ended')
  server.fault({ verb: 'watch', kind: 'ConfigMap', gone: true, times: 1 })
  const answer = await call('GET', watchPath)
  expect([answer.status, answer.body.reason]).toEqual([410, 'Expired'])
  expect((await watch(watchPath)).status).toBe(200)
})

test('a silent stream sends nothing more and stays open, beyond its timeout too', async () => {
  const { server, watch, advance } = await harness()
  const open = await watch(`${watchPath}&allowWatchBookmarks=true&timeoutSeconds=30`)
  server.store.create(configMap('a'))
  const { sent } = server.streams()[0] ?? {}
  server.fault({ verb: 'watch', kind: 'ConfigMap', silent: true, times: 1 })
  server.store.create(configMap('b'))
  await advance(120)
  expect(server.streams()).toMatchObject([{ silent: true, sent }])
  expect((await open.next()).object.metadata.name).toBe('a')
  // What ends it is the next thing to be read: nothing has been sent since.
  const next = await watch(watchPath)
  expect((await next.next()).object.metadata.name).toBe('a')
  server.fault({ verb: 'watch', kind: 'ConfigMap', drop: true, times: 1 })
  expect(await open.end()).toBe('cut')
})

test('a request that is made silent answers 200 and then says nothing', async () => {
  const { server, watch } = await harness()
  server.store.create(configMap('a'))
  server.fault({ verb: 'watch', kind: 'ConfigMap', silent: true, times: 1 })
  const muted = await watch(`${path}?watch=true`)
  expect(muted.status).toBe(200)
  expect(server.streams()).toMatchObject([{ kind: 'ConfigMap', silent: true }])
  server.store.create(configMap('b'))
  server.fault({ verb: 'watch', kind: 'ConfigMap', drop: true, times: 1 })
  expect(await muted.end()).toBe('cut')
})

test('faultsApplyTo lets the calls and streams of others through', async () => {
  const { call, server, watch } = await harness({ faultsApplyTo: ({ userAgent }) => userAgent !== 'helm' })
  const helm = { 'user-agent': 'helm' }
  const theirs = await watch(watchPath, helm)
  const mine = await watch(watchPath)
  server.fault({ verb: 'list', kind: 'ConfigMap', status: 500 })
  server.fault({ verb: 'watch', kind: 'ConfigMap', drop: true, times: 1 })
  expect(await mine.end()).toBe('cut')
  expect((await call('GET', path)).status).toBe(500)
  expect((await call('GET', path, undefined, helm)).status).toBe(200)
  server.store.create(configMap('a'))
  expect((await theirs.next()).type).toBe('ADDED')
})

test('calls are told once they are answered, watches once they have begun', async () => {
  const { call, server, watch } = await harness()
  const calls: ApiCall[] = []
  const stop = server.onCall((one) => calls.push(one))
  const headers = { 'user-agent': 'swiss' }
  await call('POST', path, configMap('a'), headers)
  await call('GET', `${path}/b`, undefined, headers)
  await watch(`/api/v1/configmaps?watch=true&resourceVersion=2`, headers)
  await call('GET', `${path}/b`, undefined, { ...headers, authorization: 'Bearer wrong' })
  server.setServed([])
  await call('GET', services, undefined, headers)
  await call('GET', '/apis', undefined, headers)
  stop()
  await call('GET', path, undefined, headers)
  const common = { userAgent: 'swiss', token: 'secret' }
  const map = { kind: 'ConfigMap', namespace: 'team-a' }
  expect(calls).toEqual([
    { verb: 'create', ...map, name: 'a', ...common, status: 201 },
    { verb: 'get', ...map, name: 'b', ...common, status: 404 },
    { verb: 'watch', kind: 'ConfigMap', ...common, status: 200 },
    { verb: 'get', ...map, name: 'b', userAgent: 'swiss', token: 'wrong', status: 401 },
    { verb: 'list', kind: 'LLMService', namespace: 'team-a', ...common, status: 404 },
  ])
})
