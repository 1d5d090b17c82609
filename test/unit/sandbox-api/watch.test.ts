import { expect, test } from 'vitest'
import type { Harness, Watching } from './support.ts'
import { asTable, configMap, harness, mergePatch, partial, pod, team } from './support.ts'

const path = `${team}/configmaps`
const ref = (name: string) => ({ kind: 'ConfigMap', namespace: 'team-a', name })

async function seen(watching: Watching, count: number): Promise<[string, string][]> {
  const events: [string, string][] = []
  for (let index = 0; index < count; index++) {
    const { type, object } = await watching.next()
    events.push([type, object.metadata.name])
  }
  return events
}

const watchFrom = ({ watch, server }: Harness, query = '', headers = {}) =>
  watch(`${path}?watch=true&resourceVersion=${server.resourceVersion}${query}`, headers)

test('a change arrives as ADDED, MODIFIED and DELETED, whole objects with kind and apiVersion', async () => {
  const made = await harness()
  const watching = await watchFrom(made)
  expect([watching.status, watching.contentType]).toEqual([200, 'application/json'])
  const { store } = made.server
  const created = store.create(configMap('a', {}, { data: { a: '1' } }))
  const changed = store.patch(ref('a'), { data: { a: '2' } })
  store.remove(ref('a'))
  expect(await watching.next()).toEqual({ type: 'ADDED', object: created })
  expect(await watching.next()).toEqual({ type: 'MODIFIED', object: changed })
  const deleted = await watching.next()
  expect(deleted.type).toBe('DELETED')
  expect(deleted.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { a: '2' } })
  expect(deleted.object.metadata.resourceVersion).toBe(made.server.resourceVersion)
})

test('only the kind and the namespace that are watched', async () => {
  const made = await harness()
  const inTeam = await watchFrom(made)
  const everywhere = await made.watch(
    `/api/v1/configmaps?watch=1&resourceVersion=${made.server.resourceVersion}`,
  )
  made.server.store.create(pod('p'))
  made.server.store.create(configMap('b', { namespace: 'team-b' }))
  made.server.store.create(configMap('a'))
  expect(await seen(inTeam, 1)).toEqual([['ADDED', 'a']])
  expect(await seen(everywhere, 2)).toEqual([
    ['ADDED', 'b'],
    ['ADDED', 'a'],
  ])
})

test.each(['', '&resourceVersion=', '&resourceVersion=0', '&resourceVersion=1'])(
  'without a version, or with 0 or 1 (%s), everything that is there comes as ADDED first',
  async (query) => {
    const { server, watch } = await harness()
    server.store.create(configMap('b'))
    server.store.create(configMap('a'))
    server.store.patch(ref('b'), { data: { a: '1' } })
    const watching = await watch(`${path}?watch=true${query}`)
    server.store.create(configMap('c'))
    expect(await seen(watching, 3)).toEqual([
      ['ADDED', 'a'],
      ['ADDED', 'b'],
      ['ADDED', 'c'],
    ])
  },
)

test('a watch is resumed where it was left', async () => {
  const made = await harness()
  made.server.store.create(configMap('a'))
  const version = made.server.resourceVersion
  made.server.store.create(configMap('b'))
  made.server.store.remove(ref('a'))
  const watching = await made.watch(`${path}?watch=true&resourceVersion=${version}`)
  made.server.store.create(configMap('c'))
  expect(await seen(watching, 3)).toEqual([
    ['ADDED', 'b'],
    ['DELETED', 'a'],
    ['ADDED', 'c'],
  ])
})

test('a version from which more has happened than is kept is 410 in the stream', async () => {
  const { server, watch } = await harness({ history: 3 })
  server.store.create(configMap('a'))
  const old = server.resourceVersion
  for (const name of ['b', 'c', 'd', 'e']) server.store.create(configMap(name))
  const watching = await watch(`${path}?watch=true&resourceVersion=${old}`)
  expect(watching.status).toBe(200)
  const event = await watching.next()
  expect(event.type).toBe('ERROR')
  expect(event.object).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' })
  expect(await watching.end()).toBe('ended')
  // The history is that of the kind: one on which nothing has happened can be resumed from long ago.
  const pods = await watch(`${team}/pods?watch=true&resourceVersion=${old}`)
  server.store.create(pod('p'))
  expect(await seen(pods, 1)).toEqual([['ADDED', 'p']])
})

