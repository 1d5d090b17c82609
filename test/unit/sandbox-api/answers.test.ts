import { expect, test } from 'vitest'
import { configMap, harness, partial, partialList, services, team } from './support.ts'

test('a kind that is not served is a plain page, an object that is not there is a Status', async () => {
  const { call, server } = await harness()
  server.setServed([])
  for (const path of [services, `${services}/chat`, '/apis/nowhere.dev/v1/things', '/nothing']) {
    const answer = await call('GET', path)
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(answer.text).toBe('404 page not found\n')
  }
  const missing = await call('GET', `${team}/configmaps/none`)
  expect(missing.status).toBe(404)
  expect(missing.body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'configmaps "none" not found',
    reason: 'NotFound',
    details: { name: 'none', kind: 'configmaps' },
    code: 404,
  })
})

test('a resource that a built-in group does not have is a Status of its own', async () => {
  const { call } = await harness()
  for (const path of ['/api/v1/things', '/apis/apps/v9', `${team}/configmaps/a/scale`]) {
    const answer = await call('GET', path)
    expect(answer.status).toBe(404)
    expect(answer.body).toMatchObject({
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
    })
  }
})

test('a wrong token is 401 without a user in it, on a watch request too', async () => {
  const { call } = await harness()
  for (const path of [`${team}/pods`, `${team}/pods?watch=true`, '/apis', '/healthz']) {
    const answer = await call('GET', path, undefined, { authorization: 'Bearer wrong' })
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    })
  }
})

test('tokens come and go at run time', async () => {
  const { call, server } = await harness()
  const other = { authorization: 'Bearer later' }
  expect((await call('GET', `${team}/pods`, undefined, other)).status).toBe(401)
  server.setToken('later', { user: 'late', groups: [] })
  expect((await call('GET', `${team}/pods`, undefined, other)).status).toBe(200)
  server.setToken('later', null)
  expect((await call('GET', `${team}/pods`, undefined, other)).status).toBe(401)
})

test('a refused call is 403 and names the user, the verb and the resource, on a watch request too', async () => {
  const { call, server } = await harness()
  server.fault({ verb: 'list', kind: 'Pod', status: 403, reason: 'Forbidden' })
  server.fault({ verb: 'watch', kind: 'LLMService', status: 403, reason: 'Forbidden' })
  const listed = await call('GET', `${team}/pods`)
  expect(listed.status).toBe(403)
  expect(listed.body).toMatchObject({
    reason: 'Forbidden',
    message:
      'pods is forbidden: User "tester" cannot list resource "pods" in API group "" in the namespace "team-a"',
    details: { kind: 'pods' },
  })
  const watched = await call('GET', '/apis/serving.modelsphere.dev/v1alpha1/llmservices?watch=true')
  expect(watched.status).toBe(403)
  expect(watched.body.message).toBe(
    'llmservices.serving.modelsphere.dev is forbidden: User "tester" cannot watch resource "llmservices" in API group "serving.modelsphere.dev" at the cluster scope',
  )
})

test('a body over 3 MiB is 413 with an empty body, one just under it is read', async () => {
  const { call } = await harness()
  const big = await call('POST', `${team}/configmaps`, 'x'.repeat(3 * 1024 * 1024 + 1))
  expect(big.status).toBe(413)
  expect(big.text).toBe('')
  const fits = await call('POST', `${team}/configmaps`, 'x'.repeat(3 * 1024 * 1024))
  expect(fits.status).toBe(400)
})

test('every answer carries the time of the clock', async () => {
  const { call, advance } = await harness()
  expect((await call('GET', `${team}/pods`)).headers.get('date')).toBe('Wed, 01 Jan 2031 00:00:00 GMT')
  await advance(90)
  expect((await call('GET', '/nothing')).headers.get('date')).toBe('Wed, 01 Jan 2031 00:01:30 GMT')
  const refused = await call('GET', '/apis', undefined, { authorization: 'Bearer wrong' })
  expect(refused.headers.get('date')).toBe('Wed, 01 Jan 2031 00:01:30 GMT')
})

test('a body that is no JSON, or no object, is 400', async () => {
  const { call } = await harness()
  for (const body of ['{"a":', '[]', '', '"text"', '{"metadata": 5}', '{"metadata":{"labels":{"a":1}}}']) {
    const answer = await call('POST', `${team}/configmaps`, body)
    expect([body, answer.status, answer.body.reason]).toEqual([body, 400, 'BadRequest'])
  }
})

test('media types: a foreign body is 415, an Accept that cannot be met is 406', async () => {
  const { call } = await harness()
  const protobuf = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  const posted = await call('POST', `${team}/configmaps`, 'k8s', protobuf)
  expect([posted.status, posted.body.reason]).toEqual([415, 'UnsupportedMediaType'])
  const accepts = [
    { accept: 'application/vnd.kubernetes.protobuf' },
    { accept: 'text/html' },
    // Metadata of a list has a kind of its own.
    partial,
  ]
  for (const headers of accepts) {
    const answer = await call('GET', `${team}/configmaps`, undefined, headers)
    expect([headers, answer.status, answer.body.reason]).toEqual([headers, 406, 'NotAcceptable'])
  }
  const both = { accept: 'application/vnd.kubernetes.protobuf,application/json' }
  expect((await call('GET', `${team}/configmaps`, undefined, both)).status).toBe(200)
  expect((await call('GET', `${team}/configmaps`, undefined, partialList)).status).toBe(200)
})

test('methods that do not go with a path are 405', async () => {
  const { call } = await harness()
  const tries: [string, string][] = [
    ['POST', `${team}/configmaps/a`],
    ['PUT', `${team}/configmaps`],
    ['PATCH', `${team}/configmaps`],
    ['POST', '/api/v1/configmaps'],
    ['DELETE', '/api/v1/configmaps'],
  ]
  for (const [method, path] of tries) {
    const answer = await call(method, path, configMap('a'))
    expect([method, path, answer.status, answer.body.reason]).toEqual([method, path, 405, 'MethodNotAllowed'])
  }
})
