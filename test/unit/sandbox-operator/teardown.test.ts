import { expect, test } from 'vitest'
import { runHelm } from '../../../sandbox/helm/run.ts'
import { LLM_SERVICE } from '../../../sandbox/resourceTypes.ts'
import { seedSamples } from '../../../sandbox/samples/samples.ts'
import { eventually } from '../sandbox-parts/support.ts'
import { llmService, type OperatedCluster, operatedCluster, prefix, storyOf } from './support.ts'

const minute = 60_000

/** An applied LLMService with two ready pods. */
async function applied(
  cluster: OperatedCluster,
  annotations: Record<string, string> = { 'route-settle': '0s' },
  name = 'chat',
): Promise<void> {
  const own = Object.fromEntries(Object.entries(annotations).map(([key, text]) => [`${prefix}/${key}`, text]))
  const service = llmService(name, { annotations: own, form: { replicaCount: 2 } })
  await cluster.client.create(LLM_SERVICE, service, 'team-a')
  await cluster.status(name, (it) => it.phase === 'Applied', 'Applied')
  await eventually(() => running(cluster, name) === 2, 'two running pods')
}

const running = (cluster: OperatedCluster, name: string) =>
  cluster.pods(name).filter((it) => (it.status as { phase?: string }).phase === 'Running').length

const remove = (cluster: OperatedCluster, name = 'chat') => cluster.client.delete(LLM_SERVICE, 'team-a', name)

const stageOf = (cluster: OperatedCluster, stage: string, name = 'chat') =>
  cluster.status(name, (it) => it.deletion?.stage === stage, stage)

const workload = (cluster: OperatedCluster) =>
  ['Deployment', 'Service', 'Secret'].flatMap((kind) => cluster.all(kind)).map((it) => it.metadata.name)

/** Both pods have been asked to stop, and the status says so. */
const bothStopping = (cluster: OperatedCluster) =>
  cluster.status(
    'chat',
    (it) => {
      const messages = it.deletion?.pods?.map((pod) => pod.message) ?? []
      return messages.length === 2 && messages.every((message) => message.startsWith('is stopping, by '))
    },
    'two pods that are stopping',
  )

/** The kubelet has done its work, as it does for pods that have been asked to stop: others are replaced. */
async function letGo(cluster: OperatedCluster, name = 'chat', count = 2): Promise<void> {
  const stopping = () => cluster.pods(name).filter((it) => it.metadata.deletionTimestamp !== undefined)
  await eventually(() => stopping().length >= count, `${count} pods of ${name} that are stopping`)
  for (const { metadata } of stopping().slice(0, count)) {
    cluster.server.store.remove({ kind: 'Pod', namespace: 'team-a', name: metadata.name })
  }
}

test('a teardown goes stage by stage, whoever looks after it', async () => {
  const cluster = await operatedCluster()
  await applied(cluster, { 'route-settle': '1h' })
  const story = await storyOf(cluster, 'chat')
  const asked = Date.now()
  await remove(cluster)
  const settling = await stageOf(cluster, 'RouteSettling')
  expect(settling).toMatchObject({
    phase: 'Deleting',
    conditions: [{ type: 'Ready', status: 'False', reason: 'Deleting' }],
    helm: { revision: 1, status: 'deployed' },
    history: [{ revision: 1 }],
  })
  expect(settling.deletion).toEqual({
    stage: 'RouteSettling',
    startedAt: expect.any(String),
    deadline: expect.any(String),
    message: 'the route has 3600 s to settle',
  })
  const { startedAt = '', deadline = '' } = settling.deletion ?? {}
  expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(asked)
  expect(Date.parse(deadline) - Date.parse(startedAt)).toBe(10 * minute)
  expect(workload(cluster)).toEqual(['chat-sglang', 'chat-sglang', 'sh.helm.release.v1.chat.v1'])

  await cluster.operator.stop()
  const second = cluster.operate()
  await second.synced
  expect(cluster.service('chat')?.status).toEqual(settling)
  await cluster.annotate('chat', 'route-settle', '10ms')
  const waiting = await bothStopping(cluster)
  expect(waiting).toMatchObject({
    phase: 'Deleting',
    message: '2 pods left',
    helm: { revision: 1, status: 'uninstalled' },
    deletion: { stage: 'PodsTerminating', podsRemaining: 2, startedAt, deadline, message: '2 pods left' },
  })
  expect(waiting.deletion?.pods).toEqual(
    cluster.pods('chat').map(({ metadata: { name } }) => ({
      name,
      phase: 'Running',
      node: 'n1',
      message: expect.stringMatching(/^is stopping, by \d{4}-.*Z at the latest$/),
    })),
  )
  expect(workload(cluster)).toEqual([])
  expect((await runHelm(['list', '-A', '-q'], cluster.env)).stdout).toBe('')

  await letGo(cluster, 'chat', 1)
  await cluster.status('chat', (it) => it.deletion?.podsRemaining === 1, 'one pod')
  expect(cluster.service('chat')?.status?.deletion?.message).toBe('1 pod left')
  await second.stop()
  await letGo(cluster, 'chat', 1)
  cluster.operate()
  await cluster.gone('chat')
  await eventually(() => story.includes('gone'), 'the story')
  expect(story).toEqual([
    'Applied',
    'RouteSettling',
    'HelmUninstalling',
    'PodsTerminating',
    'Finalizing Completed',
    'gone',
  ])
  expect(cluster.all('ControllerRevision')).toEqual([])
})

