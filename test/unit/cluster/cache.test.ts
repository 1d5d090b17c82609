import { describe, expect, onTestFinished, test } from 'vitest'
import { type CacheSelector, KindCache } from '../../../services/cluster/cache.ts'
import type { Change } from '../../../services/cluster/changes.ts'
import { type Kind, Kinds, type KubeObject } from '../../../services/cluster/kinds.ts'
import { type FakeApi, failure, json, pod } from './support/fakeApi.ts'
import { startCluster } from './support/harness.ts'
import { until } from './support/until.ts'

interface Item {
  namespace: string
  name: string
  node: string
}

const trim = (raw: KubeObject): Item => ({
  namespace: raw.metadata.namespace ?? '',
  name: raw.metadata.name,
  node: String((raw.spec as { nodeName?: string } | undefined)?.nodeName ?? ''),
})

const on = (name: string, node: string, namespace = 'team-a'): KubeObject => ({
  ...pod(name, { namespace }),
  spec: { nodeName: node },
})

async function startCache(
  options: {
    kind?: Kind
    namespaces?: string[]
    selectors?: CacheSelector[]
    optional?: boolean
    before?: (api: FakeApi) => void
  } = {},
) {
  const cluster = await startCluster()
  const { kind = Kinds.Pod, before, ...rest } = options
  before?.(cluster.api)
  const { client, clock, logger } = cluster
  const cache = new KindCache<Item>({ client, clock, logger, kind, random: () => 0.5, trim, ...rest })
  const changes: Change<Item>[] = []
  cache.subscribe((change) => changes.push(change))
  cache.index('node', (item) => (item.node === '' ? [] : [item.node]))
  const stop = cache.start()
  onTestFinished(stop)
  const names = () =>
    cache
      .all()
      .map(({ namespace, name }) => `${namespace}/${name}`)
      .sort()
  return { ...cluster, cache, changes, stop, names }
}

const filtered = (api: FakeApi) => {
  // Selectors as the API server applies them: by the one label `app`.
  api.intercept = (request, response) => {
    if (request.query.has('watch')) return false
    const wanted = request.query.get('labelSelector')
    const items = [...api.objects.values()].filter(
      ({ metadata }) =>
        (!wanted || metadata.labels?.[wanted.split('=')[0] ?? ''] === wanted.split('=')[1]) &&
        (!request.path.includes('/namespaces/') ||
          request.path.includes(`/namespaces/${metadata.namespace}/`)),
    )
    return json(response, 200, { metadata: { resourceVersion: String(api.version) }, items })
  }
}