test('a version from the future is silence until it has come', async () => {
  const { server, watch } = await harness()
  const future = Number(server.resourceVersion) + 2
  const watching = await watch(`${path}?watch=true&resourceVersion=${future}`)
  for (const name of ['a', 'b', 'c']) server.store.create(configMap(name))
  expect(await seen(watching, 1)).toEqual([['ADDED', 'c']])
})

test('an object that leaves the selector is DELETED, with its old labels and the new version', async () => {
  const made = await harness()
  made.server.store.create(configMap('a', { labels: { app: 'swiss' } }, { data: { a: '1' } }))
  const watching = await watchFrom(made, '&labelSelector=app%3Dswiss')
  const off = made.server.store.patch(ref('a'), { metadata: { labels: { app: null } }, data: { a: '2' } })
  made.server.store.patch(ref('a'), { data: { a: '3' } })
  const on = made.server.store.patch(ref('a'), { metadata: { labels: { app: 'swiss' } } })
  made.server.store.patch(ref('a'), { data: { a: '4' } })
  const left = await watching.next()
  expect(left.type).toBe('DELETED')
  expect(left.object.metadata.labels).toEqual({ app: 'swiss' })
  expect(left.object.data).toEqual({ a: '1' })
  expect(left.object.metadata.resourceVersion).toBe(off.metadata.resourceVersion)
  expect(await watching.next()).toEqual({ type: 'ADDED', object: on })
  expect((await watching.next()).type).toBe('MODIFIED')
})

test('field selectors are left and entered as well', async () => {
  const made = await harness()
  made.server.store.create({ ...pod('p'), status: { phase: 'Pending' } })
  const running = encodeURIComponent('status.phase=Running')
  const query = `watch=true&resourceVersion=${made.server.resourceVersion}&fieldSelector=${running}`
  const watching = await made.watch(`${team}/pods?${query}`)
  for (const phase of ['Running', 'Failed']) {
    made.server.store.patch({ kind: 'Pod', namespace: 'team-a', name: 'p' }, { status: { phase } })
  }
  expect(await seen(watching, 2)).toEqual([
    ['ADDED', 'p'],
    ['DELETED', 'p'],
  ])
})

test('metadata only', async () => {
  const made = await harness()
  const watching = await watchFrom(made, '', partial)
  const { metadata } = made.server.store.create(configMap('a', {}, { data: { a: '1' } }))
  const object = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
  expect(await watching.next()).toEqual({ type: 'ADDED', object })
})

test.each([{}, partial])('sendInitialEvents streams the list and marks its end (%o)', async (headers) => {
  const made = await harness()
  made.server.store.create(configMap('a'))
  const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const watching = await made.watch(`${path}?${query}`, headers)
  expect(await seen(watching, 1)).toEqual([['ADDED', 'a']])
  const { type, object } = await watching.next()
  expect(type).toBe('BOOKMARK')
  expect(object.kind).toBe(headers === partial ? 'PartialObjectMetadata' : 'ConfigMap')
  expect(object.metadata).toEqual({
    resourceVersion: made.server.resourceVersion,
    annotations: { 'k8s.io/initial-events-end': 'true' },
  })
  const future = await made.call('GET', `${path}?${query}&resourceVersion=99999`)
  expect(future.status).toBe(504)
})

test('bookmarks come once a minute, with the newest version, to those who allow them', async () => {
  const made = await harness()
  const watching = await watchFrom(made, '&allowWatchBookmarks=true')
  const without = await watchFrom(made)
  made.server.store.create(pod('p'))
  await made.advance(59)
  made.server.store.create(configMap('a'))
  await made.advance(1)
  const version = made.server.resourceVersion
  made.server.store.create(pod('q'))
  await made.advance(60)
  expect(await seen(watching, 1)).toEqual([['ADDED', 'a']])
  const first = await watching.next()
  expect(first).toEqual({
    type: 'BOOKMARK',
    object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: version } },
  })
  expect((await watching.next()).object.metadata.resourceVersion).toBe(made.server.resourceVersion)
  made.server.store.create(configMap('b'))
  expect(await seen(without, 2)).toEqual([
    ['ADDED', 'a'],
    ['ADDED', 'b'],
  ])
})

