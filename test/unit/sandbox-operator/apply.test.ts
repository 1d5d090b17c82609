import { expect, test } from 'vitest'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import { runHelm } from '../../../sandbox/helm/run.ts'
import { CONTROLLER_REVISION, DEPLOYMENT, LLM_SERVICE } from '../../../sandbox/resourceTypes.ts'
import { seedSamples } from '../../../sandbox/samples/samples.ts'
import { eventually } from '../sandbox-parts/support.ts'
import { llmService, operatedCluster, prefix, storyOf } from './support.ts'

const records = (secrets: KubeObject[]) =>
  secrets.map(({ metadata: { name, labels } }) => `${name} ${labels?.status}`)

const swiss = 'swiss.modelsphere.dev/'

const layersWith = (tag: string) => [{ name: 'catalog', values: { image: { repository: 'r', tag } } }]

test('a new LLMService gets its finalizer, its release and its history', async () => {
  const cluster = await operatedCluster()
  const { client, env } = cluster
  const story = await storyOf(cluster, 'chat')
  const annotations = { 'swiss.modelsphere.dev/plan-hash': 'abc', 'swiss.modelsphere.dev/action': 'install' }
  await client.create(LLM_SERVICE, llmService('chat', { annotations, form: { replicaCount: 2 } }), 'team-a')
  const status = await cluster.status('chat', (it) => it.phase === 'Applied', 'Applied')
  expect(status).toEqual({
    phase: 'Applied',
    observedGeneration: 1,
    appliedHash: 'abc',
    chart: { name: 'sglang', version: '0.7.1' },
    helm: { revision: 1, status: 'deployed' },
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Applied',
        message: '',
        lastTransitionTime: expect.any(String),
      },
    ],
    history: [
      {
        revision: 1,
        hash: 'abc',
        appliedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        controllerRevision: expect.stringMatching(/^chat-v1-[0-9a-f]{10}$/),
        annotations,
        action: 'install',
      },
    ],
  })
  await eventually(() => story.includes('Applied'), 'the story')
  expect(story).toEqual(['new', 'Pending', 'Applying', 'Applied'])
  expect(cluster.service('chat')?.metadata.finalizers).toEqual([`${prefix}/finalizer`])

  const [snapshot] = cluster.all('ControllerRevision')
  expect(snapshot).toMatchObject({
    metadata: {
      name: status.history?.[0]?.controllerRevision,
      labels: { [`${prefix}/llmservice`]: 'chat' },
      ownerReferences: [{ kind: 'LLMService', name: 'chat', controller: true }],
    },
    revision: 1,
    data: { spec: cluster.service('chat')?.spec, annotations },
  })
  expect(records(cluster.all('Secret'))).toEqual(['sh.helm.release.v1.chat.v1 deployed'])
  const listed = await runHelm(['list', '--namespace', 'team-a', '-o', 'json'], env)
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { name: 'chat', revision: '1', status: 'deployed', chart: 'sglang-0.7.1', app_version: 'v1' },
  ])
  await eventually(() => cluster.pods('chat').length === 2, 'its pods')
  for (const pod of cluster.pods('chat')) {
    expect(pod.metadata.labels).toMatchObject({ app: 'chat-sglang', 'app.kubernetes.io/name': 'sglang' })
    expect(pod.spec).toMatchObject({
      containers: [{ image: 'lmsysorg/sglang:v1', resources: { limits: { 'nvidia.com/gpu': '2' } } }],
      terminationGracePeriodSeconds: 3600,
    })
  }
})

