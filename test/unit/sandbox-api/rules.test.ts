import { expect, test } from 'vitest'
import { configMap, harness, lease, leases, mergePatch, team } from './support.ts'

const mebibyte = 1024 * 1024

test('a ConfigMap over 1 MiB is 422 Too long, one of exactly 1 MiB is taken', async () => {
  const { call } = await harness()
  const fits = configMap('fits', {}, { data: { a: 'x'.repeat(mebibyte) } })
  expect((await call('POST', `${team}/configmaps`, fits)).status).toBe(201)
  const more = await call('PATCH', `${team}/configmaps/fits`, { data: { b: 'y' } }, mergePatch)
  expect([more.status, more.body.reason]).toEqual([422, 'Invalid'])
  expect(more.body.message).toContain('Too long: may not be more than 1048576 bytes')
  // A label still fits: only the data count.
  const label = { metadata: { labels: { phase: 'uninstalling' } } }
  expect((await call('PATCH', `${team}/configmaps/fits`, label, mergePatch)).status).toBe(200)
  const binary = configMap('binary', {}, { binaryData: { a: Buffer.alloc(mebibyte + 1).toString('base64') } })
  expect((await call('POST', `${team}/configmaps`, binary)).status).toBe(422)
})

test('a Secret over 1 MiB is 422, its stringData goes into data, its type stays', async () => {
  const { call } = await harness()
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }
  const big = { ...secret, data: { a: Buffer.alloc(mebibyte + 1).toString('base64') } }
  expect((await call('POST', `${team}/secrets`, big)).status).toBe(422)
  const { body } = await call('POST', `${team}/secrets`, {
    ...secret,
    data: { b: 'Yg==' },
    stringData: { a: 'ü' },
  })
  expect(body.data).toEqual({ b: 'Yg==', a: Buffer.from('ü').toString('base64') })
  expect(body.stringData).toBeUndefined()
  expect(body.type).toBe('Opaque')
  const typed = await call('PATCH', `${team}/secrets/s`, { type: 'helm.sh/release.v1' }, mergePatch)
  expect(typed.status).toBe(422)
})

test('data of ConfigMaps and Secrets are texts', async () => {
  const { call, server } = await harness()
  const number = configMap('a', {}, { data: { revision: 3 } })
  expect((await call('POST', `${team}/configmaps`, number)).status).toBe(400)
  server.store.create(configMap('a'))
  const patched = await call('PATCH', `${team}/configmaps/a`, { data: { revision: 3 } }, mergePatch)
  expect(patched.status).toBe(422)
})

test('annotations end at 256 KiB', async () => {
  const { call, server } = await harness()
  server.store.create(configMap('a'))
  const annotate = (size: number) =>
    call('PATCH', `${team}/configmaps/a`, { metadata: { annotations: { a: 'x'.repeat(size) } } }, mergePatch)
  expect((await annotate(256 * 1024)).body.message).toContain('Too long: may not be more than 262144 bytes')
  expect((await annotate(256 * 1024 - 1)).status).toBe(200)
})

test.each([
  ['configmaps', 'ConfigMap'],
  ['secrets', 'Secret'],
])('an immutable one of %s refuses its data, not its metadata', async (plural, kind) => {
  const { call } = await harness()
  const object = { apiVersion: 'v1', kind, metadata: { name: 'i' }, immutable: true, data: { a: 'YQ==' } }
  await call('POST', `${team}/${plural}`, object)
  const path = `${team}/${plural}/i`
  for (const patch of [{ data: { a: 'Yg==' } }, { immutable: false }, { immutable: null }]) {
    const answer = await call('PATCH', path, patch, mergePatch)
    expect([patch, answer.status]).toEqual([patch, 422])
    expect(answer.body.message).toContain('field is immutable when `immutable` is set')
  }
  const label = { metadata: { labels: { a: 'b' } } }
  expect((await call('PATCH', path, label, mergePatch)).status).toBe(200)
  expect((await call('DELETE', path)).status).toBe(200)
})

test('Lease times need exactly six fractional digits', async () => {
  const { call } = await harness()
  for (const digits of ['', '.5', '.123', '.12345', '.1234567', '.123456789']) {
    const spec = { renewTime: `2031-01-01T00:00:00${digits}Z` }
    const answer = await call('POST', leases, lease('l', spec))
    expect([digits, answer.status, answer.body.reason]).toEqual([digits, 400, 'BadRequest'])
  }
  const spec = { renewTime: '2031-01-01T00:00:00.123456Z', acquireTime: null, holderIdentity: 'me' }
  const made = await call('POST', leases, lease('l', spec))
  expect(made.status).toBe(201)
  expect(made.body.spec).toEqual({ renewTime: '2031-01-01T00:00:00.123456Z', holderIdentity: 'me' })
  const patch = { spec: { renewTime: '2031-01-01T00:00:01Z' } }
  expect((await call('PATCH', `${leases}/l`, patch, mergePatch)).status).toBe(422)
  const released = { spec: { holderIdentity: '', renewTime: null } }
  expect((await call('PATCH', `${leases}/l`, released, mergePatch)).status).toBe(200)
})

