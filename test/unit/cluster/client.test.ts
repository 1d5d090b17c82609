import { describe, expect, test } from 'vitest'
import { KubeClient } from '../../../services/cluster/client.ts'
import { isKubeError, type KubeError } from '../../../services/cluster/errors.ts'
import { Kinds } from '../../../services/cluster/kinds.ts'
import { failure, json, pod } from './support/fakeApi.ts'
import { plainConnection, startCluster } from './support/harness.ts'
import { turn, until } from './support/until.ts'

const ref = { namespace: 'team-a', name: 'chat' }

async function failureOf(call: Promise<unknown>): Promise<KubeError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!isKubeError(error)) throw new Error(`expected a KubeError, got ${String(error)}`)
  return error
}

describe('reads', () => {
  test('an object comes as raw JSON with everything in it, and the request is authenticated', async () => {
    const { api, client } = await startCluster()
    const object = { metadata: { name: 'chat', uid: 'u' }, spec: { unknown: { deep: [1, null] } }, x: 9 }
    api.intercept = (_, response) => json(response, 200, object)
    expect(await client.get(Kinds.LLMService, ref)).toEqual(object)
    const [request] = api.requests
    expect(request?.path).toBe('/apis/serving.modelsphere.dev/v1alpha1/namespaces/team-a/llmservices/chat')
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer token-1',
      'user-agent': 'swiss-gateway/test',
      accept: 'application/json',
    })
  })

  test('an integer beyond 2^53 keeps its digits, read and written back', async () => {
    const { api, client } = await startCluster()
    const object =
      '{"metadata":{"namespace":"team-a","name":"chat"},"spec":{"seed":9007199254740993,"a":"9007199254740993"}}'
    api.intercept = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(object)
      return true
    }
    const read = await client.get(Kinds.LLMService, ref)
    expect(read.spec).toEqual({ seed: 9007199254740993n, a: '9007199254740993' })
    expect(await client.update(Kinds.LLMService, read)).toEqual(read)
    expect(api.requests.at(-1)?.text).toContain('"spec":{"seed":9007199254740993,"a":"9007199254740993"}')
  })

  test('metadata-only reads ask for nothing else', async () => {
    const { api, client } = await startCluster()
    await client.list(Kinds.Secret, { namespace: 'team-a', labelSelector: 'owner=helm', metadataOnly: true })
    api.intercept = (_, response) => json(response, 200, { metadata: { name: 'chat' } })
    await client.get(Kinds.Secret, ref, { metadataOnly: true })
    expect(api.requests.map((request) => request.headers.accept)).toEqual([
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    ])
    expect(api.requests[0]?.query.get('labelSelector')).toBe('owner=helm')
  })

  test('a list is read in pages of 500, and an expired continue token starts it over', async () => {
    const { api, client } = await startCluster()
    for (let count = 0; count < 1_001; count++) api.put(pod(`p${count}`))
    let expired = 0
    api.intercept = (request, response) =>
      request.query.get('continue') === '1000' && expired++ < 2 && failure(response, 410, 'Expired')
    const list = await client.list(Kinds.Pod)
    expect(list.items).toHaveLength(1_001)
    expect(list.resourceVersion).toBe(String(api.version))
    expect(api.requests).toHaveLength(9)
    expired = -100
    expect((await failureOf(client.list(Kinds.Pod))).reason).toBe('Gone')
  })

  test('nothing is repeated by itself, neither reads nor writes', async () => {
    const { api, client } = await startCluster()
    api.intercept = (_, response) => failure(response, 503, 'ServiceUnavailable', { 'Retry-After': '1' })
    await failureOf(client.get(Kinds.Pod, ref))
    await failureOf(client.list(Kinds.Pod))
    await failureOf(client.delete(Kinds.Pod, ref))
    await failureOf(client.patch(Kinds.Pod, ref, 'merge', {}))
    expect(api.requests).toHaveLength(4)
    expect(client.calls).toBe(4)
  })
})

