import { createClient } from 'graphql-ws'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type DeletionStream, deletionProgressed } from '../../../subscriptions/deletionStream.ts'
import { type Message, SocketClient } from '../server/socketClient.ts'
import { startTestGateway, type TestGateway } from '../server/testGateway.ts'
import { until } from '../server/until.ts'
import { FakeClock } from './fakeClock.ts'
import { row } from './fakeLister.ts'

const PHASES = 'subscription { deploymentPhaseChanged { kind name phase } }'
const KEEP_ALIVE = 12_000

let gateway: TestGateway
/** Time of the pings. */
let network: FakeClock
const clients: SocketClient[] = []

beforeEach(async () => {
  network = new FakeClock()
  gateway = await startTestGateway({ clock: network, sockets: { maxOperations: 5 } })
})

afterEach(() => {
  for (const client of clients.splice(0)) client.socket.terminate()
  gateway.kill()
})

async function open(options: object = {}): Promise<SocketClient> {
  const client = await SocketClient.open(gateway.url, options)
  clients.push(client)
  return client
}

async function listening(client: SocketClient, query = PHASES): Promise<string> {
  const before = gateway.feed.waiting
  const id = client.subscribe(query)
  await until(() => gateway.feed.waiting > before)
  return id
}

const codesOf = ({ payload }: Message) =>
  (payload as { extensions: { code: string } }[]).map(({ extensions }) => extensions.code)