test('a changed spec is the next revision, and what the chart no longer makes goes', async () => {
  const cluster = await operatedCluster()
  const { client } = cluster
  await client.create(LLM_SERVICE, llmService('chat', { layers: layersWith('v1') }), 'team-a')
  await cluster.status('chat', (it) => it.helm?.revision === 1, 'revision 1')
  const story = await storyOf(cluster, 'chat')
  const annotations = { 'swiss.modelsphere.dev/action': 'rollback' }
  await client.patch(LLM_SERVICE, 'team-a', 'chat', {
    metadata: { annotations },
    spec: { layers: layersWith('v2') },
  })
  const second = await cluster.status('chat', (it) => it.helm?.revision === 2, 'revision 2')
  expect(second).toMatchObject({ phase: 'Applied', observedGeneration: 2 })
  expect(second.history?.map(({ revision, action }) => [revision, action])).toEqual([
    [2, 'rollback'],
    [1, 'install'],
  ])
  await eventually(() => story.includes('Applied'), 'the story')
  expect(story).toEqual(expect.arrayContaining(['Applying', 'Applied']))
  expect(records(cluster.all('Secret'))).toEqual([
    'sh.helm.release.v1.chat.v1 superseded',
    'sh.helm.release.v1.chat.v2 deployed',
  ])
  const deployment = await client.get(DEPLOYMENT, 'team-a', 'chat-sglang')
  expect(deployment?.spec).toMatchObject({ template: { spec: { containers: [{ image: 'r:v2' }] } } })

  await client.patch(LLM_SERVICE, 'team-a', 'chat', { spec: { chart: { name: 'vllm' } } })
  const third = await cluster.status('chat', (it) => it.helm?.revision === 3, 'revision 3')
  expect(third.chart).toEqual({ name: 'vllm', version: '0.7.1' })
  expect(cluster.all('Deployment').map((it) => it.metadata.name)).toEqual(['chat-vllm'])
  expect(cluster.all('ControllerRevision').map((it) => it.revision)).toEqual([1, 2, 3])
})

test('a change of the annotations alone is a revision too, and none of the pods is replaced for it', async () => {
  const cluster = await operatedCluster()
  const { client } = cluster
  const annotations = { [`${swiss}plan-hash`]: 'one', [`${swiss}action`]: 'install' }
  await client.create(LLM_SERVICE, llmService('chat', { annotations, form: { replicaCount: 2 } }), 'team-a')
  await cluster.status('chat', (it) => it.helm?.revision === 1, 'revision 1')
  await eventually(() => cluster.pods('chat').length === 2, 'its pods')
  const pods = cluster.pods('chat').map((it) => it.metadata.uid)
  const next = { [`${swiss}plan-hash`]: 'two', [`${swiss}action`]: 'rollback', [`${swiss}note`]: 'back' }
  await client.patch(LLM_SERVICE, 'team-a', 'chat', { metadata: { annotations: next } })
  const status = await cluster.status('chat', (it) => it.helm?.revision === 2, 'revision 2')
  expect(status).toMatchObject({ phase: 'Applied', observedGeneration: 1, appliedHash: 'two' })
  expect(status.history).toMatchObject([
    { revision: 2, hash: 'two', action: 'rollback', annotations: next },
    { revision: 1, hash: 'one', action: 'install', annotations },
  ])
  const snapshots = cluster.all('ControllerRevision')
  expect(snapshots.map((it) => it.metadata.name)).toEqual(
    status.history?.map((it) => it.controllerRevision).reverse(),
  )
  const { spec } = cluster.service('chat') ?? {}
  expect(snapshots.map((it) => it.data)).toEqual([
    { spec, annotations },
    { spec, annotations: next },
  ])
  // Others are nobody's revision.
  await cluster.annotate('chat', 'route-settle', '0s')
  await client.patch(LLM_SERVICE, 'team-a', 'chat', {
    metadata: { annotations: { [`${swiss}note`]: 'again' } },
  })
  const third = await cluster.status('chat', (it) => it.helm?.revision === 3, 'revision 3')
  expect(third.history).toHaveLength(3)
  expect(cluster.pods('chat').map((it) => it.metadata.uid)).toEqual(pods)
  expect(cluster.all('ReplicaSet')).toHaveLength(1)
})