describe('KindCache', () => {
  test('answers by name and by index, and follows the watch', async () => {
    const { api, cache, names, changes } = await startCache({
      before: (api) => {
        api.put(on('a', 'n1'))
        api.put(on('b', 'n1'))
        api.put(on('a', 'n2', 'team-b'))
      },
    })
    expect(cache.isSynced).toBe(false)
    await cache.synced
    expect(cache.isSynced).toBe(true)
    expect(names()).toEqual(['team-a/a', 'team-a/b', 'team-b/a'])
    expect(cache.size).toBe(3)
    expect(cache.get('team-b', 'a')?.node).toBe('n2')
    expect(cache.get('team-b', 'b')).toBeUndefined()
    expect(
      cache
        .lookup('node', 'n1')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['a', 'b'])
    expect(cache.lookup('node', 'n9')).toEqual([])
    expect(() => cache.lookup('owner', 'x')).toThrow(/no index owner/)
    expect(() => cache.index('node', () => [])).toThrow(/already/)
    cache.index('name', ({ name }) => [name])
    expect(cache.lookup('name', 'a')).toHaveLength(2)

    await until('the watch', () => cache.status()[0]?.open === true)
    changes.length = 0
    api.put(on('a', 'n2'))
    api.remove('team-a', 'b')
    await until('the changes', () => changes.length === 2)
    expect(cache.lookup('node', 'n1')).toEqual([])
    expect(
      cache
        .lookup('node', 'n2')
        .map(({ namespace }) => namespace)
        .sort(),
    ).toEqual(['team-a', 'team-b'])
    expect(changes[1]).toMatchObject({ now: undefined, cause: 'event', namespace: 'team-a', name: 'b' })
  })

  test('a listener finds the cache and its indexes as they are after the change', async () => {
    const { api, cache } = await startCache()
    await until('the watch', () => cache.status()[0]?.open === true)
    const seen: unknown[] = []
    cache.subscribe(({ now, namespace, name }) =>
      seen.push([cache.get(namespace, name) === now, cache.lookup('node', 'n1').length]),
    )
    api.put(on('a', 'n1'))
    api.put(on('a', 'n2'))
    await until('both', () => seen.length === 2)
    expect(seen).toEqual([
      [true, 1],
      [true, 0],
    ])
  })

  test('errors of listeners and indexes do no harm', async () => {
    const { api, cache, changes, lines } = await startCache()
    await until('the watch', () => cache.status()[0]?.open === true)
    cache.index('broken', () => {
      throw new Error('no key')
    })
    const off = cache.subscribe(() => {
      throw new Error('listener')
    })
    const later: string[] = []
    cache.subscribe(({ name }) => later.push(name))
    api.put(on('a', 'n1'))
    await until('the change', () => later.length === 1)
    off()
    api.put(on('b', 'n1'))
    await until('the change', () => later.length === 2)
    expect(changes).toHaveLength(2)
    expect(cache.lookup('node', 'n1')).toHaveLength(2)
    expect(lines.filter((line) => line.level === 'error')).toHaveLength(3)
  })

  test('one namespace each, when namespaces are configured; cluster-scoped kinds are watched once', async () => {
    const { api, cache } = await startCache({ namespaces: ['team-a', 'team-b', 'team-a'] })
    await cache.synced
    expect(api.lists.map(({ path }) => path).sort()).toEqual([
      '/api/v1/namespaces/team-a/pods',
      '/api/v1/namespaces/team-b/pods',
    ])
    expect(cache.status().map(({ namespace }) => namespace)).toEqual(['team-a', 'team-b'])
    const nodes = await startCache({ kind: Kinds.Node, namespaces: ['team-a', 'team-b'] })
    await nodes.cache.synced
    expect(nodes.api.lists.map(({ path }) => path)).toEqual(['/api/v1/nodes'])
    await until('the watch', () => nodes.cache.status()[0]?.open === true)
    nodes.api.put({ metadata: { name: 'n1', uid: 'u', resourceVersion: '' } })
    await until('the node', () => nodes.cache.get('', 'n1') !== undefined)
  })

  test('B081 one forbidden namespace among several: the others are served, and it is told which', async () => {
    const { api, cache, names, clock, lines, settle } = await startCache({
      namespaces: ['team-a', 'team-b'],
      before: (api) => {
        api.put(on('a', 'n1'))
        filtered(api)
        const inner = api.intercept
        api.intercept = (request, response) =>
          request.path.includes('team-b') ? failure(response, 403, 'Forbidden') : inner(request, response)
      },
    })
    await until('team-a', () => cache.status()[0]?.open === true)
    await clock.advance(13_000, settle)
    await cache.synced
    expect(names()).toEqual(['team-a/a'])
    expect(cache.status().map(({ namespace, state }) => `${namespace} ${state}`)).toEqual([
      'team-a synced',
      'team-b forbidden',
    ])
    await clock.advance(70_000, settle)
    expect(names()).toEqual(['team-a/a'])
    expect(lines.filter((line) => line.level === 'warn')).toHaveLength(1)
    expect(api.peakWatches).toBe(1)
  })

  test('tells when a kind has become absent or is back', async () => {
    const { api, cache, clock, settle } = await startCache({ kind: Kinds.LLMService, optional: true })
    const states: (string | undefined)[] = []
    cache.onState(() => states.push(cache.status()[0]?.state))
    await until('the watch', () => cache.status()[0]?.open === true)
    api.intercept = (_, response) => failure(response, 403, 'Forbidden')
    api.watch.response.end()
    await until('failing', () => states.at(-1) === 'failing')
    await clock.advance(13_000, settle)
    expect(states).toEqual(['synced', 'failing', 'forbidden'])
  })

  test('an object that two selectors find is there once and leaves when it has left both', async () => {
    const labelled = (labels: Record<string, string>, node = 'n1'): KubeObject => {
      const object = on('plan', node)
      return { ...object, metadata: { ...object.metadata, labels } }
    }
    const { api, cache, names, changes } = await startCache({
      kind: Kinds.ConfigMap,
      selectors: [{ labelSelector: 'managed=swiss' }, { labelSelector: 'tracking=uninstall' }],
      before: (api) => {
        api.put(labelled({ managed: 'swiss' }))
        filtered(api)
      },
    })
    await until('two watches', () => api.watches.size === 2 && cache.status().every(({ open }) => open))
    const [managed, tracking] = [...api.watches].sort((a, b) =>
      String(a.request.query.get('labelSelector')).localeCompare(
        String(b.request.query.get('labelSelector')),
      ),
    )
    const applied = (version: string, index: number) =>
      until('applied', () => cache.status()[index]?.resourceVersion === version)
    expect(names()).toEqual(['team-a/plan'])
    changes.length = 0

    // The mark: the second stream delivers it before the first one does.
    const marked = api.put(labelled({ managed: 'swiss', tracking: 'uninstall' }, 'n2'), false)
    tracking?.send('ADDED', marked)
    await applied(marked.metadata.resourceVersion, 1)
    managed?.send('MODIFIED', marked)
    await applied(marked.metadata.resourceVersion, 0)
    expect(changes.map(({ old, now }) => `${old?.node}>${now?.node}`)).toEqual(['n1>n2'])

    // Somebody takes the first label off: it leaves one stream only.
    const bare = api.put(labelled({ tracking: 'uninstall' }, 'n2'), false)
    managed?.send('DELETED', {
      ...marked,
      metadata: { ...marked.metadata, resourceVersion: bare.metadata.resourceVersion },
    })
    tracking?.send('MODIFIED', bare)
    await applied(bare.metadata.resourceVersion, 0)
    await applied(bare.metadata.resourceVersion, 1)
    expect(names()).toEqual(['team-a/plan'])
    expect(cache.lookup('node', 'n2')).toHaveLength(1)

    api.remove('team-a', 'plan', false)
    tracking?.send('DELETED', {
      ...bare,
      metadata: { ...bare.metadata, resourceVersion: String(api.version) },
    })
    await applied(String(api.version), 1)
    expect(names()).toEqual([])
    expect(cache.lookup('node', 'n2')).toEqual([])
    expect(changes).toHaveLength(2)
  })

  test('made again under another uid it is two changes, also with several selectors', async () => {
    const { api, cache, changes } = await startCache({
      selectors: [{ labelSelector: 'a=b' }, { labelSelector: 'c=d' }],
    })
    await until('two watches', () => api.watches.size === 2 && cache.status().every(({ open }) => open))
    api.put(on('x', 'n1'))
    await until('it', () => cache.size === 1)
    const again = api.put({ ...on('x', 'n1'), metadata: { ...on('x', 'n1').metadata, uid: 'other' } })
    await until('both', () =>
      cache.status().every(({ resourceVersion }) => resourceVersion === again.metadata.resourceVersion),
    )
    expect(changes.map(({ old, now }) => `${old ? 'had' : 'new'} ${now ? 'has' : 'gone'}`)).toEqual([
      'new has',
      'had gone',
      'new has',
    ])
    expect(cache.size).toBe(1)
  })
})