test('a bookmark of pods carries what Go cannot leave out', async () => {
  const made = await harness()
  const query = 'watch=true&resourceVersion=5&allowWatchBookmarks=true'
  const watching = await made.watch(`${team}/pods?${query}`)
  await made.advance(60)
  const { object } = await watching.next()
  expect(object).toMatchObject({ spec: { containers: null }, status: {} })
})

test('timeoutSeconds ends the stream cleanly, after a last bookmark', async () => {
  const made = await harness()
  const watching = await watchFrom(made, '&allowWatchBookmarks=true&timeoutSeconds=30')
  const plain = await watchFrom(made, '&timeoutSeconds=30')
  await made.advance(29)
  made.server.store.create(configMap('a'))
  await made.advance(1)
  expect(await seen(watching, 1)).toEqual([['ADDED', 'a']])
  expect((await watching.next()).type).toBe('BOOKMARK')
  expect(await watching.end()).toBe('ended')
  expect(await seen(plain, 1)).toEqual([['ADDED', 'a']])
  expect(await plain.end()).toBe('ended')
  expect(made.server.streams()).toEqual([])
  expect(made.clock.pending).toBe(0)
})

test('one that does not say how long it wants to watch is ended, too', async () => {
  const made = await harness()
  const watching = await watchFrom(made)
  await made.advance(44 * 60)
  expect(made.server.streams()).toHaveLength(1)
  await made.advance(60)
  expect(await watching.end()).toBe('ended')
})

test('a reader that leaves takes its stream and its timers along', async () => {
  const made = await harness()
  const watching = await watchFrom(made, '&allowWatchBookmarks=true&timeoutSeconds=300')
  expect(made.server.streams()).toHaveLength(1)
  expect(made.clock.pending).toBe(2)
  watching.close()
  while (made.server.streams().length > 0) await made.advance(0)
  expect(made.clock.pending).toBe(0)
})

test('kubectl gets tables, the columns with the first row only', async () => {
  const made = await harness()
  const watching = await watchFrom(made, '', asTable)
  made.server.store.create(configMap('a', {}, { data: { a: '1', b: '2' } }))
  await made.advance(75)
  await made.call('PATCH', `${path}/a`, { data: { c: '3' } }, mergePatch)
  const first = await watching.next()
  expect(first.object.kind).toBe('Table')
  const names = first.object.columnDefinitions.map((column: { name: string }) => column.name)
  expect(names).toEqual(['Name', 'Data', 'Age'])
  expect(first.object.rows[0].cells).toEqual(['a', 2, '0s'])
  const second = await watching.next()
  expect(second.object.columnDefinitions).toBeNull()
  expect(second.object.rows[0].cells).toEqual(['a', 3, '75s'])
  expect(second.object.rows[0].object).toMatchObject({
    kind: 'PartialObjectMetadata',
    metadata: { name: 'a' },
  })
})

test('streams tell who watches what, and up to where each has been written', async () => {
  const made = await harness()
  const from = made.server.resourceVersion
  await watchFrom(made, '&labelSelector=app%3Dswiss', { 'user-agent': 'swiss' })
  const [stream] = made.server.streams()
  expect(stream).toEqual({
    kind: 'ConfigMap',
    namespace: 'team-a',
    labelSelector: 'app=swiss',
    userAgent: 'swiss',
    token: 'secret',
    sent: from,
    silent: false,
  })
  made.server.store.create(configMap('other'))
  expect(made.server.streams()[0]?.sent).toBe(from)
  const { metadata } = made.server.store.create(configMap('mine', { labels: { app: 'swiss' } }))
  expect(made.server.streams()[0]?.sent).toBe(metadata.resourceVersion)
})

test('hundreds of streams over thousands of objects see every change, in order', async () => {
  const made = await harness()
  const { store } = made.server
  for (let index = 0; index < 2000; index++)
    store.create(configMap(`cm-${index}`, { labels: { g: `${index % 200}` } }))
  const readers = await Promise.all(
    Array.from({ length: 200 }, (_one, index) => watchFrom(made, `&labelSelector=g%3D${index}`)),
  )
  for (let index = 0; index < 2000; index++) store.patch(ref(`cm-${index}`), { data: { a: '1' } })
  for (const [group, reader] of readers.entries()) {
    const expected = Array.from({ length: 10 }, (_one, index) => ['MODIFIED', `cm-${group + 200 * index}`])
    expect(await seen(reader, 10)).toEqual(expected)
  }
})
