import { describe, expect, test } from 'vitest'
import type { CheckpointName } from '../../../services/runtime/checkpoint.ts'
import { until } from '../cluster/support/until.ts'
import { planData, startChanging } from './support/changing.ts'

const LOST = { action: 'APPLY', outcome: 'FAILED', error: 'lost with its gateway' }
const UNFINISHED = { phase: 'APPLYING', drift: { kind: 'APPLY_UNFINISHED' } }
const APPLIED = { phase: 'APPLIED', drift: null }

describe('a gateway that dies in an upgrade', () => {
  test.each<[CheckpointName, object, object | null, number]>([
    // Nothing has been written but the archive of what runs, which is right whatever comes.
    ['after-archive', { ...APPLIED, revision: 1 }, null, 2],
    ['after-plan', { ...UNFINISHED, revision: 1 }, LOST, 2],
    ['before-helm', { ...UNFINISHED, revision: 1 }, LOST, 2],
    ['after-helm', { ...UNFINISHED, revision: 2 }, LOST, 3],
    ['after-status', { ...APPLIED, revision: 2 }, { outcome: 'SUCCEEDED', revision: 2 }, 2],
    ['before-audit', { ...APPLIED, revision: 2 }, { outcome: 'SUCCEEDED', revision: 2 }, 2],
  ])('%s leaves what can be seen, told and gone on from', async (point, row, run, revision) => {
    const world = await startChanging()
    const first = await world.start('gateway-0')
    await first.apply(await world.compose(planData({ replicas: 1 })))
    first.kill()
    await world.clock.advance(1000)
    const second = await world.compose(planData({ replicas: 2 }))
    const dying = await world.start('gateway-1', point)
    dying.apply(second).catch(() => undefined)
    await dying.dead

    const next = await world.start('gateway-2')
    // The lock of the dead holder runs out by itself; until then nobody may change the release.
    expect(await next.apply(second)).toMatchObject({
      __typename: 'ApplyInProgressError',
      holder: 'gateway-1',
    })
    await next.gateway.tick('reap')
    expect((await next.runs()).slice(1)).toEqual(
      run === null ? [] : [expect.objectContaining({ outcome: 'STARTED' })],
    )
    await world.clock.advance(31_000)
    await next.gateway.tick('reap')
    expect(await next.row()).toMatchObject(row)
    expect((await next.runs()).slice(1)).toEqual(run === null ? [] : [expect.objectContaining(run)])
    expect(await world.archives()).toEqual(['swiss.plan.v1.chat.v1'])

    expect(await next.apply(second)).toMatchObject({ __typename: 'ApplyPlanPayload', revision })
    expect(await next.row()).toMatchObject({ ...APPLIED, revision })
    expect(await world.archives()).toEqual(['swiss.plan.v1.chat.v1'])
    expect(await next.rollback(1)).toMatchObject({ __typename: 'ApplyPlanPayload', revision: revision + 1 })
    expect((await world.plan())?.data['form.yaml']).toBe('replicas: 1\n')
    const open = (await next.runs()).filter(({ outcome }) => outcome === 'STARTED')
    expect(open).toEqual([])
  })
})

test('a gateway that is shut down in an upgrade says so in the plan and in the run', async () => {
  const world = await startChanging()
  const one = await world.start('gateway-1')
  await one.apply(await world.compose(planData({ replicas: 1 })))
  world.helm.behaviour = { held: true }
  const answer = one.apply(await world.compose(planData({ replicas: 2 })))
  await until('helm is held', () => world.helm.held === 1)
  const stopped = one.gateway.stop()
  expect(await answer).toMatchObject({
    __typename: 'HelmFailedError',
    message: 'helm could not upgrade team-a/chat: lost with its gateway',
  })
  await world.clock.advance(10_000)
  await stopped
  const two = await world.start('gateway-2')
  expect(await two.row()).toMatchObject({ phase: 'FAILED', phaseReason: 'lost with its gateway' })
  expect((await two.runs())[1]).toMatchObject(LOST)
  world.helm.behaviour = {}
  expect(await two.rollback(1)).toMatchObject({ __typename: 'ApplyPlanPayload', revision: 2 })
})

test('helm is stopped when the lock cannot be kept, before another may take it', async () => {
  const world = await startChanging()
  const one = await world.start('gateway-1')
  world.helm.behaviour = { held: true }
  const answer = one.apply(await world.compose(planData({ replicas: 1 })))
  await until('helm is held', () => world.helm.held === 1)
  world.server.fault({ verb: 'update', kind: 'Lease', status: 500 })
  await world.clock.advance(25_000, world.settle)
  expect(await answer).toMatchObject({
    __typename: 'HelmFailedError',
    message: expect.stringContaining('the lock could not be kept'),
  })
  expect(world.helm.running).toBe(0)
})

const failures = (lines: { message: string }[]) =>
  lines.filter(({ message }) => message.startsWith('what came of helm could not be written')).length

test('what came of helm is written down as soon as the API server answers again', async () => {
  const world = await startChanging()
  const one = await world.start('gateway-1')
  world.helm.behaviour = { held: true }
  const answer = one.apply(await world.compose(planData({ replicas: 1 })))
  await until('helm is held', () => world.helm.held === 1)
  world.server.fault({ verb: 'update', kind: 'ConfigMap', status: 500, times: 3 })
  world.helm.release()
  for (const [tries, wait] of [500, 1000, 2000].entries()) {
    await until('a try has failed', () => failures(world.lines) > tries)
    await world.clock.advance(wait)
  }
  expect(await answer).toMatchObject({ __typename: 'ApplyPlanPayload', deployment: { phase: 'APPLIED' } })
})

test('nothing is begun when the cluster cannot be asked', async () => {
  const world = await startChanging()
  const one = await world.start('gateway-1')
  const first = await world.compose(planData({ replicas: 1 }))
  for (const [verb, kind] of [
    ['create', 'Lease'],
    ['get', 'LLMService'],
    ['list', 'Secret'],
    ['get', 'Secret'],
    ['create', 'ConfigMap'],
  ] as const) {
    world.server.fault({ verb, kind, status: 500, times: 1 })
    expect(await one.apply(first)).toMatchObject({ __typename: 'ClusterUnavailableError', retryable: true })
  }
  expect(world.helm.calls).toEqual([])
  expect(await one.runs()).toEqual([])
  expect(await one.apply(first)).toMatchObject({ __typename: 'ApplyPlanPayload' })
})
