import { describe, expect, test } from 'vitest'
import { KubeError } from '../../../services/cluster/errors.ts'
import type { HeldLease, LeaseObject } from '../../../services/cluster/heldLease.ts'
import { type Acquired, LeaseLocks } from '../../../services/cluster/leases.ts'
import { microTime } from '../../../services/cluster/leaseTime.ts'
import { startSandbox } from './support/sandbox.ts'
import { turn, until } from './support/until.ts'

const lock = { namespace: 'team-a', name: 'swiss-lock-chat', durationSeconds: 30 }
const ref = { namespace: lock.namespace, name: lock.name }
const SIX_DIGITS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

async function start() {
  const sandbox = await startSandbox()
  sandbox.server.store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } })
  const { clock, logger } = sandbox
  const gateway = (identity: string) => {
    const client = sandbox.makeClient()
    const locks = new LeaseLocks({ client, clock, logger })
    return { client, locks, take: () => locks.tryAcquire({ ...lock, identity }) }
  }
  const stored = () => sandbox.server.store.get({ kind: 'Lease', ...ref }) as LeaseObject | undefined
  const put = (spec: LeaseObject['spec'], name = lock.name) =>
    sandbox.server.store.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: 'team-a', labels: { keep: 'me' } },
      spec,
    })
  return { ...sandbox, gateway, stored, put }
}

function held(result: Acquired): HeldLease {
  if (!result.acquired) throw new Error(`held by ${result.holder}`)
  return result.lease
}

