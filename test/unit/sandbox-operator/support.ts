import { expect, onTestFinished } from 'vitest'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import { systemClock } from '../../../sandbox/clock.ts'
import { startControllers } from '../../../sandbox/controllers/controllers.ts'
import { startKubelet } from '../../../sandbox/kubelet/kubelet.ts'
import type { LlmService, ServiceStatus } from '../../../sandbox/operator/llmService.ts'
import { type Operator, startOperator } from '../../../sandbox/operator/operator.ts'
import { LLM_SERVICE } from '../../../sandbox/resourceTypes.ts'
import { eventually, readyNode, type TestCluster, testClient, testCluster } from '../sandbox-parts/support.ts'

export const prefix = 'serving.modelsphere.dev'

export interface OperatedCluster extends TestCluster {
  operator: Operator
  /** Starts one more operator; it ends with the test. */
  operate(options?: { unstaged?: boolean; namespaces?: string[] }): Operator
  errors: string[]
  service(name: string): LlmService | undefined
  /** Waits until the status of an LLMService is so. */
  status(name: string, is: (status: ServiceStatus) => boolean, what: string): Promise<ServiceStatus>
  all(kind: string): KubeObject[]
  pods(name: string): KubeObject[]
  /** Sets an annotation below the group's prefix. */
  annotate(name: string, key: string, text: string): Promise<unknown>
  gone(name: string): Promise<unknown>
}

/** An API server with controllers, a kubelet whose pods take an hour to stop, and the operator. */
export async function operatedCluster(
  options: { seed?: (cluster: TestCluster) => void; unstaged?: boolean; expectErrors?: boolean } = {},
): Promise<OperatedCluster> {
  const cluster = await testCluster()
  const { server, client } = cluster
  const errors: string[] = []
  const onError = (message: string) => errors.push(message)
  if (options.seed) options.seed(cluster)
  else {
    server.store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } })
    server.store.create(readyNode('n1', 64))
  }
  const pace = { startMs: 1, stopMs: 3_600_000, runMs: 1 }
  const parts = [
    startControllers({ client: testClient(server), clock: systemClock, onError }),
    startKubelet({ client: testClient(server), clock: systemClock, pace, onError }),
  ]
  onTestFinished(async () => {
    for (const part of parts) await part.stop()
    if (!options.expectErrors) expect(errors).toEqual([])
  })
  const operate = (how: { unstaged?: boolean; namespaces?: string[] } = {}) => {
    const operator = startOperator({ client: testClient(server), clock: systemClock, onError, ...how })
    onTestFinished(() => operator.stop())
    return operator
  }
  const operator = operate({ unstaged: options.unstaged ?? false })
  await Promise.all([...parts, operator].map((part) => part.synced))

  const namespace = options.seed ? 'team-b' : 'team-a'
  const ref = (name: string) => ({ kind: 'LLMService', namespace, name })
  const service = (name: string) => server.store.get(ref(name)) as LlmService | undefined
  return {
    ...cluster,
    operator,
    operate,
    errors,
    service,
    status: (name, is, what) =>
      eventually(() => {
        const status = service(name)?.status
        return status && is(status) && status
      }, what),
    all: (kind) => server.store.list(kind).filter((it) => it.metadata.namespace === namespace),
    pods: (name) =>
      server.store.list('Pod').filter((it) => it.metadata.labels?.['app.kubernetes.io/instance'] === name),
    annotate: (name, key, text) =>
      client.patch(LLM_SERVICE, namespace, name, {
        metadata: { annotations: { [`${prefix}/${key}`]: text } },
      }),
    gone: (name) => eventually(() => !service(name), `the end of ${name}`),
  }
}

/** An LLMService whose pods take their time to stop. */
export const llmService = (
  name: string,
  { form = {}, annotations = {}, ...spec }: Record<string, unknown> = {},
) => ({
  apiVersion: `${prefix}/v1alpha1`,
  kind: 'LLMService',
  metadata: { name, namespace: 'team-a', annotations },
  spec: {
    chart: { name: 'sglang', repo: 'oci://charts.example.invalid', version: '0.7.1' },
    layers: [
      {
        name: 'catalog',
        values: {
          image: { repository: 'lmsysorg/sglang', tag: 'v1' },
          extraArgs: ['--tp-size=2'],
          terminationGracePeriodSeconds: 3600,
        },
      },
      { name: 'form', values: form },
    ],
    model: { name: 'qwen', version: '1.0.0', variant: 'tp2', hf: 'Qwen/Qwen', engine: 'sglang' },
    ...spec,
  },
})

/** Phases and stages of an LLMService from now on, each once, in the order they were seen. */
export async function storyOf(cluster: OperatedCluster, name: string): Promise<string[]> {
  const story: string[] = []
  const { resourceVersion } = await cluster.client.list(LLM_SERVICE)
  const ending = new AbortController()
  const watching = cluster.client
    .watch(
      LLM_SERVICE,
      { resourceVersion, fieldSelector: `metadata.name=${name}` },
      ({ type, object }) => {
        const { phase, deletion } = (object.status ?? {}) as ServiceStatus
        const outcome = deletion?.outcome ? ` ${deletion.outcome}` : ''
        const now = type === 'DELETED' ? 'gone' : deletion ? `${deletion.stage}${outcome}` : (phase ?? 'new')
        if (story.at(-1) !== now) story.push(now)
      },
      ending.signal,
    )
    .catch(() => {})
  onTestFinished(async () => {
    ending.abort()
    await watching
  })
  return story
}
