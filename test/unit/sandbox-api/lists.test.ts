import { expect, test } from 'vitest'
import type { Answer, Harness } from './support.ts'
import { configMap, harness, llmService, partial, partialList, pod, services, team } from './support.ts'

const path = `${team}/configmaps`
const namesOf = ({ body }: Answer): string[] =>
  body.items.map((item: { metadata: { name: string } }) => item.metadata.name)

async function withMaps(count: number, options = {}): Promise<Harness> {
  const made = await harness(options)
  for (let index = 0; index < count; index++) {
    made.server.store.create(
      configMap(`cm-${index}`, { labels: { parity: index % 2 === 0 ? 'even' : 'odd' } }),
    )
  }
  return made
}

test('items carry neither kind nor apiVersion, those of custom resources do', async () => {
  const { call, server } = await withMaps(1)
  server.store.create(llmService('a'))
  const { body } = await call('GET', path)
  expect([body.kind, body.apiVersion]).toEqual(['ConfigMapList', 'v1'])
  expect(Object.keys(body.items[0])).toEqual(['metadata'])
  const custom = await call('GET', services)
  expect(custom.body.items[0]).toMatchObject({
    kind: 'LLMService',
    apiVersion: 'serving.modelsphere.dev/v1alpha1',
  })
})

test('metadata only: for one object and for lists, an empty list has items null', async () => {
  const { call, server } = await withMaps(1)
  const one = await call('GET', `${path}/cm-0`, undefined, partial)
  expect(one.body.kind).toBe('PartialObjectMetadata')
  expect(Object.keys(one.body).sort()).toEqual(['apiVersion', 'kind', 'metadata'])
  const list = await call('GET', path, undefined, partialList)
  expect([list.body.kind, list.body.apiVersion]).toEqual(['PartialObjectMetadataList', 'meta.k8s.io/v1'])
  expect(list.body.items).toEqual([one.body])
  server.store.remove({ kind: 'ConfigMap', namespace: 'team-a', name: 'cm-0' })
  expect((await call('GET', path, undefined, partialList)).body.items).toBeNull()
  expect((await call('GET', path)).body.items).toEqual([])
})

test('the version of a list is that of the whole store', async () => {
  const { call, server } = await withMaps(1)
  server.store.create(pod('p'))
  expect((await call('GET', path)).body.metadata).toEqual({ resourceVersion: server.resourceVersion })
})

test('pages: all of one list, as it was at the first, however it changes meanwhile', async () => {
  const { call, server } = await withMaps(7)
  const first = await call('GET', `${path}?limit=3`)
  expect(namesOf(first)).toEqual(['cm-0', 'cm-1', 'cm-2'])
  expect(first.body.metadata.remainingItemCount).toBe(4)
  server.store.remove({ kind: 'ConfigMap', namespace: 'team-a', name: 'cm-4' })
  server.store.create(configMap('cm-3a'))
  server.store.patch({ kind: 'ConfigMap', namespace: 'team-a', name: 'cm-5' }, { data: { later: 'yes' } })
  const second = await call('GET', `${path}?limit=3&continue=${first.body.metadata.continue}`)
  expect(namesOf(second)).toEqual(['cm-3', 'cm-4', 'cm-5'])
  expect(second.body.items[2].data).toBeUndefined()
  expect(second.body.metadata).toMatchObject({
    resourceVersion: first.body.metadata.resourceVersion,
    remainingItemCount: 1,
  })
  const third = await call('GET', `${path}?limit=3&continue=${second.body.metadata.continue}`)
  expect(namesOf(third)).toEqual(['cm-6'])
  expect(third.body.metadata).toEqual({ resourceVersion: first.body.metadata.resourceVersion })
})

test('remainingItemCount is left out with a selector, and a page is full all the same', async () => {
  const { call } = await withMaps(9)
  const first = await call('GET', `${path}?limit=2&labelSelector=parity%3Deven`)
  expect(namesOf(first)).toEqual(['cm-0', 'cm-2'])
  expect(first.body.metadata.remainingItemCount).toBeUndefined()
  const rest = await call(
    'GET',
    `${path}?labelSelector=parity%3Deven&continue=${first.body.metadata.continue}`,
  )
  expect(namesOf(rest)).toEqual(['cm-4', 'cm-6', 'cm-8'])
})

test.each([
  ['five minutes', async (made: Harness) => made.advance(301)],
  [
    'more changes than are kept',
    async (made: Harness) => {
      for (let index = 0; index < 6; index++) made.server.store.create(configMap(`later-${index}`))
    },
  ],
])('a continue token expires after %s: 410, with a token for the rest as it is now', async (_why, age) => {
  const made = await withMaps(5, { history: 5 })
  const { call } = made
  const first = await call('GET', `${path}?limit=2`)
  await age(made)
  const expired = await call('GET', `${path}?limit=2&continue=${first.body.metadata.continue}`)
  expect([expired.status, expired.body.reason]).toEqual([410, 'Expired'])
  const rest = await call('GET', `${path}?continue=${expired.body.metadata.continue}`)
  expect(namesOf(rest).slice(0, 3)).toEqual(['cm-2', 'cm-3', 'cm-4'])
})

test('a broken continue token is 400', async () => {
  const { call } = await withMaps(1)
  for (const token of ['zzz', Buffer.from('{}').toString('base64url')]) {
    expect((await call('GET', `${path}?continue=${token}`)).status).toBe(400)
  }
})