test('the route has two seconds to settle when nothing is said, and a wrong word is named', async () => {
  const cluster = await operatedCluster()
  await applied(cluster, { 'route-settle': 'a while', 'deletion-max-wait': '1h30m' })
  await remove(cluster)
  const { deletion } = await stageOf(cluster, 'RouteSettling')
  expect(deletion?.message).toBe(
    'the route has 2 s to settle; serving.modelsphere.dev/route-settle is no duration: a while',
  )
  const { startedAt = '', deadline = '' } = deletion ?? {}
  expect(Date.parse(deadline) - Date.parse(startedAt)).toBe(90 * minute)
  await stageOf(cluster, 'PodsTerminating')
  expect(Date.now() - Date.parse(startedAt)).toBeGreaterThanOrEqual(2_000)
})

test('after the deadline pods are no longer waited for', async () => {
  const cluster = await operatedCluster()
  await applied(cluster)
  const story = await storyOf(cluster, 'chat')
  await remove(cluster)
  await stageOf(cluster, 'PodsTerminating')
  await cluster.annotate('chat', 'deletion-max-wait', '1ms')
  await cluster.gone('chat')
  await eventually(() => story.includes('gone'), 'the story')
  expect(story.slice(-2)).toEqual(['Finalizing TimedOut', 'gone'])
  expect(cluster.pods('chat')).toHaveLength(2)
})

test('pods are deleted by force when people ask for it', async () => {
  const cluster = await operatedCluster()
  await applied(cluster, { 'route-settle': '0s', 'force-delete-after': '1h' })
  const story = await storyOf(cluster, 'chat')
  const told: unknown[] = []
  await remove(cluster)
  expect((await bothStopping(cluster)).deletion).not.toHaveProperty('forceDeleted')
  cluster.server.onCall(({ verb, kind }) => {
    if (verb === 'delete' && kind === 'Pod')
      told.push(cluster.service('chat')?.status?.deletion?.forceDeleted)
  })
  await cluster.annotate('chat', 'force-delete-after', '1')
  await cluster.gone('chat')
  await eventually(() => story.includes('gone'), 'the story')
  expect(story.slice(-2)).toEqual(['Finalizing Forced', 'gone'])
  expect(cluster.pods('chat')).toEqual([])
  expect(told.slice(0, 2)).toEqual([true, true])
})

test('an orphaned one leaves its workload, and the next of its name takes it over', async () => {
  const cluster = await operatedCluster()
  await applied(cluster, { 'deletion-policy': 'Orphan' })
  const story = await storyOf(cluster, 'chat')
  const before = workload(cluster)
  const pods = cluster.pods('chat').map((it) => it.metadata.uid)
  await remove(cluster)
  await cluster.gone('chat')
  await eventually(() => story.includes('gone'), 'the story')
  expect(story).toEqual(['Applied', 'Finalizing Orphaned', 'gone'])
  expect(workload(cluster)).toEqual(before)
  expect(cluster.all('ControllerRevision')).toEqual([])
  await applied(cluster, { 'route-settle': '0s' })
  expect(cluster.service('chat')?.status).toMatchObject({ helm: { revision: 1 }, history: [{ revision: 1 }] })
  expect(cluster.pods('chat').map((it) => it.metadata.uid)).toEqual(pods)
})

test('the policy can be set as long as helm has not begun', async () => {
  const cluster = await operatedCluster()
  await applied(cluster, { 'route-settle': '1h' })
  await remove(cluster)
  await stageOf(cluster, 'RouteSettling')
  await cluster.annotate('chat', 'deletion-policy', 'Orphan')
  await cluster.gone('chat')
  expect(running(cluster, 'chat')).toBe(2)
})

test('an operator that does not stage drops the object at once', async () => {
  const cluster = await operatedCluster({ unstaged: true })
  await applied(cluster, { 'route-settle': '1h' })
  const story = await storyOf(cluster, 'chat')
  await remove(cluster)
  await cluster.gone('chat')
  await eventually(() => story.includes('gone'), 'the story')
  expect(story).toEqual(['Applied', 'gone'])
  expect(workload(cluster)).toEqual([])
  expect(cluster.all('ControllerRevision')).toEqual([])
  expect(cluster.pods('chat')).toHaveLength(2)
})

