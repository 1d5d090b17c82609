import { expect, onTestFinished, test } from 'vitest'
import { Kinds } from '../../../services/cluster/kinds.ts'
import { readPlan } from '../../../services/plans/document.ts'
import { planHash } from '../../../services/plans/hash.ts'
import { GraphqlSocket } from '../../cases/socket.ts'
import { until } from '../cluster/support/until.ts'
import { ada, chat, planData, startChanging } from './support/changing.ts'

test('a plan for a name that has no release installs it', async () => {
  const world = await startChanging()
  const { apply, row, runs } = await world.start('gateway-1')
  const first = await world.compose(planData({ replicas: 1 }))
  expect(await apply(first, { note: 'begin' })).toMatchObject({
    __typename: 'ApplyPlanPayload',
    revision: 1,
    output: 'Release "chat" is there.',
    deployment: {
      phase: 'APPLIED',
      revision: 1,
      drift: null,
      lastOperation: { action: 'INSTALL', outcome: 'SUCCEEDED', actor: 'ada' },
    },
    run: {
      action: 'INSTALL',
      outcome: 'SUCCEEDED',
      changed: true,
      actor: 'ada',
      note: 'begin',
      planHash: planHash(first),
      revision: 1,
    },
  })
  expect(world.helm.calls).toMatchObject([
    {
      ref: chat,
      upgrade: {
        chart: { chart: 'oci://charts.invalid/llm/vllm', version: '0.4.0', repo: null },
        layers: [{ name: 'form', text: 'replicas: 1\n' }],
        forceConflicts: false,
      },
    },
  ])
  expect((await world.plan())?.data).toMatchObject(first)
  expect(await row()).toMatchObject({ phase: 'APPLIED' })
  expect(await runs()).toEqual([
    { action: 'INSTALL', outcome: 'SUCCEEDED', changed: true, error: null, revision: 1 },
  ])
})

test('an upgrade archives what ran, a rollback brings its plan back, and nothing that does not differ runs helm', async () => {
  const world = await startChanging()
  const { apply, rollback, runs } = await world.start('gateway-1')
  const first = await world.compose(planData({ replicas: 1 }, { keys: { 'helmfile.yaml': 'one' } }))
  const second = await world.compose(planData({ replicas: 2 }, { keys: { 'edit.yaml': 'a: 1\n' } }))
  await apply(first)
  expect(await apply(second, { expectedRevision: 1 })).toMatchObject({ revision: 2 })
  expect(await world.archives()).toEqual(['swiss.plan.v1.chat.v1'])
  expect((await world.plan())?.data).toMatchObject({ ...second, 'helmfile.yaml': 'one' })

  expect(await apply(second)).toMatchObject({
    revision: 2,
    output: 'nothing differs from what runs',
    run: { outcome: 'SUCCEEDED', changed: false },
  })
  expect(world.helm.calls).toHaveLength(2)

  expect(await rollback(1, { expectedRevision: 2, note: 'too many' })).toMatchObject({
    __typename: 'ApplyPlanPayload',
    revision: 3,
    deployment: { phase: 'APPLIED', revision: 3, lastOperation: { action: 'ROLLBACK' } },
    run: { action: 'ROLLBACK', planHash: planHash(first), revision: 3 },
  })
  expect(world.helm.calls.at(-1)).toMatchObject({ rollbackTo: 1 })
  const { data = {} } = (await world.plan()) ?? {}
  expect(data).toMatchObject(first)
  expect(data).not.toHaveProperty('edit.yaml')
  expect(await world.archives()).toEqual(['swiss.plan.v1.chat.v1', 'swiss.plan.v1.chat.v2'])
  expect(await runs()).toMatchObject([
    { action: 'INSTALL' },
    { action: 'APPLY', changed: true },
    { action: 'APPLY', changed: false, outcome: 'SUCCEEDED' },
    { action: 'ROLLBACK', changed: true },
  ])
})