describe('writes', () => {
  test('B051 patches carry the media type of their body; others are refused', async () => {
    const { api, client } = await startCluster()
    api.intercept = (request, response) => {
      const list = Array.isArray(request.body)
      const wanted = list ? 'application/json-patch+json' : 'application/merge-patch+json'
      if (request.headers['content-type'] !== wanted) return failure(response, 415, 'UnsupportedMediaType')
      return json(response, 200, { metadata: { name: 'swiss-plan-chat' } })
    }
    await client.patch(Kinds.ConfigMap, ref, 'merge', { metadata: { labels: { a: 'b' } } })
    await client.patch(Kinds.LLMService, ref, 'json', [{ op: 'test', path: '/a', value: 1 }], {
      subresource: 'status',
    })
    expect(api.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PATCH /api/v1/namespaces/team-a/configmaps/chat',
      'PATCH /apis/serving.modelsphere.dev/v1alpha1/namespaces/team-a/llmservices/chat/status',
    ])
    expect(api.requests[0]?.body).toEqual({ metadata: { labels: { a: 'b' } } })
  })

  test('create and update send the object as it is, with the kind that items of a list lack', async () => {
    const { api, client } = await startCluster()
    api.intercept = (request, response) => json(response, 201, request.body)
    const object = { metadata: { ...ref, uid: 'u', resourceVersion: '7' }, spec: { extra: [{ a: 1 }] } }
    const full = { ...object, kind: 'LLMService', apiVersion: 'serving.modelsphere.dev/v1alpha1' }
    expect(await client.update(Kinds.LLMService, object)).toEqual(full)
    expect(await client.create(Kinds.LLMService, object)).toEqual(full)
    expect(api.requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)).toEqual([
      'PUT chat',
      'POST llmservices',
    ])
  })

  test('delete sends its preconditions, and says whether the object is still held', async () => {
    const { api, client } = await startCluster()
    const held = { kind: 'LLMService', metadata: { ...ref, finalizers: ['x/y'] } }
    let gone = false
    api.intercept = (_, response) =>
      json(response, 200, gone ? { kind: 'Status', status: 'Success', details: { uid: 'u' } } : held)
    const preconditions = { uid: 'u', resourceVersion: '9' }
    const first = await client.delete(Kinds.LLMService, ref, {
      preconditions,
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
    })
    expect(first.accepted).toEqual(held)
    expect(api.requests[0]?.body).toMatchObject({
      preconditions,
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
    })
    gone = true
    expect(await client.delete(Kinds.LLMService, ref)).toEqual({ accepted: null })
    expect(api.requests[1]?.body).toEqual({ kind: 'DeleteOptions', apiVersion: 'v1' })
  })

  test('B051 each failure has its number and reason, with a Status body, with text and with nothing', async () => {
    const { api, client } = await startCluster()
    const seen: string[] = []
    for (const [code, reason] of [
      [404, 'NotFound'],
      [409, 'Conflict'],
      [410, 'Gone'],
      [422, 'Invalid'],
      [500, 'InternalError'],
    ] as const) {
      for (const body of ['status', 'some text', '']) {
        api.intercept = (_, response) => {
          if (body === 'status') return failure(response, code, reason)
          response.writeHead(code)
          response.end(body)
          return true
        }
        const error = await failureOf(client.get(Kinds.Pod, ref))
        expect(error.status).toBe(code)
        expect(error.message).toContain('get Pod team-a/chat')
        seen.push(`${code} ${error.reason}`)
      }
    }
    expect([...new Set(seen)]).toEqual([
      '404 NotFound',
      '404 NotServed',
      '409 Conflict',
      '410 Gone',
      '422 Invalid',
      '500 Unavailable',
    ])
  })

  test('a name that is none never reaches the API server', async () => {
    const { api, client } = await startCluster()
    expect((await failureOf(client.get(Kinds.Pod, { namespace: 'team-a', name: '' }))).reason).toBe('Invalid')
    expect((await failureOf(client.delete(Kinds.Pod, { namespace: 'team-a', name: 'x/../y' }))).reason).toBe(
      'Invalid',
    )
    expect((await failureOf(client.create(Kinds.Pod, { metadata: { name: 'x' } }))).reason).toBe('Invalid')
    expect(api.requests).toHaveLength(0)
  })
})

describe('time', () => {
  test('a call without an answer fails after 30 s of the passed-in clock; the write may have happened', async () => {
    const { api, client, clock } = await startCluster()
    api.intercept = () => true
    const call = failureOf(client.create(Kinds.Lease, { metadata: { ...ref } }))
    await until('the request', () => api.requests.length === 1)
    expect(client.inFlight).toBe(1)
    await clock.advance(29_999)
    expect(client.inFlight).toBe(1)
    await clock.advance(1)
    expect(await call).toMatchObject({ reason: 'Unavailable', status: null, retryable: true })
    expect((await call).message).toContain('30 s')
    expect(client.inFlight).toBe(0)
    expect(clock.pending).toBe(0)
  })

  test('an answer that stops in the middle fails too', async () => {
    const { api, client, clock } = await startCluster()
    api.intercept = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.write('{"metadata":')
      return true
    }
    const call = failureOf(client.get(Kinds.Pod, ref))
    await until('the request', () => api.requests.length === 1)
    for (let turns = 0; turns < 20; turns++) await turn()
    await clock.advance(30_000)
    expect((await call).reason).toBe('Unavailable')
  })

  test('credentials that hang count against the time, and failing ones say so', async () => {
    let hang = true
    const headers = () => (hang ? new Promise<never>(() => {}) : Promise.reject(new Error('please log in')))
    const { client, clock } = await startCluster({ connection: { headers } })
    const call = failureOf(client.get(Kinds.Pod, ref))
    await clock.advance(30_000)
    expect((await call).reason).toBe('Unavailable')
    hang = false
    expect((await failureOf(client.get(Kinds.Pod, ref))).message).toContain(
      'no credentials for the cluster: please log in',
    )
  })

  test('a caller can bound and abort a call', async () => {
    const { api, client, clock } = await startCluster()
    api.intercept = () => true
    const bounded = failureOf(client.get(Kinds.Pod, ref, { timeoutMs: 2_000 }))
    await clock.advance(2_000)
    expect((await bounded).message).toContain('2 s')
    const stop = new AbortController()
    const aborted = failureOf(client.get(Kinds.Pod, ref, { signal: stop.signal }))
    await until('the request', () => client.inFlight === 1)
    stop.abort()
    expect(await aborted).toMatchObject({ reason: 'Unavailable', status: null })
    expect(clock.pending).toBe(0)
  })

  test('now() is exactly our clock while both agree, and follows the API server when they do not', async () => {
    const { api, client, clock } = await startCluster()
    api.intercept = (_, response) => json(response, 200, { gitVersion: 'v1.36.3' })
    api.date = () => new Date(clock.now()).toUTCString()
    expect(await client.version()).toEqual({ gitVersion: 'v1.36.3' })
    await clock.advance(700)
    await client.ping()
    expect(client.now()).toBe(clock.now())
    expect(client.clockOffsetMs).toBe(0)
    api.date = () => new Date(clock.now() - 40_000).toUTCString()
    await client.ping()
    expect(Math.abs(client.clockOffsetMs + 40_000)).toBeLessThanOrEqual(500)
    expect(client.now()).toBe(clock.now() + client.clockOffsetMs)
  })
})

