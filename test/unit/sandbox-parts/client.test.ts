import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import { ApiError } from '../../../sandbox/apiError.ts'
import { createClient, type WatchEvent } from '../../../sandbox/client.ts'
import { systemClock } from '../../../sandbox/clock.ts'
import { startInformer } from '../../../sandbox/informer.ts'
import { CONFIG_MAP, LLM_SERVICE } from '../../../sandbox/resourceTypes.ts'
import { createQueue } from '../../../sandbox/workQueue.ts'
import { eventually, testCluster } from './support.ts'

const configMap = (name: string, data = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'team-a' },
  data,
})

/** A server whose one answer the test writes itself, chunk by chunk. */
async function rawServer(answer: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const client = createClient({ server: `http://127.0.0.1:${port}`, namespace: 'default' }, 'test')
  onTestFinished(() => client.close())
  return client
}

describe('the client', () => {
  test('puts a character together that the network has cut in two, and reads several events of a chunk', async () => {
    const line = (name: string) =>
      Buffer.from(`${JSON.stringify({ type: 'ADDED', object: configMap(name) })}\n`)
    const cut = line('größe')
    const at = cut.indexOf(0xc3) + 1
    const chunks = [
      cut.subarray(0, at),
      cut.subarray(at, at + 3),
      Buffer.concat([cut.subarray(at + 3), line('b'), line('c')]),
    ]
    const client = await rawServer(async (response) => {
      for (const chunk of chunks) await new Promise((sent) => response.write(chunk, sent))
      response.end()
    })
    const seen: WatchEvent[] = []
    await client.watch(
      CONFIG_MAP,
      { resourceVersion: '1' },
      (event) => seen.push(event),
      new AbortController().signal,
    )
    expect(seen.map(({ object }) => object.metadata.name)).toEqual(['größe', 'b', 'c'])
  })

  test('throws what the server says, in a status or in the stream', async () => {
    const { server, client } = await testCluster()
    server.fault({
      verb: 'list',
      kind: 'ConfigMap',
      status: 429,
      reason: 'TooManyRequests',
      retryAfter: 3,
      times: 1,
    })
    await expect(client.list(CONFIG_MAP)).rejects.toMatchObject({
      status: 429,
      reason: 'TooManyRequests',
      retryAfter: 3,
    })
    const broken = await rawServer((response) => response.writeHead(503).end('no healthy upstream\n'))
    await expect(broken.read('/version')).rejects.toMatchObject({
      status: 503,
      reason: '',
      message: 'no healthy upstream',
    })
    const ending = await rawServer((response) => {
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
    })
    const watching = ending.watch(
      CONFIG_MAP,
      { resourceVersion: '1' },
      () => {},
      new AbortController().signal,
    )
    await expect(watching).rejects.toMatchObject({ status: 410, reason: 'Expired', message: 'too old' })
  })

  test('tells a missing object from a kind that is not served', async () => {
    const { server, client } = await testCluster()
    expect(await client.get(LLM_SERVICE, 'team-a', 'x')).toBeUndefined()
    expect(await client.delete(LLM_SERVICE, 'team-a', 'x')).toBe(false)
    server.setServed([])
    await expect(client.get(LLM_SERVICE, 'team-a', 'x')).rejects.toThrow(ApiError)
    expect(await client.discover(LLM_SERVICE.apiVersion, 'LLMService')).toBeUndefined()
    expect(await client.discover('apps/v1', 'Deployment')).toMatchObject({
      plural: 'deployments',
      namespaced: true,
    })
  })

  test('reads lists of any length, with their kind', async () => {
    const { server, client } = await testCluster()
    for (let index = 0; index < 1201; index++) server.store.create(configMap(`cm-${index}`))
    let pages = 0
    server.onCall(({ verb }) => {
      if (verb === 'list') pages += 1
    })
    const { items } = await client.list(CONFIG_MAP, { namespace: 'team-a' })
    expect(new Set(items.map((it) => it.metadata.name)).size).toBe(1201)
    expect(items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
    expect(pages).toBe(3)
  })
})

describe('an informer', () => {
  async function followed() {
    const cluster = await testCluster()
    const told: string[] = []
    const errors: string[] = []
    // Its pauses are cut short, nothing else.
    const clock = {
      ...systemClock,
      setTimer: (ms: number, fire: () => void) => systemClock.setTimer(Math.min(ms, 5), fire),
    }
    const informer = startInformer({
      client: cluster.client,
      clock,
      type: CONFIG_MAP,
      selection: { namespace: 'team-a' },
      onChange: (key, now, before) => told.push(`${before ? (now ? 'changed' : 'gone') : 'new'} ${key}`),
      onError: (message) => errors.push(message),
    })
    onTestFinished(() => informer.stop())
    await informer.synced
    return { ...cluster, informer, told, errors }
  }
  const ref = (name: string) => ({ kind: 'ConfigMap', namespace: 'team-a', name })

  test('follows what happens', async () => {
    const { server, informer, told, errors } = await followed()
    server.store.create(configMap('a'))
    server.store.patch(ref('a'), { data: { x: '1' } })
    server.store.remove(ref('a'))
    await eventually(() => told.length === 3, 'three changes')
    expect(told).toEqual(['new team-a/a', 'changed team-a/a', 'gone team-a/a'])
    expect([...informer.values()]).toEqual([])
    expect(errors).toEqual([])
  })

  test('lists anew after an expired version and a cut, and sees what it has missed', async () => {
    const { server, informer, told, errors } = await followed()
    for (const name of ['stays', 'goes', 'again']) server.store.create(configMap(name))
    await eventually(() => told.length === 3, 'the first three')
    told.length = 0
    server.fault({ verb: 'list', kind: 'ConfigMap', status: 500, reason: 'InternalError', message: 'no' })
    server.fault({ verb: 'watch', kind: 'ConfigMap', gone: true, times: 1 })
    await eventually(() => errors.length > 0, 'a list that fails')
    expect(errors[0]).toBe('configmaps: no')
    server.store.remove(ref('goes'))
    server.store.replace({
      ...configMap('again'),
      metadata: { ...configMap('again').metadata, uid: 'another' },
    })
    server.clearFaults()
    await eventually(() => told.length === 3, 'what was missed')
    expect(told).toEqual(['gone team-a/goes', 'gone team-a/again', 'new team-a/again'])
    expect(informer.get('team-a/again')?.metadata.uid).toBe('another')
    server.store.create(configMap('after'))
    await eventually(() => informer.get('team-a/after'), 'and it goes on')
  })
})

describe('a work queue', () => {
  test('runs a key once at a time, again when it was added meanwhile, and after an error', async () => {
    const steps: string[] = []
    const errors: unknown[] = []
    let finish: () => void = () => {}
    const results = [
      () => new Promise<undefined>((resolve) => (finish = () => resolve(undefined))),
      () => Promise.reject(new Error('once')),
      () => Promise.resolve(1),
      () => Promise.resolve(undefined),
    ]
    const queue = createQueue(
      systemClock,
      (key) => {
        steps.push(key)
        return results[steps.length - 1]?.() ?? Promise.resolve(undefined)
      },
      (_key, error) => errors.push(error),
    )
    queue.add('k', 1_000)
    queue.add('k')
    await eventually(() => steps.length === 1, 'the nearer time')
    queue.add('k')
    queue.add('k')
    expect(steps).toHaveLength(1)
    finish()
    await eventually(() => steps.length === 4, 'one more, one after the error, one it asked for')
    expect(errors).toEqual([new Error('once')])
    await queue.stop()
    queue.add('k')
    expect(steps).toHaveLength(4)
  })
})
