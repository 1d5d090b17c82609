import { describe, expect, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import { systemClock } from '../../../sandbox/clock.ts'
import { startControllers } from '../../../sandbox/controllers/controllers.ts'
import { startKubelet } from '../../../sandbox/kubelet/kubelet.ts'
import { CONFIG_MAP, DEPLOYMENT, JOB, NAMESPACE, STATEFUL_SET } from '../../../sandbox/resourceTypes.ts'
import { eventually, readyNode, testClient, testCluster } from './support.ts'

async function runningCluster() {
  const cluster = await testCluster()
  const { server, client } = cluster
  const errors: string[] = []
  const onError = (message: string) => errors.push(message)
  server.store.create(readyNode('n1'))
  server.store.create({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team-a' },
    spec: { finalizers: ['kubernetes'] },
  })
  const pace = { startMs: 2, stopMs: 30, runMs: 2 }
  const parts = [
    startControllers({ client: testClient(server), clock: systemClock, onError }),
    startKubelet({ client: testClient(server), clock: systemClock, pace, onError }),
  ]
  onTestFinished(async () => {
    for (const part of parts) await part.stop()
    expect(errors).toEqual([])
  })
  await Promise.all(parts.map((part) => part.synced))
  const all = (kind: string) => server.store.list(kind).filter((it) => it.metadata.namespace === 'team-a')
  const pods = () => all('Pod')
  const readyPods = () =>
    pods().filter(
      (it) => (it.status as { containerStatuses?: { ready: boolean }[] }).containerStatuses?.[0]?.ready,
    )
  return { server, client, all, pods, readyPods }
}

const workload = (name: string, replicas: number) => ({
  metadata: { name, namespace: 'team-a' },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name }, annotations: { note: 'x' } },
      spec: { containers: [{ name: 'c', image: 'i:1' }], terminationGracePeriodSeconds: 30 },
    },
  },
})

describe('a Deployment', () => {
  test('has as many pods as it says, with the labels of its template, through a ReplicaSet', async () => {
    const { server, client, all, pods, readyPods } = await runningCluster()
    await client.create(DEPLOYMENT, workload('web', 3), 'team-a')
    await eventually(() => readyPods().length === 3, 'three ready pods')
    const [set] = all('ReplicaSet')
    for (const { metadata } of pods()) {
      expect(metadata.labels).toMatchObject({
        app: 'web',
        'pod-template-hash': /^web-(.*)$/.exec(set?.metadata.name ?? '')?.[1],
      })
      expect(metadata.annotations).toEqual({ note: 'x' })
      expect(metadata.ownerReferences).toMatchObject([
        { kind: 'ReplicaSet', name: set?.metadata.name, uid: set?.metadata.uid },
      ])
    }
    const ref = { kind: 'Deployment', namespace: 'team-a', name: 'web' }
    const status = () => server.store.get(ref)?.status as Record<string, number>
    await eventually(() => status().readyReplicas === 3, 'its status')
    expect(status()).toMatchObject({
      replicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
      observedGeneration: 1,
    })
    expect(pods()).toHaveLength(3)
  })

  test('replaces a pod that goes, and takes some away when it wants fewer', async () => {
    const { server, client, pods, readyPods } = await runningCluster()
    await client.create(DEPLOYMENT, workload('web', 2), 'team-a')
    await eventually(() => readyPods().length === 2, 'two pods')
    const [victim] = pods()
    server.store.delete({ kind: 'Pod', namespace: 'team-a', name: victim?.metadata.name ?? '' })
    await eventually(
      () => readyPods().length === 2 && !pods().some((it) => it.metadata.uid === victim?.metadata.uid),
      'another pod instead',
    )
    await client.patch(DEPLOYMENT, 'team-a', 'web', { spec: { replicas: 1 } })
    await eventually(() => pods().length === 1, 'one pod')
  })

  test('with a new template has new pods, and then no old ones', async () => {
    const { client, pods, readyPods } = await runningCluster()
    await client.create(DEPLOYMENT, workload('web', 2), 'team-a')
    await eventually(() => readyPods().length === 2, 'two pods')
    const images = () =>
      pods().map((it) => (it.spec as { containers: { image: string }[] }).containers[0]?.image)
    await client.patch(DEPLOYMENT, 'team-a', 'web', {
      spec: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } },
    })
    await eventually(() => images().join() === 'i:2,i:2', 'only new pods')
  })

  test('that is deleted takes its pods along, gracefully', async () => {
    const { client, all, pods, readyPods } = await runningCluster()
    await client.create(DEPLOYMENT, workload('web', 2), 'team-a')
    await eventually(() => readyPods().length === 2, 'two pods')
    await client.delete(DEPLOYMENT, 'team-a', 'web', { propagation: 'Background' })
    const going = await eventually(
      () => pods().length === 2 && pods().every((it) => it.metadata.deletionTimestamp) && pods(),
      'both going',
    )
    expect(going.map((it) => it.metadata.deletionGracePeriodSeconds)).toEqual([30, 30])
    await eventually(() => pods().length === 0, 'no pods')
    expect(all('ReplicaSet')).toEqual([])
  })

  test('in the foreground goes after its pods; orphaned pods stay', async () => {
    const { client, all, pods, readyPods } = await runningCluster()
    await client.create(DEPLOYMENT, workload('web', 1), 'team-a')
    await client.create(DEPLOYMENT, workload('left', 1), 'team-a')
    await eventually(() => readyPods().length === 2, 'two pods')
    await client.delete(DEPLOYMENT, 'team-a', 'web', { propagation: 'Foreground' })
    await client.delete(DEPLOYMENT, 'team-a', 'left', { propagation: 'Orphan' })
    await eventually(() => pods().some((it) => it.metadata.deletionTimestamp), 'a pod going')
    expect(all('Deployment').map((it) => it.metadata.name)).toContain('web')
    await eventually(() => all('Deployment').length === 0, 'no Deployment')
    expect(pods().map((it) => it.metadata.labels?.app)).toEqual(['left'])
    const [set] = all('ReplicaSet')
    expect(set?.metadata.ownerReferences).toBeUndefined()
  })
})