test('a suspended one can be deleted', async () => {
  const cluster = await operatedCluster()
  const { client } = cluster
  const annotations = { [`${prefix}/route-settle`]: '0s' }
  await client.create(LLM_SERVICE, llmService('chat', { suspend: true, annotations }), 'team-a')
  await cluster.status('chat', (it) => it.message === 'suspended', 'suspended')
  await remove(cluster)
  await cluster.gone('chat')
})

test('a failing uninstall says so, and is finished by the next operator', async () => {
  const cluster = await operatedCluster({ expectErrors: true })
  await applied(cluster)
  cluster.server.fault({ verb: 'delete', kind: 'Deployment', status: 500, message: 'etcd is away' })
  await remove(cluster)
  const failing = await cluster.status('chat', (it) => it.deletion?.message === 'etcd is away', 'the message')
  expect(failing.deletion?.stage).toBe('HelmUninstalling')
  const [record] = cluster.all('Secret')
  expect(record?.metadata.labels).toMatchObject({ status: 'uninstalling', version: '1' })
  await cluster.operator.stop()
  cluster.server.clearFaults()
  cluster.operate()
  await cluster.status('chat', (it) => it.deletion?.podsRemaining === 2, 'two pods')
  await letGo(cluster)
  await cluster.gone('chat')
})

test('an unreadable record does not hold the rest', async () => {
  const cluster = await operatedCluster()
  await applied(cluster)
  cluster.server.store.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'sh.helm.release.v1.chat.v2',
      namespace: 'team-a',
      labels: { owner: 'helm', name: 'chat', version: '2', status: 'deployed' },
    },
    type: 'helm.sh/release.v1',
    data: { release: 'broken' },
  })
  await remove(cluster)
  await stageOf(cluster, 'PodsTerminating')
  expect(workload(cluster)).toEqual([])
})

test('another finalizer keeps the object, and the operator leaves it alone', async () => {
  const cluster = await operatedCluster()
  await applied(cluster)
  await cluster.client.patch(LLM_SERVICE, 'team-a', 'chat', {
    metadata: { finalizers: [`${prefix}/finalizer`, 'example.com/other'] },
  })
  await remove(cluster)
  await cluster.status('chat', (it) => it.deletion?.podsRemaining === 2, 'two pods')
  await letGo(cluster)
  await eventually(() => cluster.service('chat')?.metadata.finalizers?.length === 1, 'its finalizer is off')
  expect(cluster.service('chat')?.metadata.finalizers).toEqual(['example.com/other'])
  expect(cluster.service('chat')?.status?.deletion).toMatchObject({
    stage: 'Finalizing',
    outcome: 'Completed',
  })
})

test('two operators take away what one does, and nothing of the next of that name', async () => {
  const cluster = await operatedCluster()
  cluster.operate()
  const names = ['chat-0', 'chat-1', 'chat-2', 'chat-3']
  for (const name of names) await applied(cluster, { 'route-settle': '0s' }, name)
  for (const name of names) await remove(cluster, name)
  for (const name of names) {
    await cluster.status(name, (it) => it.deletion?.podsRemaining === 2, 'two pods')
    await letGo(cluster, name)
    await cluster.gone(name)
    await applied(cluster, {}, name)
  }
  for (const name of names) {
    expect(cluster.service(name)?.status).toMatchObject({ phase: 'Applied', helm: { revision: 1 } })
  }
  expect(cluster.all('Secret')).toHaveLength(4)
  expect(cluster.all('Deployment')).toHaveLength(4)
})

test('code-review of the sample goes the same way', async () => {
  const seed: NonNullable<Parameters<typeof operatedCluster>[0]>['seed'] = ({ server }) =>
    seedSamples(server.store, Date.now())
  const cluster = await operatedCluster({ seed })
  const story = await storyOf(cluster, 'code-review')
  await cluster.annotate('code-review', 'route-settle', '0s')
  await cluster.client.delete(LLM_SERVICE, 'team-b', 'code-review')
  const { deletion } = await cluster.status(
    'code-review',
    (it) => it.deletion?.podsRemaining === 1,
    'its pod',
  )
  expect(deletion?.pods).toMatchObject([{ phase: 'Running', node: 'gpu-1' }])
  const [pod] = await eventually(() => {
    const pods = cluster.pods('code-review')
    return pods.every((it) => it.metadata.deletionTimestamp !== undefined) && pods
  }, 'a pod that is stopping')
  cluster.server.store.remove({ kind: 'Pod', namespace: 'team-b', name: pod?.metadata.name ?? '' })
  await cluster.gone('code-review')
  await eventually(() => story.includes('gone'), 'the story')
  expect(story.slice(-4)).toEqual(['HelmUninstalling', 'PodsTerminating', 'Finalizing Completed', 'gone'])
  const left = [...cluster.all('ControllerRevision'), ...cluster.all('Secret'), ...cluster.all('Deployment')]
  expect(left.filter((it) => it.metadata.name.includes('code-review'))).toEqual([])
})
