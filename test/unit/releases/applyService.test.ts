import { beforeEach, expect, test } from 'vitest'
import { Kinds, type KubeObject } from '../../../services/cluster/kinds.ts'
import { withForm, withHash } from '../../../services/plans/change.ts'
import { planOfService } from '../../../services/plans/servicePlan.ts'
import { chat, startChanging } from './support/changing.ts'

let world: Awaited<ReturnType<typeof startChanging>>
let one: Awaited<ReturnType<typeof world.start>>
beforeEach(async () => {
  world = await startChanging()
  one = await world.start('gateway-1')
})

const OWN = 'swiss.modelsphere.dev/'
const spec = {
  chart: {
    name: 'vllm',
    version: '0.4.0',
    repo: 'oci://charts.invalid/llm',
    credentialsRef: { name: 'pull' },
  },
  model: { name: 'demo' },
  suspend: false,
  layers: [{ name: 'form', values: { replicaCount: 1 } }],
}

const makeService = async (annotations: Record<string, string> = { [`${OWN}profile`]: 'lab' }) => {
  const made = await world.client.create<KubeObject>(Kinds.LLMService, {
    metadata: {
      ...chat,
      labels: { team: 'blue' },
      annotations: { ...annotations, 'example.test/owner': 'grace' },
      finalizers: ['serving.modelsphere.dev/finalizer'],
    },
    spec,
  })
  const status = { phase: 'Applied', helm: { revision: 2, status: 'deployed' } }
  return world.client.update<KubeObject>(Kinds.LLMService, { ...made, status }, { subresource: 'status' })
}
const live = () => world.client.get<KubeObject>(Kinds.LLMService, chat)
const writeStatus = (status: object) =>
  world.client.patch(Kinds.LLMService, chat, 'merge', { status }, { subresource: 'status' })
const composeUpgrade = async (service: KubeObject, replicaCount = 2) =>
  world.compose(withForm(withHash(planOfService(service)), { replicaCount }))
const onWrite = (first: () => Promise<unknown>, more: object = {}) =>
  world.server.fault({
    verb: 'update',
    kind: 'LLMService',
    times: 1,
    first: async () => {
      await first()
    },
    ...more,
  })

