import { expect, test } from 'vitest'
import { crds, harness, llmService, mergePatch, services, start } from './support.ts'

const name = 'llmservices.serving.modelsphere.dev'
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name },
  spec: {
    group: 'serving.modelsphere.dev',
    scope: 'Namespaced',
    names: { plural: 'llmservices', singular: 'llmservice', kind: 'LLMService', listKind: 'LLMServiceList' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

test('creating a definition serves its kind', async () => {
  const { call } = await harness({ served: [] })
  expect((await call('GET', services)).text).toBe('404 page not found\n')
  expect((await call('GET', '/apis/serving.modelsphere.dev/v1alpha1')).status).toBe(404)
  const made = await call('POST', crds, crd)
  expect(made.status).toBe(201)
  const types = made.body.status.conditions.map((one: { type: string; status: string }) => [
    one.type,
    one.status,
  ])
  expect(types).toContainEqual(['Established', 'True'])
  expect((await call('GET', services)).body).toEqual({
    kind: 'LLMServiceList',
    apiVersion: 'serving.modelsphere.dev/v1alpha1',
    metadata: { continue: '', resourceVersion: expect.any(String) },
    items: [],
  })
  expect((await call('POST', services, llmService('a'))).status).toBe(201)
})

test('deleting one marks all its objects, and the kind goes with the last of them', async () => {
  const { call, server, watch } = await harness({ served: [] })
  await call('POST', crds, crd)
  const finalizers = ['serving.modelsphere.dev/finalizer']
  await call('POST', services, llmService('held', { finalizers }))
  await call('POST', services, llmService('free'))
  const watching = await watch(`${services}?watch=true&resourceVersion=${server.resourceVersion}`)

  const deleted = await call('DELETE', `${crds}/${name}`)
  expect(deleted.status).toBe(200)
  expect(deleted.body.metadata.deletionTimestamp).toBe(start)
  const gone = await watching.next()
  expect([gone.type, gone.object.metadata.name]).toEqual(['DELETED', 'free'])
  const marked = await watching.next()
  expect([marked.type, marked.object.metadata.name]).toEqual(['MODIFIED', 'held'])
  expect(marked.object.metadata).toMatchObject({ deletionTimestamp: start, deletionGracePeriodSeconds: 0 })

  const refused = await call('POST', services, llmService('late'))
  expect([refused.status, refused.body.reason]).toEqual([403, 'Forbidden'])
  expect(refused.body.message).toContain('create not allowed while custom resource definition is terminating')

  await call('PATCH', `${services}/held`, { metadata: { finalizers: null } }, mergePatch)
  const last = await watching.next()
  expect([last.type, last.object.metadata.name]).toEqual(['DELETED', 'held'])
  expect(await watching.end()).toBe('ended')
  const after = await call('GET', services)
  expect([after.status, after.text]).toEqual([404, '404 page not found\n'])
  expect((await call('GET', `${crds}/${name}`)).status).toBe(404)
  expect((await call('POST', crds, crd)).status).toBe(201)
  expect((await call('GET', services)).body.items).toEqual([])
})

test('a definition without objects goes at once', async () => {
  const { call } = await harness({ served: [] })
  await call('POST', crds, crd)
  expect((await call('DELETE', `${crds}/${name}`)).status).toBe(200)
  expect((await call('GET', `${crds}/${name}`)).status).toBe(404)
})

test('a definition needs its name to fit, and a kind that is free', async () => {
  const { call } = await harness()
  const misnamed = await call('POST', crds, { ...crd, metadata: { name: 'other' } })
  expect([misnamed.status, misnamed.body.reason]).toEqual([422, 'Invalid'])
  const names = { plural: 'pods', singular: 'pod', kind: 'Pod' }
  const taken = {
    ...crd,
    metadata: { name: 'pods.test.dev' },
    spec: { ...crd.spec, group: 'test.dev', names },
  }
  expect((await call('POST', crds, taken)).status).toBe(422)
})

test('cluster-scoped custom kinds without a status subresource work as well', async () => {
  const { call } = await harness()
  const names = { plural: 'pools', singular: 'pool', kind: 'Pool' }
  const versions = [{ name: 'v1', served: true, storage: true }]
  const spec = { group: 'test.dev', scope: 'Cluster', names, versions }
  await call('POST', crds, { ...crd, metadata: { name: 'pools.test.dev' }, spec })
  const pool = { apiVersion: 'test.dev/v1', kind: 'Pool', metadata: { name: 'a' }, status: { size: 1 } }
  const made = await call('POST', '/apis/test.dev/v1/pools', pool)
  expect([made.status, made.body.status]).toEqual([201, { size: 1 }])
  expect((await call('GET', '/apis/test.dev/v1/pools/a/status')).status).toBe(404)
  expect((await call('GET', '/apis/test.dev/v1/namespaces/team-a/pools')).status).toBe(404)
})

test('setServed takes a kind away with its streams, and its objects stay in the store', async () => {
  const { call, server, watch } = await harness()
  server.store.create(llmService('a'))
  const watching = await watch(`${services}?watch=true&resourceVersion=${server.resourceVersion}`)
  server.setServed([])
  expect(await watching.end()).toBe('ended')
  expect((await call('GET', `${services}?watch=true`)).text).toBe('404 page not found\n')
  expect(server.store.get({ kind: 'LLMService', namespace: 'team-a', name: 'a' })).toBeDefined()
  server.store.remove({ kind: 'LLMService', namespace: 'team-a', name: 'a' })
  server.store.create(llmService('b'))
  server.setServed(['LLMService'])
  const listed = await call('GET', services)
  expect(listed.body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['b'])
})

test('setServed takes a deletion back that has begun', async () => {
  const { call, server } = await harness()
  server.store.create(llmService('a', { finalizers: ['test.dev/hold'] }))
  await call('DELETE', `${crds}/${name}`)
  expect((await call('POST', services, llmService('b'))).status).toBe(403)
  server.setServed(['LLMService'])
  expect((await call('POST', services, llmService('b'))).status).toBe(201)
})

test('setServed knows other kinds by their name, and no built-in ones', async () => {
  const { call, server } = await harness()
  server.setServed(['LLMService', 'LLMCanary'])
  const listed = await call('GET', '/apis/serving.modelsphere.dev/v1alpha1/llmcanarys')
  expect([listed.status, listed.body.kind]).toEqual([200, 'LLMCanaryList'])
  expect(() => server.setServed(['Pod'])).toThrow('built-in')
})
