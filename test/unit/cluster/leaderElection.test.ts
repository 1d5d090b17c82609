import { expect, onTestFinished, test } from 'vitest'
import { LeaderElector } from '../../../services/cluster/leaderElection.ts'
import { startSandbox } from './support/sandbox.ts'
import { until } from './support/until.ts'

async function start(namespaceExists = true) {
  const sandbox = await startSandbox()
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'swiss-system' } }
  if (namespaceExists) sandbox.server.store.create(namespace)
  const { clock, logger } = sandbox
  const candidate = (identity: string) => {
    const client = sandbox.makeClient()
    const elector = new LeaderElector({
      client,
      clock,
      logger,
      random: () => 0.5,
      namespace: 'swiss-system',
      identity,
    })
    const stop = elector.start()
    onTestFinished(() => {
      client.kill()
    })
    return { client, elector, stop }
  }
  return { ...sandbox, candidate, makeNamespace: () => sandbox.server.store.create(namespace) }
}

test('one leads, the other knows who, and takes over at once when the Lease is given back', async () => {
  const { candidate, clock, settle, server } = await start()
  const a = candidate('a')
  await until('a leader', () => a.elector.isLeader)
  const b = candidate('b')
  await until('b has looked', () => b.elector.leader === 'a')
  await clock.advance(300_000, settle)
  expect([a.elector.isLeader, b.elector.isLeader, b.elector.leader]).toEqual([true, false, 'a'])
  const told: boolean[] = []
  b.elector.onChange(() => told.push(b.elector.isLeader))
  await a.stop()
  expect(a.elector.isLeader).toBe(false)
  expect(
    server.store.get({ kind: 'Lease', namespace: 'swiss-system', name: 'swiss-gateway-leader' })?.spec,
  ).toMatchObject({
    holderIdentity: '',
  })
  await clock.advance(6_000, settle)
  expect([b.elector.isLeader, b.elector.leader]).toEqual([true, 'b'])
  expect(told).toContain(true)
  await b.stop()
  expect(clock.pending).toBe(0)
})

test('the Lease of a leader that died runs out', async () => {
  const { candidate, clock, settle } = await start()
  const a = candidate('a')
  await until('a leader', () => a.elector.isLeader)
  const b = candidate('b')
  await until('b has looked', () => b.elector.leader === 'a')
  a.client.kill()
  await clock.advance(10_000, settle)
  expect(b.elector.isLeader).toBe(false)
  await clock.advance(12_000, settle)
  expect(b.elector.isLeader).toBe(true)
  await b.stop()
})

test('a leader that cannot renew stops leading before another can begin, and stands again', async () => {
  const { candidate, clock, settle, server } = await start()
  const a = candidate('a')
  await until('a leader', () => a.elector.isLeader)
  server.fault({ verb: 'update', kind: 'Lease', status: 503, reason: 'ServiceUnavailable' })
  const deadline = clock.now() + 12_000
  let beyond = 0
  await clock.advance(12_000, () => {
    // In the very turn of the timer, before anything else can run.
    if (clock.now() >= deadline && a.elector.isLeader) beyond++
    return settle()
  })
  expect(a.elector.isLeader).toBe(false)
  expect(beyond).toBe(0)
  server.clearFaults()
  await clock.advance(30_000, settle)
  expect(a.elector.isLeader).toBe(true)
  await a.stop()
})

test('a 403 or a namespace that is not there yet does not end it; the reason is kept and told once', async () => {
  const { candidate, clock, settle, server, lines, makeNamespace } = await start(false)
  server.fault({ verb: 'get', kind: 'Lease', status: 403, reason: 'Forbidden' })
  const a = candidate('a')
  await clock.advance(60_000, settle)
  expect(a.elector).toMatchObject({ isLeader: false, leader: null })
  expect(a.elector.lastError).toContain('swiss-gateway-leader')
  expect(lines.filter((line) => line.level === 'warn')).toHaveLength(1)
  server.clearFaults()
  await clock.advance(30_000, settle)
  expect(a.elector.lastError).not.toBeNull()
  makeNamespace()
  await clock.advance(6_000, settle)
  expect(a.elector).toMatchObject({ isLeader: true, leader: 'a', lastError: null })
  await a.stop()
})

test('B079 a server that refuses the times for good is told, not retried in silence', async () => {
  const { candidate, clock, settle, server, lines } = await start()
  server.fault({ verb: 'create', kind: 'Lease', status: 400, reason: 'BadRequest' })
  const a = candidate('a')
  await clock.advance(60_000, settle)
  expect(a.elector.isLeader).toBe(false)
  expect(a.elector.lastError).toContain('create Lease')
  expect(lines.filter((line) => line.level === 'warn')).toHaveLength(1)
  await a.stop()
})