test('writing the spec and the annotations of a snapshot back is a rollback', async () => {
  const cluster = await operatedCluster()
  const { client } = cluster
  const annotations = { [`${swiss}plan-hash`]: 'one' }
  await client.create(LLM_SERVICE, llmService('chat', { annotations, layers: layersWith('v1') }), 'team-a')
  await cluster.status('chat', (it) => it.helm?.revision === 1, 'revision 1')
  await client.patch(LLM_SERVICE, 'team-a', 'chat', {
    metadata: { annotations: { [`${swiss}plan-hash`]: 'two' } },
    spec: { layers: layersWith('v2') },
  })
  const second = await cluster.status('chat', (it) => it.helm?.revision === 2, 'revision 2')
  const name = second.history?.find((it) => it.revision === 1)?.controllerRevision ?? ''
  const snapshot = await client.get(CONTROLLER_REVISION, 'team-a', name)
  const data = snapshot?.data as { spec: object; annotations: Record<string, string> }
  await client.patch(LLM_SERVICE, 'team-a', 'chat', {
    metadata: { annotations: { ...data.annotations, [`${swiss}action`]: 'rollback' } },
    spec: data.spec,
  })
  const third = await cluster.status('chat', (it) => it.helm?.revision === 3, 'revision 3')
  expect(third).toMatchObject({ phase: 'Applied', appliedHash: 'one' })
  expect(third.history?.map(({ revision, hash, action }) => [revision, hash, action])).toEqual([
    [3, 'one', 'rollback'],
    [2, 'two', 'apply'],
    [1, 'one', 'install'],
  ])
  const deployment = await client.get(DEPLOYMENT, 'team-a', 'chat-sglang')
  expect(deployment?.spec).toMatchObject({ template: { spec: { containers: [{ image: 'r:v1' }] } } })
})

test('what has failed is tried again when it is applied once more', async () => {
  const cluster = await operatedCluster()
  const { client, server } = cluster
  const foreign = { kind: 'Deployment', namespace: 'team-a', name: 'chat-sglang' }
  server.store.create({
    apiVersion: 'apps/v1',
    ...foreign,
    metadata: { name: foreign.name, namespace: foreign.namespace },
    spec: { replicas: 0, selector: { matchLabels: { a: 'b' } }, template: { spec: {} } },
  })
  await client.create(LLM_SERVICE, llmService('chat'), 'team-a')
  await cluster.status('chat', (it) => it.phase === 'Failed', 'Failed')
  server.store.remove(foreign)
  await client.patch(LLM_SERVICE, 'team-a', 'chat', {
    metadata: { annotations: { [`${swiss}note`]: 'again' } },
  })
  const status = await cluster.status('chat', (it) => it.phase === 'Applied', 'Applied')
  expect(status).toMatchObject({ helm: { revision: 2 }, observedGeneration: 1 })
  expect(status).not.toHaveProperty('failedHash')
})

test('a snapshot of a later revision is not taken away by an operator that is behind', async () => {
  const cluster = await operatedCluster()
  const { client, server } = cluster
  const later = (revision: number) => ({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `other-${revision}`,
      namespace: 'team-a',
      labels: { [`${prefix}/llmservice`]: 'chat' },
    },
    revision,
    data: {},
  })
  for (const revision of [1, 2]) server.store.create(later(revision))
  await client.create(LLM_SERVICE, llmService('chat'), 'team-a')
  const status = await cluster.status('chat', (it) => it.phase === 'Applied', 'Applied')
  const left = () => cluster.all('ControllerRevision').map((it) => it.metadata.name)
  await eventually(() => left().length === 2, 'the clean-up')
  expect(left()).toEqual([status.history?.[0]?.controllerRevision, 'other-2'])
})