test('the write of the object is the plan, and keeps what is not its own', async () => {
  const service = await makeService()
  const plan = await composeUpgrade(service)
  expect(await one.apply(plan, { expectedRevision: 2, note: 'more' })).toMatchObject({
    __typename: 'ApplyPlanPayload',
    revision: 2,
    run: { action: 'APPLY', outcome: 'SUCCEEDED', changed: true, note: 'more' },
    deployment: { lastOperation: { action: 'APPLY' } },
  })
  expect(await live()).toMatchObject({
    metadata: {
      uid: service.metadata.uid,
      labels: { team: 'blue' },
      finalizers: ['serving.modelsphere.dev/finalizer'],
      annotations: {
        'example.test/owner': 'grace',
        [`${OWN}profile`]: 'lab',
        [`${OWN}action`]: 'apply',
        [`${OWN}note`]: 'more',
        [`${OWN}plan-hash`]: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    },
    spec: { ...spec, layers: [{ name: 'form', values: { replicaCount: 2 } }] },
  })
  expect(await world.plan()).toBeNull()
  expect(await world.archives()).toEqual([])
  expect(world.helm.calls).toEqual([])
  expect(await one.apply(plan)).toMatchObject({ run: { changed: false } })
})

test('a write that meets the operator’s own of the status is tried once more', async () => {
  const plan = await composeUpgrade(await makeService())
  onWrite(() => writeStatus({ message: 'one' }))
  expect(await one.apply(plan)).toMatchObject({ __typename: 'ApplyPlanPayload' })
  expect((await live()).spec).toMatchObject({ layers: [{ values: { replicaCount: 2 } }] })
})

test('twice is a conflict, and so is a spec that somebody else has written', async () => {
  const plan = await composeUpgrade(await makeService())
  onWrite(() => writeStatus({ message: 'one' }))
  onWrite(() => writeStatus({ message: 'two' }))
  expect(await one.apply(plan)).toMatchObject({ __typename: 'ConflictError', retryable: true })
  onWrite(() => world.client.patch(Kinds.LLMService, chat, 'merge', { spec: { suspend: true } }))
  expect(await one.apply(plan)).toMatchObject({ __typename: 'ConflictError' })
  expect((await live()).spec).toMatchObject({ suspend: true, layers: [{ values: { replicaCount: 1 } }] })
  expect(await one.runs()).toEqual([])
})

test('one that is deleted in the same moment is not written', async () => {
  const plan = await composeUpgrade(await makeService())
  onWrite(() => world.client.delete(Kinds.LLMService, chat))
  expect(await one.apply(plan)).toMatchObject({ __typename: 'ReleaseUninstallingError' })
  expect(await one.apply(plan)).toMatchObject({ __typename: 'ReleaseUninstallingError' })
  expect(await one.rollback(1)).toMatchObject({ __typename: 'ReleaseUninstallingError' })
})

test('an external one is not changed, and an own one does not take fields over', async () => {
  const service = await makeService({})
  const plan = await composeUpgrade(service)
  expect(await one.apply(plan)).toMatchObject({
    __typename: 'ExternalReleaseError',
    code: 'EXTERNAL_RELEASE',
  })
  expect(await one.rollback(1)).toMatchObject({ __typename: 'ExternalReleaseError' })
  await world.client.patch(Kinds.LLMService, chat, 'merge', {
    metadata: { annotations: { [`${OWN}profile`]: 'lab' } },
  })
  expect(await one.apply(plan, { forceConflicts: true })).toMatchObject({ __typename: 'InvalidInputError' })
  expect(await one.apply(plan, { expectedRevision: 1 })).toMatchObject({
    __typename: 'PreconditionFailedError',
    currentRevision: 2,
  })
})

test('a write that got no answer is looked for: done, or not begun', async () => {
  const plan = await composeUpgrade(await makeService())
  world.server.fault({ verb: 'update', kind: 'LLMService', status: 500, times: 1 })
  expect(await one.apply(plan)).toMatchObject({ __typename: 'ClusterUnavailableError', retryable: true })
  expect(await one.runs()).toEqual([])
  expect(await one.apply(plan)).toMatchObject({ __typename: 'ApplyPlanPayload' })
})

test('a rollback writes back the spec and the annotations of Swiss that the operator has kept', async () => {
  const service = await makeService({ [`${OWN}profile`]: 'lab', [`${OWN}note`]: 'now' })
  const old = { ...spec, layers: [{ name: 'form', values: { replicaCount: 7, id: 9007199254740992n } }] }
  await world.client.create(Kinds.ControllerRevision, {
    metadata: { ...chat, name: 'chat-v1-abc', labels: { 'serving.modelsphere.dev/llmservice': 'chat' } },
    revision: 1,
    data: {
      spec: old,
      annotations: { [`${OWN}plan-hash`]: 'h1', [`${OWN}note`]: 'then', 'example.test/owner': 'eve' },
    },
  })
  await world.client.create(Kinds.ControllerRevision, {
    metadata: { ...chat, name: 'talk-v1-abc', labels: { 'serving.modelsphere.dev/llmservice': 'talk' } },
    revision: 1,
    data: { spec: {} },
  })
  await writeStatus({
    history: [
      { revision: 2, controllerRevision: 'chat-v2-def' },
      { revision: 1, controllerRevision: 'chat-v1-abc' },
      { revision: 5, controllerRevision: 'talk-v1-abc' },
    ],
  })
  for (const revision of [2, 3, 5]) {
    expect(await one.rollback(revision)).toMatchObject({
      __typename: 'RevisionNotFoundError',
      missing: revision,
    })
  }
  const query = `{ release(namespace: "team-a", name: "chat") { revisions { nodes { revision current planHash chart { version } plan { values } } } } }`
  expect((await one.ask(query)).release).toEqual({
    revisions: {
      nodes: [
        {
          revision: 2,
          current: true,
          planHash: null,
          chart: { version: '0.4.0' },
          plan: { values: { replicaCount: 1 } },
        },
        {
          ...{ revision: 1, current: false, planHash: 'h1', chart: { version: '0.4.0' } },
          plan: { values: { replicaCount: 7, id: '9007199254740992' } },
        },
      ],
    },
  })
  expect(await one.rollback(1, { expectedRevision: 2 })).toMatchObject({
    __typename: 'ApplyPlanPayload',
    run: { action: 'ROLLBACK', planHash: 'h1', changed: true },
  })
  const written = await live()
  expect(written.spec).toEqual(old)
  expect(written.metadata).toMatchObject({ uid: service.metadata.uid, labels: { team: 'blue' } })
  expect(written.metadata.annotations).toEqual({
    [`${OWN}plan-hash`]: 'h1',
    [`${OWN}action`]: 'rollback',
    'example.test/owner': 'grace',
  })
  expect(await one.rollback(1)).toMatchObject({ run: { changed: false } })
})
