import { expect, test } from 'vitest'
import { asTable, harness, llmService, pod, services, team } from './support.ts'

interface Resource {
  name: string
  kind: string
  namespaced: boolean
  verbs: string[]
}

test('health and version are told to anybody, discovery to those with a token', async () => {
  const { call, server } = await harness()
  for (const path of ['/healthz', '/readyz', '/livez']) {
    const answer = await fetch(server.url + path)
    expect([answer.status, await answer.text()]).toEqual([200, 'ok'])
  }
  expect((await (await fetch(`${server.url}/version`)).json()) as unknown).toMatchObject({
    major: '1',
    minor: '36',
  })
  expect((await fetch(`${server.url}/apis`)).status).toBe(401)
  expect((await call('GET', '/apis')).status).toBe(200)
})

test('every kind is found: group, version, resource, verbs', async () => {
  const { call } = await harness()
  expect((await call('GET', '/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] })
  const groups = (await call('GET', '/apis')).body.groups as {
    name: string
    versions: { groupVersion: string }[]
  }[]
  const paths = [
    '/api/v1',
    ...groups.flatMap(({ versions }) => versions.map((one) => `/apis/${one.groupVersion}`)),
  ]
  const found: Record<string, Resource[]> = {}
  for (const path of paths) found[path] = (await call('GET', path)).body.resources
  const kinds = (path: string) =>
    [...new Set(found[path]?.map((one) => one.kind))].sort((one, other) => one.localeCompare(other))
  expect(kinds('/api/v1')).toEqual([
    'ConfigMap',
    'Event',
    'Namespace',
    'Node',
    'PersistentVolumeClaim',
    'Pod',
    'Secret',
    'Service',
    'ServiceAccount',
  ])
  expect(kinds('/apis/apps/v1')).toEqual(['ControllerRevision', 'Deployment', 'ReplicaSet', 'StatefulSet'])
  expect(kinds('/apis/batch/v1')).toEqual(['Job'])
  expect(kinds('/apis/coordination.k8s.io/v1')).toEqual(['Lease'])
  expect(kinds('/apis/apiextensions.k8s.io/v1')).toEqual(['CustomResourceDefinition'])
  expect(kinds('/apis/serving.modelsphere.dev/v1alpha1')).toEqual(['LLMService'])
  const pods = found['/api/v1']?.find((one) => one.name === 'pods')
  expect(pods).toMatchObject({ namespaced: true, shortNames: ['po'], singularName: 'pod' })
  expect(pods?.verbs).toEqual([
    'create',
    'delete',
    'deletecollection',
    'get',
    'list',
    'patch',
    'update',
    'watch',
  ])
  expect(found['/api/v1']?.map((one) => one.name)).toContain('namespaces/finalize')
  for (const [path, resources] of Object.entries(found)) {
    for (const { name, verbs } of resources) {
      if (!verbs.includes('list')) continue
      expect([path, name, (await call('GET', `${path}/${name}`)).status]).toEqual([path, name, 200])
    }
  }
})

test('a kind that is taken away leaves discovery with its group', async () => {
  const { call, server } = await harness()
  const named = async () => (await call('GET', '/apis')).body.groups.map((one: { name: string }) => one.name)
  expect(await named()).toContain('serving.modelsphere.dev')
  expect((await call('GET', '/apis/serving.modelsphere.dev')).body.kind).toBe('APIGroup')
  server.setServed([])
  expect(await named()).not.toContain('serving.modelsphere.dev')
  expect((await call('GET', '/apis/serving.modelsphere.dev')).text).toBe('404 page not found\n')
})

test('aggregated discovery says the same in two answers', async () => {
  const { call } = await harness()
  const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const accept = { accept: `${type},application/json` }
  const core = await call('GET', '/api', undefined, accept)
  const others = await call('GET', '/apis', undefined, accept)
  expect(core.headers.get('content-type')).toBe(type)
  expect([core.body.kind, others.body.kind]).toEqual(['APIGroupDiscoveryList', 'APIGroupDiscoveryList'])
  const pods = core.body.items[0].versions[0].resources.find(
    (one: { resource: string }) => one.resource === 'pods',
  )
  expect(pods).toMatchObject({
    responseKind: { group: '', version: 'v1', kind: 'Pod' },
    scope: 'Namespaced',
    singularResource: 'pod',
    shortNames: ['po'],
    categories: ['all'],
    subresources: [{ subresource: 'status', verbs: ['get', 'patch', 'update'] }],
  })
  const names = others.body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
  const plain = (await call('GET', '/apis')).body.groups.map((one: { name: string }) => one.name)
  expect(names).toEqual(plain)
})

test('a token review of a bad token is 201, with an error and without authenticated', async () => {
  const { call } = await harness()
  const path = '/apis/authentication.k8s.io/v1/tokenreviews'
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' }
  const bad = await call('POST', path, { ...review, spec: { token: 'wrong' } })
  expect(bad.status).toBe(201)
  expect(bad.body.status).toEqual({ user: {}, error: expect.stringContaining('invalid bearer token') })
  const good = await call('POST', path, { ...review, spec: { token: 'secret' } })
  expect(good.body.status).toEqual({
    authenticated: true,
    user: { username: 'tester', groups: ['testers', 'system:authenticated'] },
  })
})

test('self reviews: who one is, and that one may', async () => {
  const { call } = await harness()
  const who = await call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {})
  expect([who.status, who.body.status.userInfo.username]).toEqual([201, 'tester'])
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const may = await call('POST', path, { spec: { resourceAttributes: { verb: 'delete', resource: 'pods' } } })
  expect([may.status, may.body.status]).toEqual([201, { allowed: true }])
  const protobuf = await call('POST', path, 'k8s', { 'content-type': 'application/vnd.kubernetes.protobuf' })
  expect(protobuf.status).toBe(415)
})

test('tables of pods say what kubectl shows of them', async () => {
  const { call, server, advance } = await harness()
  const statuses = (ready: boolean, state: object) => [{ name: 'main', ready, restartCount: 2, state }]
  server.store.create({
    ...pod('running'),
    status: { phase: 'Running', podIP: '10.1.0.1', containerStatuses: statuses(true, { running: {} }) },
  })
  server.store.create({
    ...pod('waiting'),
    status: {
      phase: 'Pending',
      containerStatuses: statuses(false, { waiting: { reason: 'ImagePullBackOff' } }),
    },
  })
  server.store.create({
    ...pod('going', { deletionTimestamp: '2031-01-01T00:00:30Z' }),
    status: { phase: 'Running' },
  })
  server.store.create({ ...pod('evicted'), status: { phase: 'Failed', reason: 'Evicted' } })
  server.store.create(pod('new'))
  await advance(3 * 3600 + 5 * 60)
  const { body } = await call('GET', `${team}/pods`, undefined, asTable)
  const names = body.columnDefinitions.map((column: { name: string }) => column.name)
  expect(names).toEqual(['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP', 'Node'])
  expect(body.rows.map((row: { cells: unknown[] }) => row.cells)).toEqual([
    ['evicted', '0/1', 'Evicted', '0', '3h5m', '<none>', 'n1'],
    ['going', '0/1', 'Terminating', '0', '3h5m', '<none>', 'n1'],
    ['new', '0/1', 'Pending', '0', '3h5m', '<none>', 'n1'],
    ['running', '1/1', 'Running', '2', '3h5m', '10.1.0.1', 'n1'],
    ['waiting', '0/1', 'ImagePullBackOff', '2', '3h5m', '<none>', 'n1'],
  ])
  expect(body.rows[0].object.kind).toBe('PartialObjectMetadata')
  expect(body.metadata.resourceVersion).toBe(server.resourceVersion)
})

test('tables of other kinds have their columns, custom ones those of their definition', async () => {
  const { call, server } = await harness()
  server.store.create(llmService('chat', {}, { status: { phase: 'Applied' } }))
  const custom = await call('GET', services, undefined, asTable)
  expect(custom.body.rows[0].cells).toEqual(['chat', 'Applied', '0s'])
  const one = await call('GET', `${services}/chat?includeObject=Object`, undefined, asTable)
  expect(one.body.rows[0].object).toMatchObject({ kind: 'LLMService', status: { phase: 'Applied' } })
  const conditions = [{ type: 'Ready', status: 'Unknown' }]
  server.store.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: { conditions } })
  const nodes = await call('GET', '/api/v1/nodes', undefined, asTable)
  expect(nodes.body.rows[0].cells.slice(0, 2)).toEqual(['n1', 'NotReady'])
  const about = { kind: 'Pod', name: 'chat-0' }
  const event = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e', namespace: 'team-a' } }
  server.store.create({
    ...event,
    involvedObject: about,
    reason: 'Killing',
    type: 'Normal',
    message: 'Stopping\n',
  })
  const events = await call('GET', `${team}/events`, undefined, asTable)
  expect(events.body.rows[0].cells).toEqual(['0s', 'Normal', 'Killing', 'pod/chat-0', 'Stopping'])
})

test('a definition without columns prints the name and the age', async () => {
  const { call, server } = await harness()
  const ref = { kind: 'CustomResourceDefinition', name: 'llmservices.serving.modelsphere.dev' }
  const versions = [{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } }]
  server.store.patch(ref, { spec: { versions } })
  server.store.create(llmService('chat'))
  const { body } = await call('GET', services, undefined, asTable)
  expect(body.rows[0].cells).toEqual(['chat', '0s'])
})