test('no more than ten revisions are kept', async () => {
  const cluster = await operatedCluster()
  await cluster.client.create(LLM_SERVICE, llmService('chat', { layers: layersWith('v1') }), 'team-a')
  for (let revision = 1; revision <= 12; revision++) {
    await cluster.client.patch(LLM_SERVICE, 'team-a', 'chat', {
      spec: { layers: layersWith(`v${revision}`) },
    })
    await cluster.status('chat', (it) => it.helm?.revision === revision, `revision ${revision}`)
  }
  expect(cluster.service('chat')?.status?.history?.map((it) => it.revision)).toEqual([
    12, 11, 10, 9, 8, 7, 6, 5, 4, 3,
  ])
  await eventually(() => cluster.all('ControllerRevision').length === 10, 'the clean-up')
  expect(cluster.all('Secret')).toHaveLength(10)
})

test('what cannot be applied is Failed with the reason, until the spec changes', async () => {
  const cluster = await operatedCluster()
  const { client, server } = cluster
  server.store.create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'foreign-sglang', namespace: 'team-a' },
    spec: { replicas: 0, selector: { matchLabels: { a: 'b' } }, template: { spec: {} } },
  })
  await client.create(LLM_SERVICE, llmService('broken', { chart: {} }), 'team-a')
  await client.create(LLM_SERVICE, llmService('foreign'), 'team-a')
  const broken = await cluster.status('broken', (it) => it.phase === 'Failed', 'Failed')
  expect(broken).toMatchObject({
    message: 'spec.chart.name is missing',
    observedGeneration: 1,
    conditions: [{ type: 'Ready', status: 'False', reason: 'Failed', message: 'spec.chart.name is missing' }],
  })
  const foreign = await cluster.status('foreign', (it) => it.phase === 'Failed', 'Failed')
  expect(foreign).toMatchObject({
    message: 'Deployment team-a/foreign-sglang exists and is not of this release',
    helm: { revision: 1, status: 'failed' },
  })
  expect(records(cluster.all('Secret'))).toEqual(['sh.helm.release.v1.foreign.v1 failed'])

  await client.patch(LLM_SERVICE, 'team-a', 'broken', { spec: { chart: { name: 'sglang' } } })
  const mended = await cluster.status('broken', (it) => it.phase === 'Applied', 'Applied')
  expect(mended).not.toHaveProperty('message')
  await client.patch(LLM_SERVICE, 'team-a', 'foreign', { spec: { chart: { name: 'vllm' } } })
  expect(await cluster.status('foreign', (it) => it.phase === 'Applied', 'Applied')).toMatchObject({
    helm: { revision: 2, status: 'deployed' },
    history: [{ revision: 2, action: 'install' }],
  })
})

test('a suspended one is held, and goes on where it was', async () => {
  const cluster = await operatedCluster()
  const { client } = cluster
  const suspend = (it: boolean, more = {}) =>
    client.patch(LLM_SERVICE, 'team-a', 'chat', { spec: { suspend: it, ...more } })
  await client.create(LLM_SERVICE, llmService('chat', { suspend: true }), 'team-a')
  const held = await cluster.status('chat', (it) => it.message === 'suspended', 'suspended')
  expect(held).toMatchObject({ phase: 'Pending' })
  expect(held).not.toHaveProperty('observedGeneration')
  expect(cluster.all('Secret')).toEqual([])

  await suspend(false)
  await cluster.status('chat', (it) => it.phase === 'Applied', 'Applied')
  await suspend(true)
  const known = await cluster.status('chat', (it) => it.message === 'suspended', 'suspended')
  expect(known).toMatchObject({ phase: 'Applied', observedGeneration: 3 })
  await suspend(false)
  const resumed = await cluster.status('chat', (it) => it.observedGeneration === 4, 'resumed')
  expect(resumed).not.toHaveProperty('message')
  expect(resumed.history).toHaveLength(1)

  await suspend(true)
  await cluster.status('chat', (it) => it.message === 'suspended', 'suspended')
  await suspend(true, { chart: { version: '0.8.0' } })
  await suspend(false)
  const next = await cluster.status('chat', (it) => it.helm?.revision === 2, 'revision 2')
  expect(next.chart).toEqual({ name: 'sglang', version: '0.8.0' })
})

