import { expect, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import type { KubeClient } from '../../../sandbox/client.ts'
import { systemClock } from '../../../sandbox/clock.ts'
import { startKubelet } from '../../../sandbox/kubelet/kubelet.ts'
import { POD } from '../../../sandbox/resourceTypes.ts'
import { eventually, pod, readyNode, testCluster } from './support.ts'

async function clusterWithKubelet() {
  const cluster = await testCluster()
  const errors: string[] = []
  const { client } = cluster
  const pace = { startMs: 5, stopMs: 40, runMs: 5 }
  const kubelet = startKubelet({
    client,
    clock: systemClock,
    pace,
    onError: (message) => errors.push(message),
  })
  onTestFinished(async () => {
    await kubelet.stop()
    expect(errors).toEqual([])
  })
  await kubelet.synced
  const ref = (name: string) => ({ kind: 'Pod', namespace: 'team-a', name })
  const podNow = (name: string) => cluster.server.store.get(ref(name))
  const statusOf = (name: string) => (podNow(name)?.status ?? {}) as PodStatus
  return { ...cluster, podNow, statusOf, ref }
}

interface PodStatus {
  phase?: string
  conditions?: { message?: string }[]
}

interface Seen {
  type: string
  object: KubeObject
}

/** Every event of the team's pods from now on. */
async function podEvents(client: KubeClient): Promise<Seen[]> {
  const seen: Seen[] = []
  const ending = new AbortController()
  const { resourceVersion } = await client.list(POD)
  const watching = client
    .watch(POD, { namespace: 'team-a', resourceVersion }, (event) => seen.push(event), ending.signal)
    .catch(() => {})
  onTestFinished(async () => {
    ending.abort()
    await watching
  })
  return seen
}

const isReady = (object: KubeObject | undefined) =>
  (object?.status as { containerStatuses?: { ready: boolean }[] } | undefined)?.containerStatuses?.[0]
    ?.ready === true

test('a new pod is put on a node, runs, and becomes ready', async () => {
  const { server, client, podNow } = await clusterWithKubelet()
  const seen = await podEvents(client)
  server.store.create(readyNode('n1'))
  server.store.create(pod('p', { gpus: 2 }))
  await eventually(() => isReady(podNow('p')), 'a ready pod')
  expect(podNow('p')).toMatchObject({ spec: { nodeName: 'n1' }, status: { phase: 'Running' } })
  await eventually(() => seen.length >= 4, 'its four events')
  expect(seen.map(({ object }) => [(object.status as { phase: string }).phase, isReady(object)])).toEqual([
    ['Pending', false],
    ['Pending', false],
    ['Running', false],
    ['Running', true],
  ])
})

test('a pod that fits nowhere says why, and gets the place of one that goes', async () => {
  const { server, podNow, statusOf, ref } = await clusterWithKubelet()
  server.store.create(readyNode('n1', 8))
  server.store.create(pod('first', { gpus: 8 }))
  await eventually(() => isReady(podNow('first')), 'the first pod')
  server.store.create(pod('second', { gpus: 1 }))
  const message = () => statusOf('second').conditions?.[0]?.message
  expect(await eventually(message, 'a reason')).toBe(
    '0/1 nodes are available: 1 Insufficient nvidia.com/gpu.',
  )
  server.store.delete(ref('first'))
  await eventually(() => isReady(podNow('second')), 'the second pod')
})

test('two pods that come together do not get the same GPUs', async () => {
  const { server, podNow } = await clusterWithKubelet()
  server.store.create(readyNode('n1', 8))
  server.store.create(readyNode('n2', 8))
  for (const name of ['a', 'b']) server.store.create(pod(name, { gpus: 8 }))
  await eventually(() => isReady(podNow('a')) && isReady(podNow('b')), 'both')
  const nodes = ['a', 'b'].map((name) => (podNow(name)?.spec as { nodeName: string } | undefined)?.nodeName)
  expect(nodes.sort()).toEqual(['n1', 'n2'])
})

test('a deleted pod takes its time, and ends as a kubelet ends it', async () => {
  const { server, client, podNow, ref } = await clusterWithKubelet()
  server.store.create(readyNode('n1'))
  server.store.create(pod('p', { metadata: { annotations: { 'sandbox.swiss/stop-seconds': '0.1' } } }))
  await eventually(() => isReady(podNow('p')), 'a ready pod')
  const seen = await podEvents(client)
  const deletes: unknown[] = []
  server.onCall(({ verb, kind }) => verb === 'delete' && deletes.push(kind))
  server.store.delete(ref('p'))
  const asked = podNow('p')?.metadata
  expect(asked).toMatchObject({ deletionGracePeriodSeconds: 30 })
  await eventually(() => seen.some(({ type }) => type === 'DELETED'), 'the end')
  // What the recordings show: asked to go, then back to now with a grace of 0, then gone.
  expect(seen.map(({ type, object }) => [type, object.metadata.deletionGracePeriodSeconds])).toEqual([
    ['MODIFIED', 30],
    ['MODIFIED', 0],
    ['DELETED', 0],
  ])
  const [, moved] = seen.map(({ object }) => Date.parse(object.metadata.deletionTimestamp ?? ''))
  expect(moved).toBeLessThan(Date.parse(asked?.deletionTimestamp ?? ''))
  expect(deletes).toEqual(['Pod'])
})

test('pods of a lost node stay, until it is back', async () => {
  const { server, podNow, ref } = await clusterWithKubelet()
  const lost = { ...readyNode('n1'), status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }
  server.store.create(lost)
  server.store.create(readyNode('n2'))
  for (const [name, node] of [
    ['stays', 'n1'],
    ['nowhere', 'n3'],
    ['goes', 'n2'],
  ] as const) {
    server.store.create(pod(name, { node }))
    server.store.delete(ref(name))
  }
  await eventually(() => !podNow('goes'), 'the end of the pod on the node that is there')
  expect(podNow('stays')).toBeDefined()
  expect(podNow('nowhere')).toBeDefined()
  server.store.patch(
    { kind: 'Node', name: 'n1' },
    { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
  )
  await eventually(() => !podNow('stays'), 'the end of the pod on the node that came back')
  expect(podNow('nowhere')).toBeDefined()
})

test('a pod held by a finalizer is confirmed once and waits', async () => {
  const { server, podNow, ref } = await clusterWithKubelet()
  server.store.create(readyNode('n1'))
  server.store.create(pod('p', { node: 'n1', metadata: { finalizers: ['example.org/hold'] } }))
  await eventually(() => isReady(podNow('p')), 'a ready pod')
  let deletes = 0
  server.onCall(({ verb }) => {
    if (verb === 'delete') deletes += 1
  })
  server.store.delete(ref('p'))
  await eventually(() => podNow('p')?.metadata.deletionGracePeriodSeconds === 0, 'the confirmation')
  server.store.create(pod('after'))
  await eventually(() => isReady(podNow('after')), 'another pod, later')
  expect(deletes).toBe(1)
  server.store.patch(ref('p'), { metadata: { finalizers: null } })
  expect(podNow('p')).toBeUndefined()
})

test('a pod that does not restart ends Succeeded', async () => {
  const { server, statusOf } = await clusterWithKubelet()
  server.store.create(readyNode('n1'))
  const job = pod('job')
  server.store.create({ ...job, spec: { ...(job.spec as object), restartPolicy: 'Never' } })
  await eventually(() => statusOf('job').phase === 'Succeeded', 'its end')
})
