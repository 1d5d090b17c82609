import { expect, test } from 'vitest'
import type { Answer } from './support.ts'
import { configMap, harness, llmService, mergePatch, pod, services, start, team } from './support.ts'

const reasonOf = (answer: Answer): [number, string] => [answer.status, answer.body.reason]
const pods = `${team}/pods`

test('a DELETE answers with a Status that carries the uid when the object is gone', async () => {
  const { call, server } = await harness()
  const { metadata } = server.store.create(configMap('a'))
  const { status, body } = await call('DELETE', `${team}/configmaps/a`)
  expect(status).toBe(200)
  expect(body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'a', kind: 'configmaps', uid: metadata.uid },
  })
  expect(reasonOf(await call('DELETE', `${team}/configmaps/a`))).toEqual([404, 'NotFound'])
})

test('preconditions: a wrong uid and a wrong version are both 409 Conflict', async () => {
  const { call, server } = await harness()
  const { metadata } = server.store.create(configMap('a'))
  const path = `${team}/configmaps/a`
  const byUid = await call('DELETE', path, { preconditions: { uid: 'other' } })
  const byVersion = await call('DELETE', path, { preconditions: { resourceVersion: '1' } })
  expect([reasonOf(byUid), reasonOf(byVersion)]).toEqual([
    [409, 'Conflict'],
    [409, 'Conflict'],
  ])
  expect(byUid.body.message).not.toBe(byVersion.body.message)
  expect((await call('GET', path)).status).toBe(200)
  const { uid, resourceVersion } = metadata
  expect((await call('DELETE', path, { preconditions: { uid, resourceVersion } })).status).toBe(200)
  expect((await call('GET', path)).status).toBe(404)
})

test('a finalizer keeps the object: 200 with the object, a second DELETE is 200, its removal ends it', async () => {
  const { call, server } = await harness()
  server.store.create(configMap('a', { finalizers: ['test.dev/hold', 'test.dev/other'] }))
  const path = `${team}/configmaps/a`
  const first = await call('DELETE', path)
  expect(first.status).toBe(200)
  expect(first.body.kind).toBe('ConfigMap')
  expect(first.body.metadata).toMatchObject({ deletionTimestamp: start, deletionGracePeriodSeconds: 0 })
  const second = await call('DELETE', path)
  expect(second.status).toBe(200)
  expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion)
  const one = await call('PATCH', path, { metadata: { finalizers: ['test.dev/other'] } }, mergePatch)
  expect(one.body.metadata.finalizers).toEqual(['test.dev/other'])
  expect((await call('GET', path)).status).toBe(200)
  const none = await call('PATCH', path, { metadata: { finalizers: null } }, mergePatch)
  expect([none.status, none.body.metadata.finalizers]).toEqual([200, undefined])
  expect(reasonOf(await call('GET', path))).toEqual([404, 'NotFound'])
})

test('an object that is being deleted takes no new finalizers, and keeps its deletionTimestamp', async () => {
  const { call, server, advance } = await harness()
  server.store.create(configMap('a', { finalizers: ['test.dev/hold'] }))
  const path = `${team}/configmaps/a`
  await call('DELETE', path)
  await advance(60)
  const more = { metadata: { finalizers: ['test.dev/hold', 'test.dev/new'] } }
  expect(reasonOf(await call('PATCH', path, more, mergePatch))).toEqual([422, 'Invalid'])
  const undone = { metadata: { deletionTimestamp: null, labels: { a: 'b' } } }
  const { body } = await call('PATCH', path, undone, mergePatch)
  expect(body.metadata).toMatchObject({ deletionTimestamp: start, labels: { a: 'b' } })
  server.store.create(configMap('b'))
  const wished = { metadata: { deletionTimestamp: start } }
  expect(reasonOf(await call('PATCH', `${team}/configmaps/b`, wished, mergePatch))).toEqual([422, 'Invalid'])
})

test('a custom resource that a finalizer holds gets grace 0 and a new generation', async () => {
  const { call } = await harness()
  const made = await call('POST', services, llmService('a', { finalizers: ['test.dev/hold'] }))
  expect(made.body.metadata.generation).toBe(1)
  const { body } = await call('DELETE', `${services}/a`)
  expect(body.metadata).toMatchObject({
    deletionGracePeriodSeconds: 0,
    generation: 2,
    deletionTimestamp: start,
  })
})

test('propagation: Foreground and Orphan leave a finalizer to the garbage collector, as a bare DELETE of a Job does', async () => {
  const { call, server } = await harness()
  for (const name of ['fore', 'orphan', 'back']) server.store.create(configMap(name))
  const path = `${team}/configmaps`
  const fore = await call('DELETE', `${path}/fore`, { propagationPolicy: 'Foreground' })
  expect(fore.body.metadata.finalizers).toEqual(['foregroundDeletion'])
  const orphan = await call('DELETE', `${path}/orphan?propagationPolicy=Orphan`)
  expect(orphan.body.metadata.finalizers).toEqual(['orphan'])
  expect((await call('DELETE', `${path}/back`, { propagationPolicy: 'Background' })).body.kind).toBe('Status')
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j', namespace: 'team-a' } }
  server.store.create(job)
  const bare = await call('DELETE', '/apis/batch/v1/namespaces/team-a/jobs/j')
  expect(bare.body.metadata.finalizers).toEqual(['orphan'])
})

test('objects of a deleted owner stay: collecting them is a controller of its own', async () => {
  const { call, server } = await harness()
  const owner = server.store.create(configMap('owner'))
  const uid = owner.metadata.uid ?? ''
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }
  server.store.create(configMap('owned', { ownerReferences: [reference] }))
  await call('DELETE', `${team}/configmaps/owner`)
  expect((await call('GET', `${team}/configmaps/owned`)).status).toBe(200)
})