test('an operator that ended in the middle is followed by one that finishes the same revision', async () => {
  const cluster = await operatedCluster({ expectErrors: true })
  const { client, server } = cluster
  server.fault({ verb: 'create', kind: 'Deployment', status: 500, message: 'no' })
  await client.create(LLM_SERVICE, llmService('chat'), 'team-a')
  await eventually(() => cluster.errors.some((it) => it.includes('no')), 'the error')
  expect(cluster.service('chat')?.status?.phase).toBe('Applying')
  expect(records(cluster.all('Secret'))).toEqual(['sh.helm.release.v1.chat.v1 pending-install'])
  await cluster.operator.stop()
  server.clearFaults()
  cluster.operate()
  await cluster.status('chat', (it) => it.phase === 'Applied', 'Applied')
  expect(records(cluster.all('Secret'))).toEqual(['sh.helm.release.v1.chat.v1 deployed'])
  expect(cluster.all('ControllerRevision')).toHaveLength(1)
})

test('one that ended before the last write of the status makes no second revision', async () => {
  const cluster = await operatedCluster({ expectErrors: true })
  const { client, server } = cluster
  server.fault({ verb: 'create', kind: 'ControllerRevision', status: 503, message: 'not now' })
  await client.create(LLM_SERVICE, llmService('chat'), 'team-a')
  await eventually(() => cluster.errors.length > 0, 'the error')
  await cluster.operator.stop()
  server.clearFaults()
  cluster.operate()
  const status = await cluster.status('chat', (it) => it.phase === 'Applied', 'Applied')
  expect(status.history?.map((it) => it.revision)).toEqual([1])
  expect(records(cluster.all('Secret'))).toEqual(['sh.helm.release.v1.chat.v1 deployed'])
})

test('a spec that changes while it is being applied wins', async () => {
  const cluster = await operatedCluster({ expectErrors: true })
  const { client, server } = cluster
  server.fault({ verb: 'create', kind: 'Deployment', status: 500, message: 'no' })
  await client.create(LLM_SERVICE, llmService('chat', { layers: layersWith('v1') }), 'team-a')
  await eventually(() => cluster.errors.length > 0, 'the error')
  await client.patch(LLM_SERVICE, 'team-a', 'chat', { spec: { layers: layersWith('v2') } })
  await eventually(() => cluster.all('Secret').length === 2, 'the next revision')
  server.clearFaults()
  const status = await cluster.status('chat', (it) => it.phase === 'Applied', 'Applied')
  expect(status.history?.map((it) => it.revision)).toEqual([2])
  expect(records(cluster.all('Secret'))).toEqual([
    'sh.helm.release.v1.chat.v1 failed',
    'sh.helm.release.v1.chat.v2 deployed',
  ])
})

test('two operators do what one does', async () => {
  const cluster = await operatedCluster()
  cluster.operate()
  cluster.operate()
  const { client } = cluster
  const names = Array.from({ length: 4 }, (_, index) => `chat-${index}`)
  for (const name of names) {
    await client.create(LLM_SERVICE, llmService(name, { layers: layersWith('v1') }), 'team-a')
  }
  for (const name of names) {
    await cluster.status(name, (it) => it.helm?.revision === 1, 'revision 1')
    await client.patch(LLM_SERVICE, 'team-a', name, { spec: { layers: layersWith('v2') } })
  }
  for (const name of names) {
    const status = await cluster.status(name, (it) => (it.helm?.revision ?? 0) >= 2, 'revision 2')
    expect(status.history?.map((it) => it.revision)).toEqual([2, 1])
    expect(await client.get(DEPLOYMENT, 'team-a', `${name}-sglang`)).toMatchObject({
      spec: { template: { spec: { containers: [{ image: 'r:v2' }] } } },
    })
  }
  expect(cluster.all('Secret')).toHaveLength(8)
  expect(cluster.all('ControllerRevision')).toHaveLength(8)
})