test('version 0 is answered whole, whatever the limit; Exact as it was then; the future is 504', async () => {
  const { call, server } = await withMaps(3)
  expect(namesOf(await call('GET', `${path}?limit=1&resourceVersion=0`))).toHaveLength(3)
  const then = server.resourceVersion
  server.store.create(configMap('later'))
  const exact = await call('GET', `${path}?resourceVersion=${then}&resourceVersionMatch=Exact`)
  expect(namesOf(exact)).toEqual(['cm-0', 'cm-1', 'cm-2'])
  expect(exact.body.metadata.resourceVersion).toBe(then)
  const future = await call('GET', `${path}?resourceVersion=999999`)
  expect([future.status, future.headers.get('retry-after')]).toEqual([504, '1'])
  expect(future.body.details.causes[0].reason).toBe('ResourceVersionTooLarge')
})

test('options that do not go together are 422, wrong ones 400', async () => {
  const { call } = await harness()
  for (const query of [
    'resourceVersionMatch=Exact',
    'resourceVersion=0&resourceVersionMatch=Exact',
    'resourceVersion=5&resourceVersionMatch=Some',
    'sendInitialEvents=true',
    'watch=true&sendInitialEvents=true',
    'watch=true&resourceVersionMatch=NotOlderThan',
  ]) {
    const answer = await call('GET', `${path}?${query}`)
    expect([query, answer.status, answer.body.reason]).toEqual([query, 422, 'Invalid'])
  }
  for (const query of [
    'limit=x',
    'resourceVersion=abc',
    'timeoutSeconds=soon',
    'watch=true&resourceVersion=abc',
  ]) {
    expect([query, (await call('GET', `${path}?${query}`)).status]).toEqual([query, 400])
  }
})

test('lists over all namespaces are in the order of namespace and name', async () => {
  const { call, server } = await harness()
  for (const [namespace, name] of [
    ['team-b', 'a'],
    ['team-a', 'z'],
    ['team-a', 'b'],
  ] as const) {
    server.store.create(configMap(name, { namespace }))
  }
  expect(namesOf(await call('GET', '/api/v1/configmaps'))).toEqual(['b', 'z', 'a'])
  expect(namesOf(await call('GET', '/api/v1/namespaces/team-b/configmaps'))).toEqual(['a'])
})

test('label selectors', async () => {
  const { call } = await withMaps(4)
  const found = async (selector: string) =>
    namesOf(await call('GET', `${path}?labelSelector=${encodeURIComponent(selector)}`)).length
  expect(await found('parity=even')).toBe(2)
  expect(await found('parity==even')).toBe(2)
  expect(await found('parity!=even')).toBe(2)
  expect(await found('other!=even')).toBe(4)
  expect(await found('parity in (even, odd)')).toBe(4)
  expect(await found('parity notin (even)')).toBe(2)
  expect(await found('parity,parity=odd')).toBe(2)
  expect(await found('!parity')).toBe(0)
  expect(await found('!other')).toBe(4)
})

test('a selector value over 63 characters is 400, as is a selector that cannot be read', async () => {
  const { call } = await harness()
  for (const selector of [
    `a=${'x'.repeat(64)}`,
    `a in (b,${'x'.repeat(64)})`,
    'a in (b',
    'a b',
    'a=b,',
    '=b',
  ]) {
    const answer = await call('GET', `${path}?labelSelector=${encodeURIComponent(selector)}`)
    expect([selector, answer.status, answer.body.reason]).toEqual([selector, 400, 'BadRequest'])
  }
})

test('field selectors', async () => {
  const { call, server } = await withMaps(3)
  server.store.create({ ...pod('on-n1'), status: { phase: 'Running' } })
  server.store.create({ ...pod('nowhere', {}, { nodeName: undefined }), status: { phase: 'Pending' } })
  const about = { kind: 'Pod', namespace: 'team-a', name: 'on-n1', uid: 'u' }
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: 'team-a' },
    involvedObject: about,
  }
  server.store.create({ ...event, reason: 'Killing', type: 'Normal' })
  const found = async (plural: string, selector: string) =>
    namesOf(await call('GET', `/api/v1/${plural}?fieldSelector=${encodeURIComponent(selector)}`))
  expect(await found('configmaps', 'metadata.name=cm-1')).toEqual(['cm-1'])
  expect(await found('configmaps', 'metadata.name!=cm-1,metadata.namespace=team-a')).toEqual(['cm-0', 'cm-2'])
  expect(await found('configmaps', 'metadata.namespace!=team-a')).toEqual([])
  expect(await found('pods', 'spec.nodeName=n1')).toEqual(['on-n1'])
  expect(await found('pods', 'spec.nodeName=')).toEqual(['nowhere'])
  expect(await found('pods', 'status.phase!=Running')).toEqual(['nowhere'])
  expect(await found('events', 'involvedObject.name=on-n1,involvedObject.uid=u,type=Normal')).toEqual(['e'])
  expect(await found('events', 'involvedObject.kind=Node')).toEqual([])
  const unknown = await call('GET', '/api/v1/configmaps?fieldSelector=spec.nodeName%3Dn1')
  expect([unknown.status, unknown.body.reason]).toEqual([400, 'BadRequest'])
})