test('a pod goes gracefully: deletionTimestamp is now plus grace, until a DELETE with grace 0', async () => {
  const { call, server, advance } = await harness()
  server.store.create(pod('p', { generation: 1 }, { terminationGracePeriodSeconds: 40 }))
  const { status, body } = await call('DELETE', `${pods}/p`)
  expect(status).toBe(200)
  expect(body.metadata).toMatchObject({
    deletionTimestamp: '2031-01-01T00:00:40Z',
    deletionGracePeriodSeconds: 40,
    generation: 2,
  })
  await advance(10)
  const again = await call('DELETE', `${pods}/p`)
  expect([again.status, again.body.metadata.resourceVersion]).toEqual([200, body.metadata.resourceVersion])
  const ended = await call('DELETE', `${pods}/p`, { gracePeriodSeconds: 0 })
  expect([ended.status, ended.body.kind]).toEqual([200, 'Pod'])
  expect((await call('GET', `${pods}/p`)).status).toBe(404)
})

test('a second DELETE with a shorter grace moves both, a longer one moves nothing', async () => {
  const { call, server, advance } = await harness()
  server.store.create(pod('p', {}, { terminationGracePeriodSeconds: 600 }))
  await call('DELETE', `${pods}/p`)
  const longer = await call('DELETE', `${pods}/p?gracePeriodSeconds=900`)
  expect(longer.body.metadata.deletionGracePeriodSeconds).toBe(600)
  await advance(10)
  const shorter = await call('DELETE', `${pods}/p`, { gracePeriodSeconds: 30 })
  expect(shorter.body.metadata).toMatchObject({
    deletionTimestamp: '2031-01-01T00:00:30Z',
    deletionGracePeriodSeconds: 30,
  })
  await advance(20)
  // Its ten seconds would have been over by now: what is left is the last second.
  const past = await call('DELETE', `${pods}/p`, { gracePeriodSeconds: 10 })
  expect(past.body.metadata).toMatchObject({
    deletionTimestamp: '2031-01-01T00:00:30Z',
    deletionGracePeriodSeconds: 1,
  })
})

test('a pod without a node and one that has ended go at once', async () => {
  const { call, server } = await harness()
  server.store.create(pod('nodeless', {}, { nodeName: '', terminationGracePeriodSeconds: 30 }))
  server.store.create({
    ...pod('ended', {}, { terminationGracePeriodSeconds: 30 }),
    status: { phase: 'Failed' },
  })
  for (const name of ['nodeless', 'ended']) {
    expect((await call('DELETE', `${pods}/${name}`)).status).toBe(200)
    expect([name, (await call('GET', `${pods}/${name}`)).status]).toEqual([name, 404])
  }
})

test('a pod with a finalizer survives grace 0 until the finalizer is gone, and is not ended early by it', async () => {
  const { call, server } = await harness()
  const spec = { terminationGracePeriodSeconds: 30 }
  server.store.create(pod('p', { finalizers: ['test.dev/hold'] }, spec))
  server.store.create(pod('q', { finalizers: ['test.dev/hold'] }, spec))
  const zero = await call('DELETE', `${pods}/p`, { gracePeriodSeconds: 0 })
  expect(zero.body.metadata).toMatchObject({ deletionTimestamp: start, deletionGracePeriodSeconds: 0 })
  await call('PATCH', `${pods}/p`, { metadata: { finalizers: null } }, mergePatch)
  expect((await call('GET', `${pods}/p`)).status).toBe(404)
  await call('DELETE', `${pods}/q`)
  await call('PATCH', `${pods}/q`, { metadata: { finalizers: null } }, mergePatch)
  expect((await call('GET', `${pods}/q`)).status).toBe(200)
  await call('DELETE', `${pods}/q`, { gracePeriodSeconds: 0 })
  expect((await call('GET', `${pods}/q`)).status).toBe(404)
})

test('the watch sees each step: MODIFIED with the grace, MODIFIED with 0, DELETED under a newer version', async () => {
  const { call, server, watch } = await harness()
  server.store.create(pod('p', {}, { terminationGracePeriodSeconds: 30 }))
  const watching = await watch(`${pods}?watch=true&resourceVersion=${server.resourceVersion}`)
  await call('DELETE', `${pods}/p`)
  await call('DELETE', `${pods}/p`, { gracePeriodSeconds: 0 })
  const events = [await watching.next(), await watching.next(), await watching.next()]
  const seen = events.map(({ type, object }) => [type, object.metadata.deletionGracePeriodSeconds])
  expect(seen).toEqual([
    ['MODIFIED', 30],
    ['MODIFIED', 0],
    ['DELETED', 0],
  ])
  const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
  expect(versions).toEqual([...versions].sort((one, other) => one - other))
  expect(new Set(versions).size).toBe(3)
})

test('deletecollection deletes what the selectors leave, and answers with the list', async () => {
  const { call, server } = await harness()
  for (const name of ['a', 'b', 'c']) {
    server.store.create(configMap(name, { labels: { keep: name === 'b' ? 'yes' : 'no' } }))
  }
  const { status, body } = await call('DELETE', `${team}/configmaps?labelSelector=keep%3Dno`)
  expect(status).toBe(200)
  expect(body.kind).toBe('ConfigMapList')
  expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['a', 'c'])
  expect(server.store.list('ConfigMap').map((object) => object.metadata.name)).toEqual(['b'])
})
