import { expect, test } from 'vitest'
import { configMap, harness, lease, leases, start, team } from './support.ts'

const path = '/api/v1/namespaces/team-a'

test('nothing is created in a namespace that is not there', async () => {
  const { call } = await harness()
  const { status, body } = await call('POST', '/api/v1/namespaces/nowhere/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
  })
  expect([status, body.reason, body.message]).toEqual([404, 'NotFound', 'namespaces "nowhere" not found'])
})

test('a new namespace is active and held by its spec', async () => {
  const { call } = await harness()
  const { body } = await call('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'fresh' },
  })
  expect(body.spec).toEqual({ finalizers: ['kubernetes'] })
  expect(body.status).toEqual({ phase: 'Active' })
  expect(body.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'fresh' })
})

test('a namespace that is being deleted refuses new objects, Leases included, and still lets others change', async () => {
  const { call, server } = await harness()
  server.store.create(configMap('before'))
  await call('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'other' },
  })
  server.store.replace({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team-a' },
    spec: { finalizers: ['kubernetes'] },
  })
  const deleted = await call('DELETE', path)
  expect(deleted.status).toBe(200)
  expect(deleted.body.metadata.deletionTimestamp).toBe(start)
  expect(deleted.body.status.phase).toBe('Terminating')
  for (const [where, object] of [
    [`${team}/configmaps`, configMap('late')],
    [leases, lease('late', {})],
  ] as const) {
    const { status, body } = await call('POST', where, object)
    expect([status, body.reason]).toEqual([403, 'Forbidden'])
    expect(body.message).toContain('because it is being terminated')
    expect(body.details.causes).toEqual([
      {
        reason: 'NamespaceTerminating',
        message: 'namespace team-a is being terminated',
        field: 'metadata.namespace',
      },
    ])
  }
  const changed = await call(
    'PUT',
    `${team}/configmaps/before`,
    configMap('before', {}, { data: { a: 'b' } }),
  )
  expect(changed.status).toBe(200)
  expect((await call('DELETE', path)).status).toBe(200)
})

test('finalize ends it, and only it changes the finalizers of the spec', async () => {
  const { call } = await harness()
  const fresh = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } }
  await call('POST', '/api/v1/namespaces', fresh)
  const where = '/api/v1/namespaces/fresh'
  await call('DELETE', where)
  const { body } = await call('GET', where)
  const ended = await call('PUT', `${where}/finalize`, { ...body, spec: { finalizers: [] } })
  expect([ended.status, ended.body.spec]).toEqual([200, {}])
  expect((await call('GET', where)).status).toBe(404)
})

test('default and kube-system cannot be deleted', async () => {
  const { call } = await harness()
  for (const name of ['default', 'kube-system']) {
    const { status, body } = await call('DELETE', `/api/v1/namespaces/${name}`)
    expect([status, body.reason]).toEqual([403, 'Forbidden'])
  }
})