test('refusals name what is wrong, and leave no trace', async () => {
  const world = await startChanging()
  const { apply, rollback, runs } = await world.start('gateway-1')
  const first = await world.compose(planData({ replicas: 1 }))
  const other = await world.compose(planData({}, { name: 'talk' }))
  const foreign = await world.compose(planData({ of: 'grace' }), 'grace')
  const nameless = await world.compose(planData({}, { plan: { chart: null } }))
  expect(await rollback(1)).toMatchObject({ __typename: 'ReleaseNotFoundError' })
  expect(await apply(first, { expectedRevision: 1 })).toMatchObject({
    __typename: 'PreconditionFailedError',
    currentRevision: null,
  })
  expect(await apply(first, { planHash: 'f'.repeat(64) })).toMatchObject({
    __typename: 'PlanNotFoundError',
    planHash: 'f'.repeat(64),
    retryable: false,
  })
  expect(await apply(foreign)).toMatchObject({ __typename: 'PlanNotFoundError' })
  expect(await apply(other)).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: ['input', 'name'] }],
  })
  expect(await apply(nameless)).toMatchObject({
    __typename: 'InvalidInputError',
    message: expect.stringContaining('names no chart'),
  })
  await world.clock.advance(3_600_000)
  expect(await apply(first)).toMatchObject({ __typename: 'PlanNotFoundError' })
  expect(await runs()).toEqual([])
  expect(await world.plan()).toBeNull()

  const again = await world.compose(planData({ replicas: 1 }))
  world.helm.behaviour = { version: 'v3.22.0' }
  expect(await apply(again, { forceConflicts: true })).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: ['input', 'forceConflicts'] }],
  })
  expect(world.helm.calls).toEqual([])
  expect(await apply(again)).toMatchObject({ revision: 1 })
  expect(await rollback(3)).toMatchObject({ __typename: 'RevisionNotFoundError', missing: 3 })
  expect(await rollback(1)).toMatchObject({ run: { changed: false } })
})

test('a helm release without a plan and a foreign ConfigMap in the place of the plan are not taken over', async () => {
  const world = await startChanging()
  const { apply } = await world.start('gateway-1')
  const first = await world.compose(planData({}))
  await world.helm.record(chat, 'deployed')
  expect(await apply(first)).toMatchObject({ __typename: 'ExternalReleaseError' })
  await world.helm.uninstall(chat)
  await world.client.create(Kinds.ConfigMap, { metadata: { ...chat, name: 'swiss-plan-chat' }, data: {} })
  expect(await apply(first)).toMatchObject({ __typename: 'ExternalReleaseError' })
  expect(world.helm.calls).toEqual([])
})

test('a namespace that is not there is made by a plan that says so, and by no other', async () => {
  const world = await startChanging()
  const { apply } = await world.start('gateway-1')
  const release = { namespace: 'team-b', name: 'chat' }
  const without = await world.compose(planData({}, { plan: { release } }))
  const wanted = await world.compose(planData({}, { plan: { release, createNamespace: true } }))
  expect(await apply(without, release)).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: ['input', 'namespace'] }],
  })
  await expect(world.client.get(Kinds.Namespace, { name: 'team-b' })).rejects.toThrow()
  expect(await apply(wanted, release)).toMatchObject({ __typename: 'ApplyPlanPayload', revision: 1 })
})

test('a failing upgrade is told with helm’s output, keeps the archive, and can be applied again', async () => {
  const world = await startChanging()
  const { apply, row, rollback, runs } = await world.start('gateway-1')
  await apply(await world.compose(planData({ replicas: 1 })))
  const second = await world.compose(planData({ replicas: 2 }))
  world.helm.behaviour = { stderr: 'Error: UPGRADE FAILED: no such image' }
  expect(await apply(second)).toMatchObject({
    __typename: 'HelmFailedError',
    output: 'Error: UPGRADE FAILED: no such image',
    exitCode: 1,
    run: { outcome: 'FAILED', error: 'Error: UPGRADE FAILED: no such image' },
  })
  expect(await row()).toMatchObject({
    phase: 'FAILED',
    revision: 2,
    phaseReason: 'Error: UPGRADE FAILED: no such image',
    drift: { kind: 'LAST_APPLY_FAILED' },
  })
  world.helm.behaviour = {}
  expect(await apply(second)).toMatchObject({ revision: 3 })
  // What has failed is not worth going back to.
  expect(await world.archives()).toEqual(['swiss.plan.v1.chat.v1'])
  expect(await rollback(2)).toMatchObject({ __typename: 'RevisionNotFoundError' })
  expect(await runs()).toMatchObject([
    { outcome: 'SUCCEEDED', revision: 1 },
    { outcome: 'FAILED', revision: 2 },
    { outcome: 'SUCCEEDED', revision: 3 },
  ])
})

