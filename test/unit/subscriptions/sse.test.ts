import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DeletionStream, deletionProgressed } from '../../../subscriptions/deletionStream.ts'
import { HEARTBEAT_MS } from '../../../subscriptions/sse.ts'
import { EventSource } from '../server/eventSource.ts'
import { startTestGateway, type TestGateway } from '../server/testGateway.ts'
import { until } from '../server/until.ts'
import { FakeClock } from './fakeClock.ts'
import { row } from './fakeLister.ts'

const PHASES = 'subscription { deploymentPhaseChanged { kind name phase } }'
const SNAPSHOT = 'subscription { deploymentPhaseChanged(snapshot: true) { kind name phase } }'

let gateway: TestGateway
/** Time of the heartbeats. */
let network: FakeClock
const clients: EventSource[] = []

beforeEach(async () => {
  network = new FakeClock()
  gateway = await startTestGateway({ clock: network })
})

afterEach(() => {
  for (const client of clients.splice(0)) client.close()
  gateway.kill()
})

async function open(
  query: string,
  headers?: Record<string, string>,
  url = gateway.url,
): Promise<EventSource> {
  const client = await EventSource.open(url, query, headers)
  clients.push(client)
  return client
}

/** A stream whose subscription has begun: its source waits for the next change. */
async function listening(query = PHASES, headers?: Record<string, string>): Promise<EventSource> {
  const before = gateway.feed.waiting
  const client = await open(query, headers)
  await until(() => gateway.feed.waiting > before)
  return client
}

describe('server-sent events', () => {
  it('come with headers that keep proxies from holding them back, and first bytes at once (B063)', async () => {
    const { response, next } = await open(PHASES).then((client) => ({
      response: client.response,
      next: client.next(),
    }))
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(response.headers['content-encoding']).toBeUndefined()
    expect(await next).toEqual({})
  })

  it('carry the cursor of each event as id, though the client has not selected it', async () => {
    const client = await listening()
    gateway.lister.set(row('a', 'chat', 'APPLIED'))
    expect(await client.message()).toEqual({
      id: gateway.feed.cursor(1),
      event: 'next',
      data: '{"data":{"deploymentPhaseChanged":{"kind":"CHANGED","name":"chat","phase":"APPLIED"}}}',
    })
  })

  it('are answered to a POST, with variables, as well', async () => {
    const client = await EventSource.post(gateway.url, {
      query:
        'subscription ($ns: String) { deploymentPhaseChanged(namespace: $ns, snapshot: true) { kind name } }',
      variables: { ns: 'a' },
    })
    clients.push(client)
    expect(await client.phase()).toEqual({ kind: 'SNAPSHOT_COMPLETE', name: null })
  })

  it('resume after the Last-Event-ID of a client that comes back, header or parameter', async () => {
    gateway.lister.set(row('a', 'r1', 'APPLIED'))
    gateway.lister.set(row('a', 'r2', 'APPLIED'))
    const id = gateway.feed.cursor(1)
    const byHeader = await open(SNAPSHOT, { 'last-event-id': id })
    expect(await byHeader.phase()).toEqual({ kind: 'CHANGED', name: 'r2', phase: 'APPLIED' })
    const byParameter = await open(SNAPSHOT, {}, `${gateway.url}?lastEventId=${id}`)
    expect(await byParameter.phase()).toEqual({ kind: 'CHANGED', name: 'r2', phase: 'APPLIED' })
  })

  it('prefer the since of the operation to Last-Event-ID', async () => {
    gateway.lister.set(row('a', 'r1', 'APPLIED'))
    gateway.lister.set(row('a', 'r2', 'APPLIED'))
    const query = `subscription { deploymentPhaseChanged(since: "${gateway.feed.cursor(1)}") { name } }`
    const client = await open(query, { 'last-event-id': gateway.feed.cursor(0) })
    expect(await client.phase()).toEqual({ name: 'r2' })
  })

  it('begin anew with RESYNC for an id of another process', async () => {
    const client = await open(PHASES, { 'last-event-id': 'bm8gY3Vyc29y' })
    expect(await client.phase()).toMatchObject({ kind: 'RESYNC' })
    expect(await client.phase()).toMatchObject({ kind: 'SNAPSHOT_COMPLETE' })
  })

  it('send a comment every 15 seconds while nothing happens', async () => {
    const client = await listening()
    await client.next()
    network.advance(HEARTBEAT_MS)
    expect(await client.next()).toEqual({})
    network.advance(HEARTBEAT_MS)
    expect(await client.next()).toEqual({})
    gateway.lister.set(row('a', 'chat', 'APPLIED'))
    expect(await client.next()).toMatchObject({ event: 'next' })
  })

  it('give a single result and complete for a query', async () => {
    const client = await open('{ hello }')
    expect(await client.message()).toEqual({ event: 'next', data: '{"data":{"hello":"hello world"}}' })
    expect(await client.message()).toEqual({ event: 'complete', data: '' })
    expect(await client.message()).toBeNull()
  })

  it.each([
    ['a broken document', 'subscription {', 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', 'subscription { nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a refused input (B056)',
      'subscription { deploymentPhaseChanged(name: "x") { kind } }',
      'INVALID_INPUT',
    ],
  ])('give errors, then complete, for %s', async (_what, query, code) => {
    const client = await open(query)
    const { event, data } = (await client.message()) ?? {}
    expect(event).toBe('next')
    expect(JSON.parse(data ?? '').errors[0].extensions).toEqual({ code })
    expect(await client.message()).toEqual({ event: 'complete', data: '' })
    expect(gateway.feed.waiting).toBe(0)
  })

  it('complete when the source ends', async () => {
    gateway.source = async function* () {
      yield { text: 'only' }
    }
    const client = await open('subscription { custom }')
    expect(await client.message()).toEqual({ event: 'next', data: '{"data":{"custom":"only"}}' })
    expect(await client.message()).toEqual({ event: 'complete', data: '' })
    expect(await client.message()).toBeNull()
  })

  it.each([
    ['an error', () => new Error('a secret of the inside')],
    ['undefined', () => undefined],
  ])(
    'say only that something failed when the source throws %s, and the process lives (B055)',
    async (_what, error) => {
      gateway.source = async function* () {
        yield { text: '1' }
        yield { text: '2' }
        throw error()
      }
      const client = await open('subscription { custom }')
      await client.message()
      await client.message()
      const { data } = (await client.message()) ?? {}
      expect(JSON.parse(data ?? '').errors[0].extensions).toEqual({ code: 'INTERNAL_SERVER_ERROR' })
      expect(data).not.toContain('secret')
      expect(await client.message()).toEqual({ event: 'complete', data: '' })
      expect(gateway.log.filter(({ level }) => level === 'error')).toHaveLength(1)
      expect(await (await open('{ hello }')).message()).toMatchObject({ event: 'next' })
    },
  )
})

describe('the end of an event stream', () => {
  it('comes after the last step of an uninstall, once, and is resumed after too (B067)', async () => {
    gateway.source = () => {
      const lastEventId = gateway.context?.lastEventId
      return deletionProgressed(gateway.feed, { namespace: 'a', name: 'chat', lastEventId }) as DeletionStream
    }
    gateway.lister.set(row('a', 'chat', 'UNINSTALLING'))
    const client = await listening('subscription { custom }')
    gateway.lister.remove('a', 'chat', 'UNINSTALLED')
    expect(await client.message()).toMatchObject({ id: gateway.feed.cursor(1), event: 'next' })
    expect(await client.message()).toMatchObject({ id: gateway.feed.cursor(2), event: 'next' })
    expect(await client.message()).toEqual({ event: 'complete', data: '' })
    expect(await client.message()).toBeNull()
    const again = await open('subscription { custom }', { 'last-event-id': gateway.feed.cursor(2) })
    expect(await again.message()).toEqual({ event: 'complete', data: '' })
    expect(gateway.feed.waiting).toBe(0)
  })

  it('frees its source at once when the client leaves (B057)', async () => {
    for (let n = 0; n < 50; n++) await listening()
    expect(gateway.feed.waiting).toBe(50)
    for (const client of clients.splice(0)) client.close()
    await until(() => gateway.open().eventStreams === 0)
    expect([gateway.feed.waiting, gateway.clock.timers, network.timers]).toEqual([0, 0, 0])
  })

  it('survives 50 clients that leave while an event is on its way (B055)', async () => {
    for (let n = 0; n < 50; n++) await listening()
    gateway.lister.set(row('a', 'chat', 'APPLIED'))
    for (const client of clients.splice(0)) client.close()
    await until(() => gateway.open().eventStreams === 0)
    expect(gateway.feed.waiting).toBe(0)
    expect(gateway.log.filter(({ level }) => level !== 'debug')).toEqual([])
  })

  it('comes in order, without complete, when the server stops (B066)', async () => {
    const client = await listening()
    await client.next()
    await gateway.stop()
    expect(await client.next()).toBeNull()
    expect(client.response.complete).toBe(true)
    expect(gateway.feed.waiting).toBe(0)
  })

  it('comes while the source is stuck, and aborts what it waits for (B067)', async () => {
    gateway.source = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })
    const client = await open('subscription { custom }')
    await client.next()
    const signal = gateway.context?.signal
    client.close()
    await until(() => gateway.open().eventStreams === 0)
    expect(signal?.aborted).toBe(true)
  })
})