describe('the network', () => {
  test('a refused connection is unavailable, not absent', async () => {
    const { api, client } = await startCluster()
    await api.stop()
    const error = await failureOf(client.get(Kinds.Pod, ref))
    expect(error).toMatchObject({ reason: 'Unavailable', status: null, retryable: true })
    expect(error.message).toMatch(/ECONNREFUSED/)
  })

  test('a connection that is cut in an answer is unavailable', async () => {
    const { api, client } = await startCluster()
    api.intercept = (_, response) => {
      response.writeHead(200, { 'Content-Length': '1000' })
      response.write('{"meta')
      setImmediate(() => response.destroy())
      return true
    }
    expect(await failureOf(client.get(Kinds.Pod, ref))).toMatchObject({ reason: 'Unavailable', status: null })
  })

  test('many calls share their connections', async () => {
    const { api, client } = await startCluster()
    const ports = new Set<unknown>()
    api.intercept = (_, response) => {
      ports.add(response.socket?.remotePort)
      return false
    }
    for (let count = 0; count < 20; count++) await client.list(Kinds.Pod)
    // A second one when the first has not quite finished its answer.
    expect(ports.size).toBeLessThanOrEqual(2)
  })
})

describe('counting and killing', () => {
  test('a call counts until it is answered, a watch until it is open', async () => {
    const { api, client } = await startCluster()
    const list = client.list(Kinds.Pod)
    expect(client.inFlight).toBe(1)
    await list
    expect(client.inFlight).toBe(0)
    const stop = new AbortController()
    const events: unknown[] = []
    const opening = client.watch(
      Kinds.Pod,
      { resourceVersion: '5', timeoutSeconds: 240, idleLimitMs: 75_000, signal: stop.signal },
      { onEvent: (event) => events.push(event) },
    )
    expect(client.inFlight).toBe(1)
    const watch = await opening
    expect(client.inFlight).toBe(0)
    api.put(pod('a'))
    await until('the event', () => events.length === 1)
    stop.abort()
    expect(await watch.ended).toEqual({ how: 'stopped' })
  })

  test('kill rejects what is under way, cuts the sockets, and refuses all that comes later', async () => {
    const { api, client, clock } = await startCluster()
    api.intercept = (request) => request.method === 'POST'
    const watch = await client.watch(
      Kinds.Pod,
      { resourceVersion: '5', timeoutSeconds: 240, idleLimitMs: 75_000 },
      { onEvent: () => {} },
    )
    const pending = failureOf(client.create(Kinds.Lease, { metadata: { ...ref } }))
    await until('the request', () => api.requests.length === 2)
    client.kill()
    expect((await pending).reason).toBe('Unavailable')
    expect(await watch.ended).toMatchObject({ how: 'failed' })
    await until('the sockets', () => api.watches.size === 0)
    for (const call of [
      client.get(Kinds.Pod, ref),
      client.list(Kinds.Pod),
      client.delete(Kinds.Pod, ref),
      client.ping(),
    ]) {
      expect(await failureOf(call)).toMatchObject({ reason: 'Unavailable', status: null })
    }
    expect(api.requests).toHaveLength(2)
    expect(client.killed.aborted).toBe(true)
    expect(client.inFlight).toBe(0)
    expect(clock.pending).toBe(0)
  })

  test('the base path of the server is kept', async () => {
    const { api, clock, logger } = await startCluster()
    const connection = plainConnection(`${api.url}/k8s/clusters/c-1`)
    const client = new KubeClient({ connection, clock, logger, userAgent: 'test' })
    await client.list(Kinds.Pod, { namespace: 'team-a' })
    expect(api.requests[0]?.path).toBe('/k8s/clusters/c-1/api/v1/namespaces/team-a/pods')
  })
})
