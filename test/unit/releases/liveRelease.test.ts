import { expect, test } from 'vitest'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import { isKubeError } from '../../../services/cluster/errors.ts'
import { readLiveRelease } from '../../../services/releases/liveRelease.ts'
import { startSandbox } from '../cluster/support/sandbox.ts'

const ref = { namespace: 'team-a', name: 'chat' }
const MANAGED = { 'app.kubernetes.io/managed-by': 'swiss' }

const configMap = (name: string, labels: Record<string, string>, data: Record<string, string>) =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...ref, name, labels }, data }) as unknown as KubeObject
const plan = (labels: Record<string, string> = MANAGED, data: Record<string, string> = {}) =>
  configMap('swiss-plan-chat', labels, {
    'plan.yaml': 'chart: {name: vllm, version: 1.10}\n',
    'status.yaml': 'phase: applied\nrevision: 2\n',
    ...data,
  })
const record = (revision: number) =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'helm.sh/release.v1',
    metadata: {
      ...ref,
      name: `sh.helm.release.v1.chat.v${revision}`,
      labels: { owner: 'helm', name: 'chat', version: String(revision), status: 'deployed' },
    },
  }) as unknown as KubeObject
const service = (more: object = {}) =>
  ({
    apiVersion: 'serving.modelsphere.dev/v1alpha1',
    kind: 'LLMService',
    metadata: { ...ref, uid: 'uid-1' },
    spec: { chart: { name: 'sglang', version: '0.5.0' }, layers: [{ name: 'form', values: { a: 1 } }] },
    status: { phase: 'Applied', helm: { revision: 7 } },
    ...more,
  }) as unknown as KubeObject

async function start(...objects: KubeObject[]) {
  const sandbox = await startSandbox()
  sandbox.server.setServed(['LLMService'])
  for (const object of objects) sandbox.server.store.create(object)
  return { ...sandbox, read: () => readLiveRelease(sandbox.makeClient(), ref) }
}

test('nothing of that name is no release', async () => {
  const { read } = await start()
  expect(await read()).toEqual({
    ref,
    backend: null,
    plan: null,
    planMap: null,
    mark: null,
    service: null,
    helm: { exists: false, newest: null, records: [] },
    data: null,
    revision: null,
    uninstalling: false,
  })
})

test('a plan makes it helm’s, whatever is in it; the newest record has the word on the revision', async () => {
  const { read, server } = await start(plan(MANAGED, { 'helmfile.yaml': 'x' }))
  expect(await read()).toMatchObject({
    backend: 'HELM',
    revision: 2,
    uninstalling: false,
    data: { 'plan.yaml': 'chart: {name: vllm, version: 1.10}\n', 'helmfile.yaml': 'x' },
  })
  server.store.create(record(3))
  expect(await read()).toMatchObject({ backend: 'HELM', revision: 3 })
})

test('a plan that another tool has labelled is none, and helm’s record alone is not managed', async () => {
  const { read } = await start(plan({}), record(3))
  expect(await read()).toMatchObject({ backend: null, data: null, revision: 3, helm: { exists: true } })
})

test('an LLMService wins over a plan, and is the plan itself', async () => {
  const { read } = await start(plan(), service())
  const live = await read()
  expect(live).toMatchObject({ backend: 'LLMSERVICE', revision: 7, uninstalling: false })
  expect(live.data?.['plan.yaml']).toContain('sglang')
  expect(live.data?.['form.yaml']).toBe('a: 1\n')
})

test('what says that it is being uninstalled', async () => {
  const label = { ...MANAGED, 'swiss.modelsphere.dev/phase': 'uninstalling' }
  for (const objects of [
    [plan(label)],
    [plan({}, { 'status.yaml': 'phase: uninstalling\n' })],
    [configMap('swiss-uninstall-chat', {}, { 'status.yaml': 'phase: uninstalling\n' })],
    [service({ status: { phase: 'Deleting' } })],
  ]) {
    const { read } = await start(...objects)
    expect((await read()).uninstalling).toBe(true)
  }
})

test('a mark that names an LLMService makes the backend until it is over, and there is nothing to compose from', async () => {
  const run =
    'phase: uninstalling\nrun: {id: r1, startedAt: 2031-01-01T00:00:00Z, release: {namespace: team-a, name: chat}, uids: {llmService: uid-1}}\n'
  const { read } = await start(configMap('swiss-uninstall-chat', {}, { 'status.yaml': run }))
  expect(await read()).toMatchObject({
    backend: 'LLMSERVICE',
    data: null,
    revision: null,
    uninstalling: true,
  })
})

test('LLMServices that may not be read or are not served are none; any other failure is one', async () => {
  const { read, server } = await start(plan())
  const fault = { verb: 'get', kind: 'LLMService' } as const
  server.fault({ ...fault, status: 403 })
  expect(await read()).toMatchObject({ backend: 'HELM' })
  server.clearFaults()
  server.setServed([])
  expect(await read()).toMatchObject({ backend: 'HELM' })
  server.setServed(['LLMService'])
  server.fault({ ...fault, status: 503 })
  await expect(read()).rejects.toSatisfy((error) => isKubeError(error, 'Unavailable'))
  server.clearFaults()
  server.fault({ verb: 'get', kind: 'ConfigMap', status: 403 })
  await expect(read()).rejects.toSatisfy((error) => isKubeError(error, 'Forbidden'))
})