describe('taking', () => {
  test('the lock is a Lease with holder, duration and times of six fractional digits', async () => {
    const { gateway, stored, clock } = await start()
    const a = gateway('gateway-a')
    const lease = held(await a.locks.tryAcquire({ ...lock, identity: 'gateway-a', labels: { app: 'swiss' } }))
    expect(lease).toMatchObject({ ...ref, identity: 'gateway-a', since: new Date(clock.now()).toISOString() })
    const { spec, metadata } = stored() ?? {}
    expect(spec).toMatchObject({ holderIdentity: 'gateway-a', leaseDurationSeconds: 30 })
    expect(spec?.renewTime).toMatch(SIX_DIGITS)
    expect(spec?.acquireTime).toMatch(SIX_DIGITS)
    expect(metadata?.labels).toEqual({ app: 'swiss' })
    await lease.release()
  })

  test('a held lock is refused at once, with who holds it and since when', async () => {
    const { gateway } = await start()
    const a = gateway('gateway-a')
    const b = gateway('gateway-b')
    const lease = held(await a.take())
    expect(await b.take()).toEqual({ acquired: false, holder: 'gateway-a', since: lease.since })
    const calls = a.client.calls
    expect(await a.take()).toEqual({ acquired: false, holder: 'gateway-a', since: lease.since })
    expect(a.client.calls).toBe(calls)
    await lease.release()
    const again = held(await b.take())
    expect(again.identity).toBe('gateway-b')
    await again.release()
  })

  test('of many who want it at once exactly one gets it', async () => {
    const { gateway, put, clock } = await start()
    put({
      holderIdentity: 'gateway-old',
      leaseDurationSeconds: 30,
      renewTime: microTime(clock.now() - 3_600_000),
    })
    const results = await Promise.all(Array.from({ length: 8 }, (_, index) => gateway(`g${index}`).take()))
    const winners = results.filter((result) => result.acquired)
    expect(winners).toHaveLength(1)
    const winner = winners.map(held)[0]
    for (const result of results) if (!result.acquired) expect(result.holder).toBe(winner?.identity)
    await winner?.release()
  })

  test('of two in one process that want it at once one gets it, without a second call', async () => {
    const { gateway } = await start()
    const a = gateway('gateway-a')
    const [first, second] = await Promise.all([a.take(), a.take()])
    expect(second).toMatchObject({ acquired: false, holder: 'gateway-a' })
    await held(first).release()
  })

  test.each([
    ['renewed an hour ago', (now: number) => ({ renewTime: microTime(now - 3_600_000) })],
    ['without a renewal', () => ({ renewTime: null })],
    ['with an unreadable renewal', () => ({ renewTime: 'yesterday' })],
    ['whose holder is empty', (now: number) => ({ renewTime: microTime(now), holderIdentity: '' })],
  ])('B077 a Lease %s is free, and what else is on it stays', async (_, spec) => {
    const { gateway, put, stored, clock } = await start()
    put({
      holderIdentity: 'gateway-old',
      leaseDurationSeconds: 30,
      leaseTransitions: 4,
      ...spec(clock.now()),
    })
    const lease = held(await gateway('gateway-a').take())
    expect(stored()?.spec).toMatchObject({ holderIdentity: 'gateway-a', leaseTransitions: 5 })
    expect(stored()?.metadata.labels).toEqual({ keep: 'me' })
    await lease.release()
  })

  test('B077 held by ourselves before a restart: it runs out like any other, even under the same name', async () => {
    const { gateway, put, clock, settle } = await start()
    put({ holderIdentity: 'gateway-a', leaseDurationSeconds: 30, renewTime: microTime(clock.now()) })
    const a = gateway('gateway-a')
    expect(await a.take()).toMatchObject({ acquired: false, holder: 'gateway-a' })
    await clock.advance(29_000, settle)
    expect(await a.take()).toMatchObject({ acquired: false })
    await clock.advance(2_000, settle)
    await held(await a.take()).release()
  })

  test('a holder whose clock is far ahead frees it once it has not been renewed for its duration', async () => {
    const { gateway, put, clock, settle } = await start()
    put({
      holderIdentity: 'gateway-old',
      leaseDurationSeconds: 30,
      renewTime: microTime(clock.now() + 86_400_000),
    })
    const a = gateway('gateway-a')
    expect(await a.take()).toMatchObject({ acquired: false, holder: 'gateway-old' })
    await clock.advance(31_000, settle)
    await held(await a.take()).release()
  })

  test('B079 times without fractions are read', async () => {
    const { gateway, put, clock } = await start()
    put({
      holderIdentity: 'gateway-old',
      leaseDurationSeconds: 30,
      renewTime: '2031-01-01T00:00:00.000000Z',
      acquireTime: '2030-12-31T23:00:00Z',
    })
    expect(clock.now()).toBe(Date.UTC(2031, 0, 1))
    expect(await gateway('gateway-a').take()).toEqual({
      acquired: false,
      holder: 'gateway-old',
      since: '2030-12-31T23:00:00.000Z',
    })
  })

  test('an API server that refuses or fails is an error, not a free or a held lock', async () => {
    const { gateway, server } = await start()
    const a = gateway('gateway-a')
    server.fault({ verb: 'get', kind: 'Lease', status: 503, reason: 'ServiceUnavailable', times: 1 })
    await expect(a.take()).rejects.toMatchObject({ reason: 'Unavailable' })
    server.fault({ verb: 'create', kind: 'Lease', status: 403, reason: 'Forbidden', times: 1 })
    await expect(a.take()).rejects.toMatchObject({ reason: 'Forbidden' })
    await held(await a.take()).release()
  })

  test('in a namespace that is being deleted no lock can be made', async () => {
    const { gateway, server } = await start()
    server.store.patch(
      { kind: 'Namespace', name: 'team-a' },
      { metadata: { deletionTimestamp: '2031-01-01T00:00:00Z' }, status: { phase: 'Terminating' } },
    )
    await expect(gateway('gateway-a').take()).rejects.toMatchObject({ reason: 'NamespaceTerminating' })
  })

  test('an answer that was lost on its way: the lock that was written is found and kept', async () => {
    const { gateway, server, stored } = await start()
    const a = gateway('gateway-a')
    let lost = 0
    const request = a.client.create.bind(a.client)
    a.client.create = (async (...call: Parameters<typeof request>) => {
      const made = await request(...call)
      if (lost++ === 0) throw new KubeError('Unavailable', 'no answer within 30 s')
      return made
    }) as typeof a.client.create
    const lease = held(await a.take())
    expect(stored()?.spec?.holderIdentity).toBe('gateway-a')
    expect(server.store.list('Lease')).toHaveLength(1)
    await lease.release()
  })
})