test('times that stand in the store without the digits do not get in the way of other writes', async () => {
  const { call, server } = await harness()
  const stored = server.store.create(lease('l', { renewTime: '2030-12-31T23:00:00Z' }))
  const holder = { spec: { holderIdentity: 'me' } }
  const patched = await call('PATCH', `${leases}/l`, holder, mergePatch)
  expect([patched.status, patched.body.spec.holderIdentity]).toEqual([200, 'me'])
  const { resourceVersion } = patched.body.metadata
  const put = { ...stored, metadata: { ...stored.metadata, resourceVersion } }
  expect((await call('PUT', `${leases}/l`, put)).status).toBe(200)
})

test('leaseDurationSeconds must be greater than 0', async () => {
  const { call } = await harness()
  for (const leaseDurationSeconds of [0, -1]) {
    const answer = await call('POST', leases, lease('l', { leaseDurationSeconds }))
    expect([answer.status, answer.body.reason]).toEqual([422, 'Invalid'])
    expect(answer.body.message).toContain('spec.leaseDurationSeconds: Invalid value')
  }
  expect((await call('POST', leases, lease('l', { leaseDurationSeconds: 1 }))).status).toBe(201)
})

test('names are DNS names: up to 253 characters, a namespace only a label of 63', async () => {
  const { call } = await harness()
  const good = ['a', 'a.b-c.d', 'a'.repeat(253), '0a']
  const bad = ['A', 'a_b', '-a', 'a-', 'a..b', 'a'.repeat(254), 'a b']
  for (const name of good) {
    expect([name, (await call('POST', `${team}/configmaps`, configMap(name))).status]).toEqual([name, 201])
  }
  for (const name of bad) {
    const answer = await call('POST', `${team}/configmaps`, configMap(name))
    expect([name, answer.status, answer.body.reason]).toEqual([name, 422, 'Invalid'])
    expect(answer.body.details.causes[0].field).toBe('metadata.name')
  }
  for (const name of ['a.b', 'a'.repeat(64)]) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    expect([name, (await call('POST', '/api/v1/namespaces', namespace)).status]).toEqual([name, 422])
  }
})

test('label values end at 63 characters, and keys have a form', async () => {
  const { call } = await harness()
  const good = [{ a: '' }, { a: 'x'.repeat(63) }, { 'a.b/c': 'X_y.z' }, { A: '1' }]
  const bad = [
    { a: 'x'.repeat(64) },
    { a: '-x' },
    { a: 'x y' },
    { 'a/b/c': 'x' },
    { '': 'x' },
    { 'A.b/c': 'x' },
  ]
  for (const [index, labels] of good.entries()) {
    const answer = await call(
      'POST',
      `${team}/configmaps`,
      configMap(`good-${index}`, { labels: labels as never }),
    )
    expect([labels, answer.status]).toEqual([labels, 201])
  }
  for (const labels of bad) {
    const answer = await call('POST', `${team}/configmaps`, configMap('bad', { labels: labels as never }))
    expect([labels, answer.status, answer.body.reason]).toEqual([labels, 422, 'Invalid'])
  }
})

test('owner references need uid, name, kind and apiVersion, and data keys have a form', async () => {
  const { call } = await harness()
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p' }
  const owned = await call('POST', `${team}/configmaps`, configMap('a', { ownerReferences: [owner] }))
  expect(owned.body.details.causes[0].field).toBe('metadata.ownerReferences.uid')
  const keyed = await call('POST', `${team}/configmaps`, configMap('a', {}, { data: { 'a b': 'x' } }))
  expect(keyed.status).toBe(422)
})

test('pods, workloads and jobs are completed as the API server completes them', async () => {
  const { call } = await harness()
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'model:1' }] },
  }
  const pod = await call('POST', `${team}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: template.spec,
    status: { phase: 'Running' },
  })
  expect(pod.body.spec).toMatchObject({ terminationGracePeriodSeconds: 30, restartPolicy: 'Always' })
  expect(pod.body.spec.containers[0]).toMatchObject({ image: 'model:1', imagePullPolicy: 'IfNotPresent' })
  expect(pod.body.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' })
  const selector = { matchLabels: { a: 'b' } }
  for (const [plural, kind] of [
    ['deployments', 'Deployment'],
    ['replicasets', 'ReplicaSet'],
    ['statefulsets', 'StatefulSet'],
  ] as const) {
    const workload = { apiVersion: 'apps/v1', kind, metadata: { name: 'w' }, spec: { selector, template } }
    const { body } = await call('POST', `/apis/apps/v1/namespaces/team-a/${plural}`, workload)
    expect([kind, body.spec.replicas]).toEqual([kind, 1])
    expect(body.spec.template.spec.terminationGracePeriodSeconds).toBe(30)
  }
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { template } }
  const { body } = await call('POST', '/apis/batch/v1/namespaces/team-a/jobs', job)
  expect(body.spec.completions).toBe(1)
  const uid = body.metadata.uid
  expect(body.spec.selector.matchLabels).toEqual({ 'batch.kubernetes.io/controller-uid': uid })
  expect(body.spec.template.metadata.labels).toMatchObject({ a: 'b', 'job-name': 'j', 'controller-uid': uid })
})
