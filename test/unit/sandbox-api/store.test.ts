import { expect, test } from 'vitest'
import { configMap, harness, llmService, pod, start, team } from './support.ts'

const ref = (kind: string, name: string, namespace = 'team-a') => ({ kind, namespace, name })

test('what is written stays as written, whatever the rules of the API', async () => {
  const { server, call } = await harness()
  const written = {
    ...pod('Not_A_Name', {
      uid: 'uid-1',
      deletionTimestamp: '2030-12-31T23:00:00Z',
      deletionGracePeriodSeconds: 5,
    }),
    status: { phase: 'Running' },
  }
  const stored = server.store.create(written)
  expect(stored).toEqual({
    ...written,
    metadata: { ...written.metadata, creationTimestamp: start, resourceVersion: server.resourceVersion },
  })
  expect((await call('GET', `${team}/pods/Not_A_Name`)).body).toEqual(stored)
})

test('create twice is an error, as is an object in no namespace or in one it cannot have', async () => {
  const { server } = await harness()
  server.store.create(configMap('a'))
  expect(() => server.store.create(configMap('a'))).toThrow('exists already')
  const homeless = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } }
  expect(() => server.store.create(homeless)).toThrow('no namespace')
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', namespace: 'team-a' } }
  expect(() => server.store.create(node)).toThrow('no namespaces')
})

test('what is handed out is a copy', async () => {
  const { server } = await harness()
  const given = configMap('a', { labels: { x: 'y' } })
  const stored = server.store.create(given)
  for (const object of [
    given,
    stored,
    server.store.get(ref('ConfigMap', 'a')),
    server.store.list('ConfigMap')[0],
  ]) {
    if (object?.metadata.labels) object.metadata.labels.x = 'changed'
  }
  expect(server.store.get(ref('ConfigMap', 'a'))?.metadata.labels).toEqual({ x: 'y' })
})

test('a namespace is there as soon as something is in it, and can be written afterwards', async () => {
  const { server, call } = await harness()
  server.store.create(configMap('a', { namespace: 'implied' }))
  expect((await call('GET', '/api/v1/namespaces/implied')).body.status).toEqual({ phase: 'Active' })
  const written = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'implied', uid: 'ns-1' } }
  expect(server.store.create(written).metadata.uid).toBe('ns-1')
  expect(() => server.store.create(written)).toThrow('exists already')
})

test('replace keeps the uid when none is given, and with another uid is DELETED, then ADDED', async () => {
  const { server, watch } = await harness()
  const first = server.store.create(configMap('a', { uid: 'uid-1', finalizers: ['test.dev/hold'] }))
  const watching = await watch(`${team}/configmaps?watch=true&resourceVersion=${server.resourceVersion}`)
  const kept = server.store.replace(configMap('a', {}, { data: { a: '1' } }))
  expect(kept.metadata.uid).toBe('uid-1')
  const other = server.store.replace(configMap('a', { uid: 'uid-2' }))
  expect(await watching.next()).toEqual({ type: 'MODIFIED', object: kept })
  const deleted = await watching.next()
  expect([deleted.type, deleted.object.metadata.uid]).toEqual(['DELETED', 'uid-1'])
  expect(await watching.next()).toEqual({ type: 'ADDED', object: other })
  const versions = [first, kept, deleted.object, other].map((one) => Number(one.metadata.resourceVersion))
  expect(versions).toEqual([...versions].sort((one, two) => one - two))
  expect(server.store.replace(configMap('new')).metadata.uid).toMatch(/-/)
})

test('patch reaches status, keeps the version where nothing changes, and cannot rename', async () => {
  const { server } = await harness()
  const before = server.store.create(llmService('a', {}, { status: { phase: 'Applied', message: 'x' } }))
  const after = server.store.patch(ref('LLMService', 'a'), { status: { phase: 'Failed', message: null } })
  expect(after.status).toEqual({ phase: 'Failed' })
  const version = server.resourceVersion
  expect(server.store.patch(ref('LLMService', 'a'), { status: { phase: 'Failed' } })).toEqual(after)
  expect(server.resourceVersion).toBe(version)
  expect(Number(version)).toBeGreaterThan(Number(before.metadata.resourceVersion))
  expect(() => server.store.patch(ref('LLMService', 'a'), { metadata: { name: 'b' } })).toThrow('rename')
  expect(() => server.store.patch(ref('LLMService', 'none'), {})).toThrow('is not there')
})

test('a patch that takes the last finalizer of a deleting object ends it, any other patch does not', async () => {
  const { server } = await harness()
  server.store.create(llmService('a', { finalizers: ['test.dev/hold'] }))
  server.store.delete(ref('LLMService', 'a'))
  expect(server.store.get(ref('LLMService', 'a'))?.metadata.deletionTimestamp).toBe(start)
  server.store.patch(ref('LLMService', 'a'), { metadata: { finalizers: null } })
  expect(server.store.get(ref('LLMService', 'a'))).toBeUndefined()
  // Written as it is, with nothing that holds it: there until somebody removes it.
  server.store.create(llmService('b', { deletionTimestamp: start }))
  server.store.patch(ref('LLMService', 'b'), { status: { phase: 'Deleting' } })
  expect(server.store.get(ref('LLMService', 'b'))).toBeDefined()
})

test('delete is graceful for pods and waits for finalizers, remove does neither', async () => {
  const { server } = await harness()
  server.store.create(pod('p', {}, { terminationGracePeriodSeconds: 30 }))
  server.store.delete(ref('Pod', 'p'))
  expect(server.store.get(ref('Pod', 'p'))?.metadata).toMatchObject({
    deletionTimestamp: '2031-01-01T00:00:30Z',
    deletionGracePeriodSeconds: 30,
  })
  server.store.remove(ref('Pod', 'p'))
  expect(server.store.get(ref('Pod', 'p'))).toBeUndefined()
  server.store.create(configMap('held', { finalizers: ['test.dev/hold'] }))
  server.store.remove(ref('ConfigMap', 'held'))
  expect(() => server.store.remove(ref('ConfigMap', 'held'))).toThrow('is not there')
  expect(() => server.store.delete(ref('ConfigMap', 'held'))).toThrow('is not there')
  server.store.create(configMap('free'))
  server.store.delete(ref('ConfigMap', 'free'))
  expect(server.store.list('ConfigMap')).toEqual([])
})

test('a stopped server ends its streams and frees its port', async () => {
  const { server, watch } = await harness()
  const watching = await watch(`${team}/pods?watch=true&resourceVersion=2`)
  await server.stop()
  expect(await watching.end()).toBe('ended')
  await expect(fetch(server.url)).rejects.toThrow()
  const port = Number(new URL(server.url).port)
  const next = await harness({ port })
  expect(next.server.url).toBe(server.url)
  await expect(harness({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
