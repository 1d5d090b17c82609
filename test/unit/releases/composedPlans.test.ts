import { expect, test } from 'vitest'
import { Kinds } from '../../../services/cluster/kinds.ts'
import { ComposedPlans } from '../../../services/releases/composedPlans.ts'
import { startSandbox } from '../cluster/support/sandbox.ts'

const MINUTE = 60_000
const hash = 'ab'.repeat(32)
const release = { namespace: 'team-a', name: 'chat' }
const data = { 'plan.yaml': '# kept\nhash: x\n', 'form.yaml': 'a: 9007199254740993\n' }
const alice = { name: 'alice', groups: [] }
const bob = { name: 'bob', groups: [] }

async function start() {
  const sandbox = await startSandbox()
  sandbox.server.store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'swiss-system' } })
  const client = sandbox.makeClient()
  const plans = () => new ComposedPlans({ client, namespace: 'swiss-system' })
  const names = async () =>
    (await client.list(Kinds.Secret, { namespace: 'swiss-system' })).items.map(
      ({ metadata }) => metadata.name,
    )
  return { ...sandbox, client, plans, names }
}

test('a plan is found by its whole hash on any replica, as it was composed, bound to release and callers', async () => {
  const { plans, names } = await start()
  await plans().put({ hash, release, data }, alice)
  await plans().put({ hash, release, data }, bob)
  await plans().put({ hash, release, data }, bob)
  expect(await names()).toEqual(['swiss-composed-abababababababab'])
  expect(await plans().find(hash)).toEqual({ hash, release, data, actors: ['alice', 'bob'] })
  expect(await plans().find(`${hash.slice(0, 16)}${'cd'.repeat(24)}`)).toBeNull()
  for (const odd of ['', 'h1', hash.toUpperCase(), `${hash}0`, '../secrets'])
    expect(await plans().find(odd)).toBeNull()
})

test('another plan whose hash begins the same takes the place, and takes over no caller', async () => {
  const { plans } = await start()
  const other = `${hash.slice(0, 16)}${'cd'.repeat(24)}`
  await plans().put({ hash, release, data }, alice)
  await plans().put({ hash: other, release, data }, bob)
  expect(await plans().find(hash)).toBeNull()
  expect(await plans().find(other)).toMatchObject({ actors: ['bob'] })
})

test('after an hour it is gone, and the leader removes it; composing it again starts the hour anew', async () => {
  const { plans, names, clock, client } = await start()
  const leader = plans()
  const other = 'cd'.repeat(32)
  await leader.put({ hash, release, data }, alice)
  await leader.put({ hash: other, release, data }, alice)
  await clock.advance(30 * MINUTE)
  await leader.put({ hash: other, release, data }, bob)
  await client.create(Kinds.Secret, { metadata: { namespace: 'swiss-system', name: 'swiss-composed-mine' } })
  await clock.advance(30 * MINUTE - 1)
  expect(await leader.find(hash)).not.toBeNull()
  await leader.removeExpired()
  expect(await names()).toHaveLength(3)
  await clock.advance(MINUTE)
  expect(await leader.find(hash)).toBeNull()
  await leader.removeExpired()
  expect(await names()).toEqual(['swiss-composed-cdcdcdcdcdcdcdcd', 'swiss-composed-mine'])
  expect(await leader.find(other)).not.toBeNull()
  await clock.advance(30 * MINUTE)
  await leader.removeExpired()
  expect(await names()).toEqual(['swiss-composed-mine'])
})

test('the loop asks once a minute, and not before the first one is over', async () => {
  const { plans, clock, client } = await start()
  const leader = plans()
  const before = client.calls
  await leader.removeExpired()
  expect(client.calls).toBe(before)
  await clock.advance(MINUTE)
  await leader.removeExpired()
  await leader.removeExpired()
  expect(client.calls).toBe(before + 1)
})

test('an expired plan that is not removed yet makes room, without its callers', async () => {
  const { plans, clock } = await start()
  await plans().put({ hash, release, data }, alice)
  await clock.advance(60 * MINUTE)
  await plans().put({ hash, release, data }, bob)
  expect(await plans().find(hash)).toMatchObject({ actors: ['bob'] })
})

test('two that compose the same at once both have it', async () => {
  const { plans } = await start()
  await Promise.all([plans().put({ hash, release, data }, alice), plans().put({ hash, release, data }, bob)])
  expect((await plans().find(hash))?.actors.sort()).toEqual(['alice', 'bob'])
})

test('a Secret of that name that says something else is no plan', async () => {
  const { plans, client } = await start()
  const name = 'swiss-composed-abababababababab'
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const at = { 'swiss.modelsphere.dev/composed-at': '2031-01-01T00:00:00Z' }
  await client.create(Kinds.Secret, {
    metadata: { namespace: 'swiss-system', name, annotations: at },
    data: { 'composed.yaml': base64('[') },
  })
  expect(await plans().find(hash)).toBeNull()
})