describe('a client that does not read (B060)', () => {
  const BIG = 'x'.repeat(64 * 1024)
  const CHANGES = 250
  const query = 'subscription { deploymentPhaseChanged { kind reason phase } }'
  const change = (n: number) =>
    gateway.lister.set(row('a', 'chat', n % 2 ? 'APPLIED' : 'APPLYING', { phaseReason: BIG }))

  it('holds one event; the other clients miss nothing, and it gets a RESYNC when it reads again', async () => {
    const stalled = await listening(query)
    await stalled.next()
    const fast = await listening(query)
    let received = 0
    const reading = (async () => {
      while (received < CHANGES) {
        const { kind } = await fast.phase()
        if (kind === 'CHANGED') received++
        else throw new Error(`the fast client was passed by after ${received}`)
      }
    })()
    const paced = async () => {
      for (let n = 0; n < CHANGES; n++) {
        change(n)
        await until(() => received > n)
      }
    }
    await Promise.all([reading, paced()])
    const kinds: unknown[] = []
    while (kinds.at(-1) !== 'SNAPSHOT_COMPLETE') kinds.push((await stalled.phase()).kind)
    expect(kinds.slice(-3)).toEqual(['RESYNC', 'SNAPSHOT', 'SNAPSHOT_COMPLETE'])
    expect(kinds.length).toBeLessThan(CHANGES)
  })

  it('is cut off when it has taken nothing for a minute', async () => {
    await listening(query)
    for (let n = 0; n < CHANGES; n++) {
      change(n)
      // A turn for the stream to send what it can.
      await new Promise((resolve) => setImmediate(resolve))
    }
    network.advance(4 * HEARTBEAT_MS)
    await until(() => gateway.open().eventStreams === 0)
    expect(gateway.feed.waiting).toBe(0)
    expect(gateway.log.map(({ level }) => level)).toContain('warn')
  })
})