describe('holding', () => {
  test('it is renewed every third of its duration, and each renewal is told with the new deadline', async () => {
    const { gateway, stored, clock, settle } = await start()
    const lease = held(await gateway('gateway-a').take())
    const deadlines: number[] = []
    lease.onRenewed((deadline) => deadlines.push(deadline - clock.now()))
    const takenAt = stored()?.spec?.acquireTime
    await clock.advance(600_000, settle)
    expect(deadlines).toHaveLength(60)
    expect(new Set(deadlines)).toEqual(new Set([24_000]))
    expect(stored()?.spec?.renewTime).toBe(microTime(clock.now()))
    expect(stored()?.spec?.acquireTime).toBe(takenAt)
    expect(lease.lost.aborted).toBe(false)
    await lease.release()
  })

  test('failing renewals are tried again; when the deadline passes it is lost, before it can run out', async () => {
    const { gateway, server, clock, settle } = await start()
    const a = gateway('gateway-a')
    const lease = held(await a.take())
    const takenAt = clock.now()
    let lostAt = 0
    lease.lost.addEventListener('abort', () => {
      lostAt = clock.now()
    })
    server.fault({ verb: 'update', kind: 'Lease', status: 503, reason: 'ServiceUnavailable', times: 3 })
    await clock.advance(60_000, settle)
    expect(lostAt).toBe(0)
    server.fault({ verb: 'update', kind: 'Lease', status: 503, reason: 'ServiceUnavailable' })
    const lastRenewal = lease.deadline - 24_000
    await clock.advance(60_000, settle)
    expect(lostAt).toBe(lastRenewal + 24_000)
    expect(lostAt).toBeGreaterThan(takenAt)
    expect(clock.pending).toBe(0)
    server.clearFaults()
    await lease.release()
    await clock.advance(30_000, settle)
    await held(await a.take()).release()
  })

  test('a renewal that gets no answer does not outlive the deadline', async () => {
    const { gateway, server, clock } = await start()
    const lease = held(await gateway('gateway-a').take())
    const hang = new Promise<void>(() => {})
    server.fault({ verb: 'update', kind: 'Lease', first: () => hang })
    const quick = async () => {
      for (let turns = 0; turns < 10; turns++) await turn()
    }
    await clock.advance(24_000, quick)
    expect(lease.lost.aborted).toBe(true)
    expect(clock.pending).toBe(0)
  })

  test('a renewal that hangs is given up in time for another one', async () => {
    const { gateway, server, clock } = await start()
    const a = gateway('gateway-a')
    const lease = held(await a.take())
    server.fault({ verb: 'update', kind: 'Lease', times: 1, first: () => new Promise<void>(() => {}) })
    const quick = async () => {
      for (let turns = 0; turns < 30; turns++) await turn()
    }
    await clock.advance(20_000, quick)
    await clock.advance(60_000, async () => {
      await until('the renewal', () => a.client.inFlight === 0)
      await quick()
    })
    expect(lease.lost.aborted).toBe(false)
    await lease.release()
  })

  test('another holder, or a Lease that is gone or made again, is a loss at the next renewal', async () => {
    for (const change of ['holder', 'gone', 'again'] as const) {
      const { gateway, server, clock, settle } = await start()
      const lease = held(await gateway('gateway-a').take())
      if (change === 'holder')
        server.store.patch({ kind: 'Lease', ...ref }, { spec: { holderIdentity: 'gateway-b' } })
      else server.store.remove({ kind: 'Lease', ...ref })
      if (change === 'again') {
        server.store.create({
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { ...ref },
          spec: { holderIdentity: 'gateway-a', leaseDurationSeconds: 30, renewTime: microTime(clock.now()) },
        })
      }
      await clock.advance(11_000, settle)
      expect(lease.lost.aborted, change).toBe(true)
    }
  })

  test('a foreign label on it is no loss, and stays', async () => {
    const { gateway, server, clock, settle, stored } = await start()
    const lease = held(await gateway('gateway-a').take())
    server.store.patch({ kind: 'Lease', ...ref }, { metadata: { labels: { team: 'blue' } } })
    await clock.advance(31_000, settle)
    expect(lease.lost.aborted).toBe(false)
    expect(stored()?.metadata.labels).toEqual({ team: 'blue' })
    server.store.patch({ kind: 'Lease', ...ref }, { metadata: { labels: { team: 'red' } } })
    await lease.release()
    expect(stored()?.spec?.holderIdentity).toBe('')
    expect(stored()?.metadata.labels).toEqual({ team: 'red' })
  })
})