test('a StatefulSet names its pods, and waits for a name to be free', async () => {
  const { server, client, pods, readyPods } = await runningCluster()
  await client.create(STATEFUL_SET, workload('db', 2), 'team-a')
  await eventually(() => readyPods().length === 2, 'two pods')
  expect(pods().map((it) => it.metadata.name)).toEqual(['db-0', 'db-1'])
  const first = pods()[0]?.metadata.uid
  server.store.delete({ kind: 'Pod', namespace: 'team-a', name: 'db-0' })
  await eventually(() => readyPods().length === 2 && pods()[0]?.metadata.uid !== first, 'a new db-0')
  await client.patch(STATEFUL_SET, 'team-a', 'db', { spec: { replicas: 1 } })
  await eventually(
    () =>
      pods()
        .map((it) => it.metadata.name)
        .join() === 'db-0',
    'only db-0',
  )
})

test('a Job runs one pod to its end', async () => {
  const { server, client, pods } = await runningCluster()
  const { metadata, spec } = workload('check', 1)
  const template = { ...spec.template, spec: { ...spec.template.spec, restartPolicy: 'Never' } }
  await client.create(JOB, { metadata, spec: { template } }, 'team-a')
  const status = () =>
    server.store.get({ kind: 'Job', namespace: 'team-a', name: 'check' })?.status as {
      succeeded?: number
      conditions?: { type: string }[]
    }
  await eventually(() => status().conditions?.some((it) => it.type === 'Complete'), 'its completion')
  expect(status().succeeded).toBe(1)
  expect(pods().map((it) => (it.status as { phase: string }).phase)).toEqual(['Succeeded'])
})

describe('garbage collection', () => {
  const configMap = (name: string, owners: object[]): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'team-a', ownerReferences: owners as Record<string, unknown>[] },
  })
  const owner = (name: string, uid: string, kind = 'ConfigMap', apiVersion = 'v1') => ({
    apiVersion,
    kind,
    name,
    uid,
  })

  test('takes what has no owner left, and nothing else', async () => {
    const { server, client, all } = await runningCluster()
    const made = [configMap('one', []), configMap('two', [])].map((it) => server.store.create(it))
    const [one = '', two = ''] = made.map((it) => it.metadata.uid)
    server.store.create(configMap('of-one', [owner('one', one)]))
    server.store.create(configMap('of-both', [owner('one', one), owner('two', two)]))
    server.store.create(configMap('of-nobody', [owner('gone', 'uid-gone')]))
    server.store.create(configMap('of-another', [owner('two', 'uid-of-an-older-two')]))
    // A kind that is not served tells nothing about its objects.
    server.store.create(
      configMap('of-a-canary', [owner('c', 'uid-c', 'LLMCanary', 'serving.modelsphere.dev/v1alpha1')]),
    )
    server.store.create(configMap('of-a-stranger', [owner('s', 'uid-s', 'Stranger', 'example.org/v1')]))
    const names = () => all('ConfigMap').map((it) => it.metadata.name)
    await eventually(
      () => !names().includes('of-nobody') && !names().includes('of-another'),
      'the first to go',
    )
    await client.delete(CONFIG_MAP, 'team-a', 'one', {})
    await eventually(() => !names().includes('of-one'), 'the dependent of one')
    await client.delete(CONFIG_MAP, 'team-a', 'two', {})
    await eventually(() => !names().includes('of-both'), 'the dependent of both')
    expect(names()).toEqual(['of-a-canary', 'of-a-stranger'])
  })
})

test('a namespace that is deleted is emptied, pods gracefully, and then goes', async () => {
  const { server, client, all, pods, readyPods } = await runningCluster()
  await client.create(DEPLOYMENT, workload('web', 1), 'team-a')
  await client.create(CONFIG_MAP, { metadata: { name: 'a' } }, 'team-a')
  await eventually(() => readyPods().length === 1, 'a pod')
  await client.delete(NAMESPACE, '', 'team-a')
  await eventually(() => pods()[0]?.metadata.deletionTimestamp, 'the pod going')
  expect(server.store.get({ kind: 'Namespace', name: 'team-a' })?.status).toMatchObject({
    phase: 'Terminating',
  })
  await eventually(() => !server.store.get({ kind: 'Namespace', name: 'team-a' }), 'the end of the namespace')
  expect([...pods(), ...all('ConfigMap'), ...all('Deployment'), ...all('ReplicaSet')]).toEqual([])
})
