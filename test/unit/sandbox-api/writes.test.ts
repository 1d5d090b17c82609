import { expect, test } from 'vitest'
import type { Answer } from './support.ts'
import {
  configMap,
  harness,
  jsonPatch,
  lease,
  leases,
  llmService,
  mergePatch,
  services,
  start,
  team,
} from './support.ts'

const reasonOf = (answer: Answer): [number, string] => [answer.status, answer.body.reason]

test('an object that is created gets uid, version and time, and loses what only the server sets', async () => {
  const { call } = await harness()
  const sent = configMap('a', { uid: 'mine', deletionTimestamp: start, labels: {}, finalizers: [] })
  const { status, body } = await call('POST', `${team}/configmaps`, { ...sent, data: { key: 'value' } })
  expect(status).toBe(201)
  expect(body).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      namespace: 'team-a',
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resourceVersion: expect.stringMatching(/^\d+$/),
      creationTimestamp: start,
    },
    data: { key: 'value' },
  })
})

test('generateName makes a name, and no name at all is 422', async () => {
  const { call } = await harness()
  const generated = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'run-' } }
  const one = await call('POST', `${team}/configmaps`, generated)
  const other = await call('POST', `${team}/configmaps`, generated)
  expect(one.body.metadata.name).toMatch(/^run-[a-z0-9]{5}$/)
  expect(other.body.metadata.name).not.toBe(one.body.metadata.name)
  const nameless = await call('POST', `${team}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap' })
  expect(reasonOf(nameless)).toEqual([422, 'Invalid'])
})

test('POST of a name that exists is 409 AlreadyExists, not Conflict', async () => {
  const { call } = await harness()
  await call('POST', `${team}/configmaps`, configMap('a'))
  expect(reasonOf(await call('POST', `${team}/configmaps`, configMap('a')))).toEqual([409, 'AlreadyExists'])
})

test('POST refuses a version, another namespace and another kind', async () => {
  const { call } = await harness()
  const versioned = await call('POST', `${team}/configmaps`, configMap('a', { resourceVersion: '7' }))
  expect(versioned.status).toBe(500)
  expect(versioned.body.message).toBe('resourceVersion should not be set on objects to be created')
  const elsewhere = await call('POST', `${team}/configmaps`, configMap('a', { namespace: 'team-b' }))
  expect(reasonOf(elsewhere)).toEqual([400, 'BadRequest'])
  const secret = { ...configMap('a'), kind: 'Secret' }
  expect(reasonOf(await call('POST', `${team}/configmaps`, secret))).toEqual([400, 'BadRequest'])
  const kindless = { metadata: { name: 'a' } }
  expect(reasonOf(await call('POST', services, kindless))).toEqual([400, 'BadRequest'])
  expect((await call('POST', `${team}/configmaps`, kindless)).status).toBe(201)
})

test('a dry run answers and stores nothing', async () => {
  const { call, server } = await harness()
  const before = server.resourceVersion
  const created = await call('POST', `${team}/configmaps?dryRun=All`, configMap('a'))
  expect([created.status, created.body.metadata.name]).toEqual([201, 'a'])
  expect((await call('GET', `${team}/configmaps/a`)).status).toBe(404)
  expect(server.resourceVersion).toBe(before)
  server.store.create(configMap('b'))
  await call('PATCH', `${team}/configmaps/b?dryRun=All`, { data: { a: 'b' } }, mergePatch)
  await call('DELETE', `${team}/configmaps/b?dryRun=All`)
  expect((await call('GET', `${team}/configmaps/b`)).body.data).toBeUndefined()
})

test('PUT with a stale version is 409, with another uid too', async () => {
  const { call, server } = await harness()
  const stored = server.store.create(configMap('a'))
  const { uid, resourceVersion } = stored.metadata
  const changed = { data: { a: 'b' } }
  const fresh = await call('PUT', `${team}/configmaps/a`, { ...stored, ...changed })
  expect(fresh.status).toBe(200)
  const stale = await call('PUT', `${team}/configmaps/a`, { ...stored, data: { a: 'c' } })
  expect(reasonOf(stale)).toEqual([409, 'Conflict'])
  expect(Number(fresh.body.metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion))
  const other = configMap('a', { uid: `not-${uid}` })
  expect(reasonOf(await call('PUT', `${team}/configmaps/a`, other))).toEqual([409, 'Conflict'])
})

test('PUT without a version: taken for ConfigMaps, 422 for Leases and custom resources', async () => {
  const { call, server } = await harness()
  server.store.create(configMap('a'))
  server.store.create(lease('a', { leaseDurationSeconds: 5 }))
  server.store.create(llmService('a'))
  expect((await call('PUT', `${team}/configmaps/a`, configMap('a', {}, { data: { a: 'b' } }))).status).toBe(
    200,
  )
  for (const [path, body] of [
    [`${leases}/a`, lease('a', { leaseDurationSeconds: 6 })],
    [`${services}/a`, llmService('a')],
  ] as const) {
    const answer = await call('PUT', path, body)
    expect(reasonOf(answer)).toEqual([422, 'Invalid'])
    expect(answer.body.message).toContain('must be specified for an update')
  }
})

test('PUT of a name that is not there: 404, but a Lease is made; with a uid it is 409', async () => {
  const { call } = await harness()
  expect(reasonOf(await call('PUT', `${team}/configmaps/a`, configMap('a')))).toEqual([404, 'NotFound'])
  expect(reasonOf(await call('PUT', `${leases}/a`, lease('a', {}, { uid: 'old' })))).toEqual([
    409,
    'Conflict',
  ])
  expect((await call('PUT', `${leases}/a`, lease('a', {}))).status).toBe(201)
})

test('PUT with another name in the body is 400', async () => {
  const { call, server } = await harness()
  server.store.create(configMap('a'))
  expect(reasonOf(await call('PUT', `${team}/configmaps/a`, configMap('b')))).toEqual([400, 'BadRequest'])
})

test('a merge patch with a stale version is 409, with another uid 422', async () => {
  const { call, server } = await harness()
  server.store.create(configMap('a'))
  const path = `${team}/configmaps/a`
  const stale = await call('PATCH', path, { metadata: { resourceVersion: '1' } }, mergePatch)
  expect(reasonOf(stale)).toEqual([409, 'Conflict'])
  const other = await call('PATCH', path, { metadata: { uid: 'other' } }, mergePatch)
  expect(reasonOf(other)).toEqual([422, 'Invalid'])
  expect(other.body.message).toContain('field is immutable')
})

test('a merge patch sets and takes away, and creates nothing', async () => {
  const { call, server } = await harness()
  server.store.create(configMap('a', { labels: { x: 'y', z: '1' } }, { data: { keep: '1', drop: '2' } }))
  const patch = { metadata: { labels: { x: null, n: 'm' } }, data: { drop: null, add: '3' } }
  const { status, body } = await call('PATCH', `${team}/configmaps/a`, patch, mergePatch)
  expect(status).toBe(200)
  expect(body.metadata.labels).toEqual({ z: '1', n: 'm' })
  expect(body.data).toEqual({ keep: '1', add: '3' })
  expect(reasonOf(await call('PATCH', `${team}/configmaps/none`, {}, mergePatch))).toEqual([404, 'NotFound'])
  const number = await call('PATCH', `${team}/configmaps/a`, { metadata: { labels: { n: 5 } } }, mergePatch)
  expect(reasonOf(number)).toEqual([422, 'Invalid'])
  expect(reasonOf(await call('PATCH', `${team}/configmaps/a`, '[]', mergePatch))).toEqual([400, 'BadRequest'])
})

test('a JSON patch whose test fails is 422 with a text that says nothing, and changes nothing', async () => {
  const { call, server } = await harness()
  server.store.create(configMap('a', { labels: { x: 'y' } }))
  const path = `${team}/configmaps/a`
  const add = { op: 'add', path: '/metadata/labels/n', value: 'm' }
  const wrong = [add, { op: 'test', path: '/metadata/labels/x', value: 'z' }]
  const failed = await call('PATCH', path, wrong, jsonPatch)
  expect(reasonOf(failed)).toEqual([422, 'Invalid'])
  expect(failed.body.message).toBe('the server rejected our request due to an error in our request')
  expect((await call('GET', path)).body.metadata.labels).toEqual({ x: 'y' })
  const right = [{ op: 'test', path: '/metadata/labels/x', value: 'y' }, add]
  expect((await call('PATCH', path, right, jsonPatch)).body.metadata.labels).toEqual({ x: 'y', n: 'm' })
  expect(reasonOf(await call('PATCH', path, {}, jsonPatch))).toEqual([400, 'BadRequest'])
})

test('strategic merge and apply patches are 415 and never taken for a merge patch', async () => {
  const { call, server } = await harness()
  const { metadata } = server.store.create(configMap('a'))
  for (const type of [
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
    'application/json',
  ]) {
    const answer = await call('PATCH', `${team}/configmaps/a`, { data: { a: 'b' } }, { 'content-type': type })
    expect(reasonOf(answer)).toEqual([415, 'UnsupportedMediaType'])
  }
  const after = await call('GET', `${team}/configmaps/a`)
  expect(after.body.metadata.resourceVersion).toBe(metadata.resourceVersion)
})

test('a write that changes nothing keeps the version and sends no event', async () => {
  const { call, server, watch } = await harness()
  const stored = server.store.create(configMap('a', { labels: { x: 'y' } }, { data: { a: 'b' } }))
  const version = stored.metadata.resourceVersion
  const watching = await watch(`${team}/configmaps?watch=true&resourceVersion=${version}`)
  const path = `${team}/configmaps/a`
  const patched = await call('PATCH', path, { metadata: { labels: { x: 'y' } } }, mergePatch)
  expect(patched.body.metadata.resourceVersion).toBe(version)
  const put = await call('PUT', path, stored)
  expect(put.body.metadata.resourceVersion).toBe(version)
  await call('PATCH', path, { data: { a: 'c' } }, mergePatch)
  expect((await watching.next()).object.data).toEqual({ a: 'c' })
})

test('status has a door of its own', async () => {
  const { call, server } = await harness()
  const created = await call('POST', services, llmService('a', {}, { status: { phase: 'Applied' } }))
  expect(created.body.status).toBeUndefined()
  const path = `${services}/a`
  const ignored = await call('PATCH', path, { status: { phase: 'Failed' } }, mergePatch)
  expect(ignored.body.status).toBeUndefined()
  expect(ignored.body.metadata.resourceVersion).toBe(created.body.metadata.resourceVersion)
  const patch = { status: { phase: 'Applied' }, spec: { other: true }, metadata: { labels: { a: 'b' } } }
  const { body } = await call('PATCH', `${path}/status`, patch, mergePatch)
  expect(body.status).toEqual({ phase: 'Applied' })
  expect(body.spec).toEqual({ chart: { name: 'vllm' } })
  expect(body.metadata.labels).toBeUndefined()
  expect(body.metadata.generation).toBe(1)
  expect((await call('GET', `${path}/status`)).body.status).toEqual({ phase: 'Applied' })
  server.store.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
  const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } }
  expect((await call('PATCH', '/api/v1/nodes/n1', ready, mergePatch)).body.status).toBeUndefined()
  expect((await call('PATCH', '/api/v1/nodes/n1/status', ready, mergePatch)).body.status).toEqual(
    ready.status,
  )
})

test('the generation counts changes of the spec', async () => {
  const { call } = await harness()
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', generation: 9 },
    spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } } } },
  }
  const path = '/apis/apps/v1/namespaces/team-a/deployments'
  expect((await call('POST', path, deployment)).body.metadata.generation).toBe(1)
  const labelled = await call('PATCH', `${path}/d`, { metadata: { labels: { x: 'y' } } }, mergePatch)
  expect(labelled.body.metadata.generation).toBe(1)
  const scaled = await call('PATCH', `${path}/d`, { spec: { replicas: 3 } }, mergePatch)
  expect(scaled.body.metadata.generation).toBe(2)
  const told = await call('PATCH', `${path}/d/status`, { status: { replicas: 3 } }, mergePatch)
  expect([told.body.metadata.generation, told.body.status.replicas]).toEqual([2, 3])
  const made = await call('POST', services, llmService('a'))
  expect(made.body.metadata.generation).toBe(1)
  const changed = await call('PATCH', `${services}/a`, { extra: true }, mergePatch)
  expect(changed.body.metadata.generation).toBe(2)
})

test('resourceVersion is one counter for all kinds', async () => {
  const { call, server } = await harness()
  const one = await call('POST', `${team}/configmaps`, configMap('a'))
  const two = await call('POST', leases, lease('a', {}))
  const three = await call('POST', services, llmService('a'))
  const versions = [one, two, three].map((answer) => Number(answer.body.metadata.resourceVersion))
  expect(versions).toEqual([versions[0], (versions[0] ?? 0) + 1, (versions[0] ?? 0) + 2])
  expect(server.resourceVersion).toBe(String(versions[2]))
})

test('what is written once more as it was rendered changes nothing, defaults included', async () => {
  const { call } = await harness()
  const deployments = '/apis/apps/v1/namespaces/team-a/deployments'
  const rendered = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'chat' },
    spec: {
      selector: { matchLabels: { app: 'chat' } },
      template: {
        metadata: { labels: { app: 'chat' } },
        spec: { containers: [{ name: 'c', image: 'i:1' }] },
      },
    },
  }
  const { body: made } = await call('POST', deployments, rendered)
  expect(made.spec.template.spec.containers).toMatchObject([{ imagePullPolicy: 'IfNotPresent' }])
  const { body: again } = await call('PUT', `${deployments}/chat`, rendered)
  expect(again).toEqual(made)
  const { body: patched } = await call('PATCH', `${deployments}/chat`, { spec: rendered.spec }, mergePatch)
  expect(patched).toEqual(made)
  const scaled = { ...rendered, spec: { ...rendered.spec, replicas: 2 } }
  const { body: more } = await call('PUT', `${deployments}/chat`, scaled)
  expect(more.spec).toEqual({ ...made.spec, replicas: 2 })
  expect(more.metadata.generation).toBe(2)
})