describe('giving back', () => {
  test('release empties the holder, ends the renewals, and does nothing the second time', async () => {
    const { gateway, stored, clock, settle } = await start()
    const a = gateway('gateway-a')
    const lease = held(await a.take())
    await lease.release()
    const calls = a.client.calls
    await lease.release()
    await clock.advance(120_000, settle)
    expect(a.client.calls).toBe(calls)
    expect(stored()?.spec?.holderIdentity).toBe('')
    expect(lease.lost.aborted).toBe(false)
    expect(clock.pending).toBe(0)
  })

  test('release never throws, and never takes it from somebody else', async () => {
    const { gateway, server, stored, lines } = await start()
    const a = gateway('gateway-a')
    const first = held(await a.take())
    server.store.patch({ kind: 'Lease', ...ref }, { spec: { holderIdentity: 'gateway-b' } })
    await first.release()
    expect(stored()?.spec?.holderIdentity).toBe('gateway-b')
    server.store.remove({ kind: 'Lease', ...ref })
    const second = held(await a.take())
    server.fault({ verb: 'update', kind: 'Lease', status: 500, reason: 'InternalError' })
    server.fault({ verb: 'get', kind: 'Lease', status: 500, reason: 'InternalError' })
    await second.release()
    expect(lines.at(-1)).toMatchObject({ level: 'warn', message: expect.stringContaining('not given back') })
    server.clearFaults()
    server.store.remove({ kind: 'Lease', ...ref })
    const third = held(await a.take())
    server.store.remove({ kind: 'Lease', ...ref })
    await third.release()
    expect(stored()).toBeUndefined()
    const fourth = held(await a.take())
    server.store.replace({
      ...server.store.get({ kind: 'Lease', ...ref }),
      metadata: { ...ref, uid: 'other' },
    } as never)
    await fourth.release()
    expect(stored()?.spec?.holderIdentity).toBe('gateway-a')
  })

  test('B077 a Lease that nobody holds is removed as it stands; a held one is not', async () => {
    const { gateway, server, stored, clock, settle, put } = await start()
    const a = gateway('gateway-a')
    const b = gateway('gateway-b')
    expect(await a.locks.remove(ref.namespace, ref.name)).toBe('absent')
    const lease = held(await a.take())
    expect(await a.locks.remove(ref.namespace, ref.name)).toBe('held')
    expect(await b.locks.remove(ref.namespace, ref.name)).toBe('held')
    await lease.release()
    expect(await b.locks.remove(ref.namespace, ref.name)).toBe('removed')
    expect(stored()).toBeUndefined()
    // Taken between our look and our delete.
    put({ holderIdentity: '', leaseDurationSeconds: 30, renewTime: microTime(clock.now()) })
    server.fault({
      verb: 'delete',
      kind: 'Lease',
      times: 1,
      first: () =>
        void server.store.patch({ kind: 'Lease', ...ref }, { spec: { holderIdentity: 'gateway-c' } }),
    })
    expect(await a.locks.remove(ref.namespace, ref.name)).toBe('held')
    expect(stored()?.spec?.holderIdentity).toBe('gateway-c')
    await clock.advance(31_000, settle)
    expect(await a.locks.remove(ref.namespace, ref.name)).toBe('removed')
    server.fault({ verb: 'get', kind: 'Lease', status: 503, reason: 'ServiceUnavailable', times: 1 })
    await expect(a.locks.remove(ref.namespace, ref.name)).rejects.toThrow(KubeError)
  })

  test('after a crash it is neither renewed nor given back, nor told as lost; the next one waits it out', async () => {
    const { gateway, stored, clock, settle } = await start()
    const a = gateway('gateway-a')
    const lease = held(await a.take())
    a.client.kill()
    expect(clock.pending).toBe(0)
    await clock.advance(5_000, settle)
    await lease.release()
    expect(stored()?.spec?.holderIdentity).toBe('gateway-a')
    expect(lease.lost.aborted).toBe(false)
    expect(clock.pending).toBe(0)
    const b = gateway('gateway-b')
    expect(await b.take()).toMatchObject({ acquired: false })
    await clock.advance(31_000, settle)
    await held(await b.take()).release()
    await until('quiet', () => b.client.inFlight === 0)
  })
})