test('a helm that was killed half-way has failed, and helm’s refusal to go on comes with the way out', async () => {
  const world = await startChanging()
  const { apply, rollback, row } = await world.start('gateway-1')
  await apply(await world.compose(planData({ replicas: 1 })))
  const second = await world.compose(planData({ replicas: 2 }))
  world.helm.behaviour = { killed: true }
  expect(await apply(second)).toMatchObject({
    __typename: 'HelmFailedError',
    exitCode: null,
    message: 'helm could not upgrade team-a/chat: helm was killed before it ended',
  })
  expect(await row()).toMatchObject({ phase: 'FAILED', revision: 2 })
  world.helm.behaviour = {
    stderr: 'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress',
  }
  expect(await apply(second)).toMatchObject({
    message: expect.stringMatching(/is in progress; roll it back to a revision that has run/),
  })
  world.helm.behaviour = {}
  expect(await rollback(1)).toMatchObject({ __typename: 'ApplyPlanPayload', run: { action: 'ROLLBACK' } })
  expect(await row()).toMatchObject({ phase: 'APPLIED', drift: null })
})

test('the newest five archives are kept', async () => {
  const world = await startChanging()
  const { apply } = await world.start('gateway-1')
  for (const replicas of [1, 2, 3, 4, 5, 6, 7, 8]) await apply(await world.compose(planData({ replicas })))
  expect(await world.archives()).toEqual([3, 4, 5, 6, 7].map((at) => `swiss.plan.v1.chat.v${at}`))
})

test('while helm runs the release is APPLYING for every replica, and nobody else may change it', async () => {
  const world = await startChanging()
  const one = await world.start('gateway-1')
  const two = await world.start('gateway-2')
  await one.apply(await world.compose(planData({ replicas: 1 })))
  const second = await world.compose(planData({ replicas: 2 }))
  world.helm.behaviour = { held: true }
  const answer = one.apply(second)
  await until('helm is held', () => world.helm.held === 1)
  await expect.poll(two.row).toMatchObject({ phase: 'APPLYING', drift: null })
  for (const gateway of [one, two]) {
    expect(await gateway.apply(second)).toMatchObject({
      __typename: 'ApplyInProgressError',
      retryable: true,
      holder: 'gateway-1',
      since: '2031-01-01T00:00:00.000Z',
    })
    expect(await gateway.rollback(1)).toMatchObject({ __typename: 'ApplyInProgressError' })
  }
  world.helm.behaviour = {}
  world.helm.release()
  expect(await answer).toMatchObject({ __typename: 'ApplyPlanPayload', revision: 2 })
  // The plan is found, and the lock free, wherever the next request goes.
  expect(await two.rollback(1)).toMatchObject({ __typename: 'ApplyPlanPayload', revision: 3 })
  expect(world.helm.calls).toHaveLength(3)
})

test('the replicas of a release whose chart scales by itself are not set from outside', async () => {
  const world = await startChanging()
  const { apply } = await world.start('gateway-1')
  const on = { scaler: { enabled: true } }
  await apply(await world.compose(planData({ ...on, replicaCount: 1 })))
  const wanted = await world.compose(planData({ ...on, replicaCount: 2 }))
  expect(await apply(wanted)).toMatchObject({ __typename: 'ScalerEnabledError', code: 'SCALER_ENABLED' })
  expect(world.helm.calls).toHaveLength(1)
  // With the switch turned in the same plan, or with another change, it is a plan like any other.
  expect(await apply(await world.compose(planData({ replicaCount: 2 })))).toMatchObject({ revision: 2 })
  expect(await apply(await world.compose(planData({ ...on, replicaCount: 3 })))).toMatchObject({
    revision: 3,
  })
  const other = await world.compose(planData({ ...on, replicaCount: 3, image: 'new' }))
  expect(await apply(other)).toMatchObject({ revision: 4 })
})