describe('graphql-ws', () => {
  it('streams the events in order, and completes when the client says so', async () => {
    const client = await open()
    const id = await listening(client)
    gateway.lister.set(row('a', 'chat', 'APPLYING'))
    gateway.lister.set(row('a', 'chat', 'APPLIED'))
    const event = (phase: string) => ({
      id,
      type: 'next',
      payload: { data: { deploymentPhaseChanged: { kind: 'CHANGED', name: 'chat', phase } } },
    })
    expect([await client.next(), await client.next()]).toEqual([event('APPLYING'), event('APPLIED')])
    client.send({ id, type: 'complete' })
    await client.drained()
    expect(gateway.feed.waiting).toBe(0)
    gateway.lister.set(row('a', 'chat', 'FAILED'))
    await client.drained()
    expect(client.unread).toEqual([])
  })

  it('completes after the last step of an uninstall, once, and the socket lives (B067)', async () => {
    gateway.source = () =>
      deletionProgressed(gateway.feed, { namespace: 'a', name: 'chat' }) as DeletionStream
    const client = await open()
    expect(client.subscribe('subscription { custom }')).toBe('op1')
    expect(await client.next()).toEqual({ id: 'op1', type: 'complete' })
    gateway.lister.set(row('a', 'chat', 'UNINSTALLING'))
    const id = await listening(client, 'subscription { custom }')
    gateway.lister.remove('a', 'chat', 'UNINSTALLED')
    expect(await client.next()).toMatchObject({ id, type: 'next' })
    expect(await client.next()).toMatchObject({ id, type: 'next' })
    expect(await client.next()).toEqual({ id, type: 'complete' })
    await client.drained()
    expect(client.unread).toEqual([])
    expect(gateway.feed.waiting).toBe(0)
  })

  it('works with the client of graphql-ws', async () => {
    const client = createClient({ url: gateway.url.replace('http', 'ws'), webSocketImpl: WebSocket })
    gateway.lister.set(row('a', 'chat', 'APPLIED'))
    const kinds: unknown[] = []
    for await (const { data } of client.iterate<{ deploymentPhaseChanged: { kind: string } }>({
      query: 'subscription { deploymentPhaseChanged(snapshot: true) { kind } }',
    })) {
      kinds.push(data?.deploymentPhaseChanged.kind)
      if (kinds.length === 2) break
    }
    expect(kinds).toEqual(['SNAPSHOT', 'SNAPSHOT_COMPLETE'])
    await client.dispose()
    await until(() => gateway.open().sockets === 0)
  })

  it('answers queries, with the caller of the socket', async () => {
    const client = await open()
    const id = client.subscribe('query ($name: String) { hello(name: $name) whoami }', {
      variables: { name: 'you' },
    })
    const payload = { data: { hello: 'hello you', whoami: 'tester' } }
    expect(await client.next()).toEqual({ id, type: 'next', payload })
    expect(await client.next()).toEqual({ id, type: 'complete' })
  })

  it('answers ping at once', async () => {
    const client = await open()
    client.send({ type: 'ping', payload: { n: 1 } })
    expect(await client.next()).toEqual({ type: 'pong', payload: { n: 1 } })
  })

  it.each([
    ['a broken document', 'subscription {', 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', 'subscription { nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    ['a mutation, which is sent by POST only', 'mutation { write(text: "x") }', 'METHOD_NOT_ALLOWED'],
    ['several operations and no name', 'query a { hello } query b { hello }', 'OPERATION_RESOLUTION_FAILURE'],
    [
      'a document that is too deep',
      `{ ${'tree { '.repeat(30)} leaf ${'}'.repeat(30)} }`,
      'DOCUMENT_TOO_LARGE',
    ],
  ])('answers an error message for %s, and the socket lives', async (_what, query, code) => {
    const client = await open()
    const id = client.subscribe(query)
    const message = await client.next()
    expect(message).toMatchObject({ id, type: 'error' })
    expect(codesOf(message)).toEqual([code])
    expect(JSON.stringify(message)).not.toContain('stack')
    await client.drained()
  })

  it('answers the typed error of a subscription that is refused, not masked (B056)', async () => {
    const client = await open()
    const id = client.subscribe('subscription { deploymentPhaseChanged(name: "x") { kind } }')
    expect(await client.next()).toMatchObject({
      id,
      type: 'next',
      payload: { errors: [{ extensions: { code: 'INVALID_INPUT' } }] },
    })
    expect(await client.next()).toEqual({ id, type: 'complete' })
    expect(gateway.feed.waiting).toBe(0)
  })

  it('refuses more operations than a socket may have, without harm to those it has', async () => {
    const client = await open()
    for (let n = 0; n < 5; n++) await listening(client)
    const id = client.subscribe('{ hello }')
    const message = await client.next()
    expect([message.id, message.type, codesOf(message)]).toEqual([id, 'error', ['TOO_MANY_OPERATIONS']])
    gateway.lister.set(row('a', 'chat', 'APPLIED'))
    for (let n = 0; n < 5; n++) expect(await client.next()).toMatchObject({ type: 'next' })
    client.send({ id: 'op1', type: 'complete' })
    client.subscribe('{ hello }')
    expect(await client.next()).toMatchObject({ type: 'next', payload: { data: { hello: 'hello world' } } })
  })

  it('closes a socket that does not greet in time', async () => {
    const impatient = await startTestGateway({ sockets: { initTimeoutMs: 1 } })
    const client = await SocketClient.connect(impatient.url)
    expect((await client.closed).code).toBe(4408)
    impatient.kill()
  })

  it('closes a socket that subscribes without having greeted, or speaks something else', async () => {
    const early = await SocketClient.connect(gateway.url)
    early.subscribe(PHASES)
    expect((await early.closed).code).toBe(4401)
    const strange = await open()
    strange.socket.send('hello')
    expect((await strange.closed).code).toBe(4400)
  })

  it('closes a socket that sends a message of more than 256 KiB', async () => {
    const client = await open()
    client.subscribe(`{ hello(name: "${'x'.repeat(300_000)}") }`)
    expect((await client.closed).code).toBe(1009)
    expect(gateway.log.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('an error in a source (B054)', () => {
  it.each([
    ['an error', () => new Error('a secret of the inside')],
    ['undefined', () => undefined],
  ])('ends its own operation only, masked and logged: %s', async (_what, error) => {
    let fail = () => {}
    const failed = new Promise<void>((resolve) => {
      fail = resolve
    })
    gateway.source = async function* () {
      yield { text: 'first' }
      await failed
      throw error()
    }
    const client = await open()
    const healthy = await listening(client)
    const id = client.subscribe('subscription { custom }')
    expect(await client.next()).toEqual({ id, type: 'next', payload: { data: { custom: 'first' } } })
    fail()
    const message = await client.next()
    expect([message.id, message.type, codesOf(message)]).toEqual([id, 'error', ['INTERNAL_SERVER_ERROR']])
    expect(JSON.stringify(message)).not.toContain('secret')
    expect(gateway.log.filter(({ level }) => level === 'error')).toHaveLength(1)
    gateway.lister.set(row('a', 'chat', 'APPLIED'))
    expect(await client.next()).toMatchObject({ id: healthy, type: 'next' })
  })

  it('an error of one event is an error in that event', async () => {
    gateway.source = async function* () {
      yield new Error('a secret of the inside')
      yield { text: 'second' }
    }
    const client = await open()
    const id = client.subscribe('subscription { custom }')
    const first = await client.next()
    expect(first).toMatchObject({
      id,
      type: 'next',
      payload: { data: { custom: null }, errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }] },
    })
    expect(JSON.stringify(first)).not.toContain('secret')
    expect(await client.next()).toEqual({ id, type: 'next', payload: { data: { custom: 'second' } } })
    expect(await client.next()).toEqual({ id, type: 'complete' })
  })

  it('frees a source that has failed', async () => {
    let returned = 0
    const source = {
      next: () => Promise.reject(new Error('broken')),
      return: () => {
        returned++
        return Promise.resolve({ done: true as const, value: undefined })
      },
    }
    gateway.source = () => ({ [Symbol.asyncIterator]: () => source })
    const client = await open()
    client.subscribe('subscription { custom }')
    expect((await client.next()).type).toBe('error')
    expect(returned).toBe(1)
  })
})

describe('the end of a subscription', () => {
  it('frees everything: by complete, and by closing the socket (B057)', async () => {
    for (let n = 0; n < 100; n++) {
      const client = await open()
      const id = await listening(client)
      if (n % 2) await client.close()
      else client.send({ id, type: 'complete' })
    }
    await until(() => gateway.feed.waiting === 0)
    for (const client of clients.splice(0)) client.socket.terminate()
    await until(() => gateway.open().sockets === 0)
    expect([gateway.clock.timers, network.timers, gateway.lister.listeners]).toEqual([0, 0, 1])
  })

  it('comes while its source is stuck, and aborts what it waits for (B067)', async () => {
    gateway.source = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })
    const client = await open()
    const id = client.subscribe('subscription { custom }')
    await client.drained()
    const signal = gateway.context?.signal
    expect(signal?.aborted).toBe(false)
    client.send({ id, type: 'complete' })
    await client.drained()
    expect(signal?.aborted).toBe(true)
    client.subscribe('subscription { custom }')
    await client.drained()
    const other = gateway.context?.signal
    await client.close()
    await until(() => other?.aborted === true)
  })

  it('is complete, once, when the source ends', async () => {
    gateway.source = async function* () {
      yield { text: 'only' }
    }
    const client = await open()
    const id = client.subscribe('subscription { custom }')
    await client.next()
    expect(await client.next()).toEqual({ id, type: 'complete' })
    await client.drained()
    expect(client.unread).toEqual([])
  })

  it('is 1001 for all sockets when the server stops (B066)', async () => {
    const client = await open()
    await listening(client)
    await gateway.stop()
    expect(await client.closed).toEqual({ code: 1001, reason: 'The gateway is stopping' })
    expect(gateway.feed.waiting).toBe(0)
  })

  it('does not hold up a server that stops, when the client does not answer', async () => {
    const client = await open()
    client.socket.pause()
    const stopped = gateway.stop()
    network.advance(2_000)
    await stopped
    expect(gateway.open().sockets).toBe(0)
  })
})

describe('a client that is no longer there (B059)', () => {
  it('is cut off after one ping without an answer, and its sources are freed', async () => {
    const frozen = await open({ autoPong: false })
    const healthy = await open()
    await listening(frozen)
    await listening(healthy)
    const ping = () => new Promise((resolve) => healthy.socket.once('ping', resolve))

    const first = ping()
    network.advance(KEEP_ALIVE)
    await first
    await healthy.drained()
    expect(gateway.open().sockets).toBe(2)

    const second = ping()
    network.advance(KEEP_ALIVE)
    await second
    await until(() => gateway.open().sockets === 1)
    expect(gateway.feed.waiting).toBe(1)
    expect((await frozen.closed).code).toBe(1006)
    gateway.lister.set(row('a', 'chat', 'APPLIED'))
    expect(await healthy.next()).toMatchObject({ type: 'next' })
  })
})

describe('a client that does not read (B060)', () => {
  const BIG = 'x'.repeat(64 * 1024)
  const CHANGES = 250
  const query = 'subscription { deploymentPhaseChanged { kind reason phase } }'

  it('has one event on its way, is told why it is closed, and the others miss nothing', async () => {
    const stalled = await open()
    await listening(stalled, query)
    stalled.socket.pause()
    const fast = await open()
    await listening(fast, query)
    const phases: unknown[] = []
    for (let n = 0; n < CHANGES; n++) {
      gateway.lister.set(row('a', 'chat', n % 2 ? 'APPLIED' : 'APPLYING', { phaseReason: BIG }))
      const { payload } = await fast.next()
      phases.push(
        (payload as { data: { deploymentPhaseChanged: { kind: string } } }).data.deploymentPhaseChanged.kind,
      )
    }
    expect(phases).toEqual(Array(CHANGES).fill('CHANGED'))

    network.advance(KEEP_ALIVE)
    await fast.drained()
    network.advance(KEEP_ALIVE)
    expect(gateway.feed.waiting).toBe(1)
    stalled.socket.resume()
    expect(await stalled.closed).toMatchObject({ code: 1013, reason: expect.stringContaining('Slow reader') })
    expect(stalled.unread.length).toBeLessThan(CHANGES)
  })

  it('is closed when too much waits for it, whatever it asks for meanwhile', async () => {
    const small = await startTestGateway({ clock: network, sockets: { maxBufferedBytes: 100_000 } })
    const client = await SocketClient.open(small.url)
    clients.push(client)
    client.socket.pause()
    const ask = { type: 'ping', payload: { text: 'x'.repeat(100_000) } }
    for (let n = 0; n < 200; n++) client.send(ask)
    await until(() => small.log.some(({ level }) => level === 'warn'))
    client.socket.resume()
    expect((await client.closed).code).toBe(1013)
    small.kill()
  })
})