test.each([
  ['deployed', 'stays', [1]],
  ['uninstalling', 'goes', [2]],
])('an object made while its record became %s %s', async (state, _what, revisions) => {
  const cluster = await operatedCluster()
  const { client, server } = cluster
  const name = 'sh.helm.release.v1.chat.v1'
  const ref = { kind: 'Secret', namespace: 'team-a', name }
  const uid = () => cluster.all('Deployment')[0]?.metadata.uid
  let made: string | undefined
  server.fault({
    verb: 'get',
    kind: 'Secret',
    name,
    first() {
      if (made !== undefined || uid() === undefined) return
      made = uid()
      server.store.patch(ref, { metadata: { labels: { status: state } } })
    },
  })
  await client.create(LLM_SERVICE, llmService('chat'), 'team-a')
  const status = await cluster.status('chat', (it) => it.phase === 'Applied', 'Applied')
  expect(status.history?.map((it) => it.revision)).toEqual(revisions)
  expect(made).toBeDefined()
  if (state === 'deployed') expect(uid()).toBe(made)
  else expect(uid()).not.toBe(made)
})

test('only its namespaces are looked after', async () => {
  const cluster = await operatedCluster()
  const { client, server } = cluster
  await cluster.operator.stop()
  server.store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  await cluster.operate({ namespaces: ['team-a'] }).synced
  const other = llmService('chat')
  await client.create(LLM_SERVICE, { ...other, metadata: { ...other.metadata, namespace: 'other' } }, 'other')
  await client.create(LLM_SERVICE, llmService('chat'), 'team-a')
  await cluster.status('chat', (it) => it.phase === 'Applied', 'Applied')
  expect(await client.get(LLM_SERVICE, 'other', 'chat')).not.toHaveProperty('status')
})

test('the sample is left as it is, and can be upgraded', async () => {
  const versions = new Map<string, string | undefined>()
  const seed = ({
    server,
  }: Parameters<NonNullable<Parameters<typeof operatedCluster>[0]>['seed'] & object>[0]) => {
    seedSamples(server.store, Date.now())
    for (const { metadata } of server.store.list('LLMService')) {
      versions.set(metadata.name, metadata.resourceVersion)
    }
  }
  const cluster = await operatedCluster({ seed })
  const { client } = cluster
  expect([...versions.keys()].sort()).toEqual(['assistant', 'assistant-canary', 'code-review'])
  await client.patch(LLM_SERVICE, 'team-b', 'code-review', { spec: { chart: { version: '0.7.2' } } })
  const status = await cluster.status('code-review', (it) => it.helm?.revision === 3, 'revision 3')
  expect(status.history?.map((it) => it.revision)).toEqual([3, 2, 1])
  const deployment = await client.get(DEPLOYMENT, 'team-b', 'code-review-sglang')
  expect(deployment?.metadata.labels?.['helm.sh/chart']).toBe('sglang-0.7.2')
  // What the sample runs is what its charts make: scaling leaves the pods that are there alone.
  await client.patch(LLM_SERVICE, 'team-b', 'assistant', {
    metadata: { annotations: { [`${swiss}note`]: '1' } },
  })
  await cluster.status('assistant', (it) => it.helm?.revision === 2, 'revision 2')
  expect(
    cluster.all('ReplicaSet').filter((it) => it.metadata.name.startsWith('assistant-sglang')),
  ).toHaveLength(1)
  for (const name of ['assistant-canary']) {
    expect(cluster.service(name)?.metadata.resourceVersion).toBe(versions.get(name))
  }
})