test('the stream tells each phase once, with this gateway’s own doing as its cause, and again from the cursor', async () => {
  const world = await startChanging()
  const one = await world.start('gateway-1')
  const two = await world.start('gateway-2')
  const follow = async (url: string, since?: string) => {
    const socket = await GraphqlSocket.open(url, ada)
    onTestFinished(() => socket.terminate())
    const events: unknown[] = []
    const query = `subscription ($since: Cursor) { deploymentPhaseChanged(since: $since) { kind previousPhase phase cause } }`
    const sink = {
      next: ({ data }: { data?: unknown }) => {
        const { kind, ...event } = (data as { deploymentPhaseChanged: { kind: string } })
          .deploymentPhaseChanged
        if (kind === 'CHANGED') events.push(event)
      },
      end: () => {},
    }
    socket.subscribe({ query, variables: since === undefined ? {} : { since } }, sink)
    await socket.drain()
    return events
  }
  const here = await follow(one.gateway.url)
  const there = await follow(two.gateway.url)
  const { cursor } = await one.apply(await world.compose(planData({ replicas: 1 })))
  const told = (cause: string) => [
    { previousPhase: null, phase: 'APPLYING', cause },
    { previousPhase: 'APPLYING', phase: 'APPLIED', cause },
  ]
  await expect.poll(() => here).toEqual(told('MUTATION'))
  await expect.poll(() => there).toEqual(told('INFORMER'))
  expect(await follow(one.gateway.url, String(cursor))).toEqual(told('MUTATION'))
  // What others do afterwards is not taken for it.
  await world.client.patch(Kinds.ConfigMap, { ...chat, name: 'swiss-plan-chat' }, 'merge', {
    data: { 'status.yaml': 'phase: failed\n' },
  })
  const failed = { previousPhase: 'APPLIED', phase: 'FAILED', cause: 'INFORMER' }
  await expect.poll(() => here.at(-1)).toEqual(failed)
})

test('a caller that leaves takes nothing along: helm ends, and what came of it is written down', async () => {
  const world = await startChanging()
  const one = await world.start('gateway-1')
  const { hash } = readPlan(await world.compose(planData({ replicas: 1 }), 'nobody'))
  world.helm.behaviour = { held: true }
  const leaving = new AbortController()
  const query = `mutation { applyPlan(input: {namespace: "team-a", name: "chat", planHash: "${hash}"}) { __typename } }`
  const answer = fetch(one.gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    signal: leaving.signal,
  })
  await until('helm is held', () => world.helm.held === 1)
  leaving.abort()
  await expect(answer).rejects.toThrow()
  await expect.poll(one.row).toMatchObject({ phase: 'APPLYING' })
  world.helm.release()
  await expect.poll(one.row).toMatchObject({ phase: 'APPLIED', revision: 1 })
  await expect.poll(one.runs).toMatchObject([{ action: 'INSTALL', outcome: 'SUCCEEDED' }])
})

test('a plan that cannot be read is written over by a whole one, and nothing of it is archived', async () => {
  const world = await startChanging()
  const one = await world.start('gateway-1')
  await world.helm.record(chat, 'deployed')
  await world.client.create(Kinds.ConfigMap, {
    metadata: {
      ...chat,
      name: 'swiss-plan-chat',
      labels: { 'app.kubernetes.io/managed-by': 'swiss' },
    },
    data: { 'plan.yaml': '{', 'status.yaml': '}', 'notes.txt': 'mine' },
  })
  const plan = await world.compose(planData({ replicas: 1 }))
  expect(await one.apply(plan)).toMatchObject({ revision: 2, run: { action: 'APPLY' } })
  expect((await world.plan())?.data).toMatchObject({ ...plan, 'notes.txt': 'mine' })
  expect(await world.archives()).toEqual([])
})
