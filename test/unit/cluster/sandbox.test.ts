import { describe, expect, onTestFinished, test } from 'vitest'
import { KindCache, type KindCacheOptions } from '../../../services/cluster/cache.ts'
import type { Change } from '../../../services/cluster/changes.ts'
import { Kinds, type KubeObject } from '../../../services/cluster/kinds.ts'
import { startSandbox } from './support/sandbox.ts'
import { until } from './support/until.ts'

interface Row {
  namespace: string
  name: string
  uid: string
  phase: string
}

const trim = (raw: KubeObject): Row => ({
  namespace: raw.metadata.namespace ?? '',
  name: raw.metadata.name,
  uid: raw.metadata.uid,
  phase: String((raw.status as { phase?: string } | undefined)?.phase ?? raw.metadata.labels?.status ?? ''),
})

async function start(options: Partial<KindCacheOptions<Row>> = {}) {
  const sandbox = await startSandbox()
  const { clock, logger, server } = sandbox
  const client = sandbox.makeClient()
  const changes: Change<Row>[] = []
  const cache = new KindCache<Row>({
    client,
    clock,
    logger,
    kind: Kinds.LLMService,
    random: () => 0.5,
    trim,
    ...options,
  })
  cache.subscribe((change) => changes.push(change))
  const begin = () => {
    const stop = cache.start()
    onTestFinished(stop)
    return until('synced', () => cache.isSynced)
  }
  /** The barrier of the case runner: each stream's last event has been applied. */
  const seen = () =>
    until('all streams are applied', () => {
      const streams = server.streams().filter(({ silent }) => !silent)
      const open = cache.status().filter((status) => status.open)
      return (
        streams.length === open.length &&
        streams.every((stream) =>
          open.some(
            (status) =>
              status.resourceVersion === stream.sent && (status.labelSelector ?? '') === stream.labelSelector,
          ),
        )
      )
    })
  const rows = () =>
    cache
      .all()
      .map(({ name, phase }) => `${name} ${phase}`)
      .sort()
  return { ...sandbox, client, cache, changes, begin, seen, rows }
}

const service = (name: string, phase: string, uid = `uid-${name}`) => ({
  apiVersion: 'serving.modelsphere.dev/v1alpha1',
  kind: 'LLMService',
  metadata: { name, namespace: 'team-a', uid },
  spec: {},
  status: { phase },
})
const ref = (name: string) => ({ kind: 'LLMService', namespace: 'team-a', name })

describe('against the sandbox API server', () => {
  test('what is written is seen, in order, once', async () => {
    const { server, begin, seen, rows, changes } = await start()
    server.store.create(service('chat', 'Applied'))
    await begin()
    await until('the watch', () => server.streams().length === 1)
    server.store.create(service('talk', 'Pending'))
    server.store.patch(ref('talk'), { status: { phase: 'Applied' } })
    server.store.remove(ref('chat'))
    await seen()
    expect(rows()).toEqual(['talk Applied'])
    expect(changes.map(({ old, now }) => `${old?.phase}>${now?.phase}`)).toEqual([
      'undefined>Applied',
      'undefined>Pending',
      'Pending>Applied',
      'Applied>undefined',
    ])
  })

  test('an hour of quiet: bookmarks keep one stream alive until it ends by itself, and nothing is listed again', async () => {
    const { server, begin, clock, settle, cache, client } = await start()
    server.store.create(service('chat', 'Applied'))
    await begin()
    await until('the watch', () => cache.status()[0]?.open === true)
    const calls = client.calls
    await clock.advance(3_600_000, settle)
    // 270 s each.
    expect(client.calls - calls).toBe(13)
    expect(cache.status()[0]).toMatchObject({ state: 'synced', open: true, lastError: null })
    expect(clock.now() - (cache.status()[0]?.lastEventAt ?? 0)).toBeLessThanOrEqual(60_000)
  })

  test('a silent stream, a cut one and a 410 each end with the right rows', async () => {
    const { server, begin, clock, settle, rows, changes, cache } = await start()
    server.store.create(service('chat', 'Applied'))
    await begin()
    for (const [phase, fault] of [
      ['Failed', { silent: true, times: 1 }],
      ['Pending', { drop: true, times: 1 }],
      ['Applying', { gone: true, times: 1 }],
    ] as const) {
      await until('the watch', () => cache.status()[0]?.open === true)
      server.fault({ verb: 'watch', kind: 'LLMService', ...fault })
      server.store.patch(ref('chat'), { status: { phase } })
      await clock.advance(120_000, settle)
      await until(phase, () => rows()[0] === `chat ${phase}`)
    }
    expect(changes.map(({ now }) => now?.phase)).toEqual(['Applied', 'Failed', 'Pending', 'Applying'])
  })

  test('made again while the watch was down: another uid, a deletion and an addition', async () => {
    const { server, begin, clock, settle, changes, cache } = await start()
    server.store.create(service('chat', 'Deleting', 'uid-1'))
    await begin()
    await until('the watch', () => cache.status()[0]?.open === true)
    changes.length = 0
    server.fault({ verb: 'watch', kind: 'LLMService', status: 503, reason: 'ServiceUnavailable' })
    server.fault({ verb: 'watch', kind: 'LLMService', drop: true })
    server.store.replace(service('chat', 'Applied', 'uid-2'))
    server.clearFaults()
    server.fault({ verb: 'watch', kind: 'LLMService', gone: true, times: 1 })
    await clock.advance(300_000, settle)
    expect(changes.map(({ old, now }) => `${old?.uid}>${now?.uid}`)).toEqual([
      'uid-1>undefined',
      'undefined>uid-2',
    ])
  })

  test('a CRD that goes and comes: the rows leave as unreadable and return within 30 s', async () => {
    const { server, begin, clock, settle, rows, changes, cache } = await start({ optional: true })
    server.store.create(service('chat', 'Applied'))
    await begin()
    await until('the watch', () => cache.status()[0]?.open === true)
    server.setServed([])
    await until('absent', () => cache.status()[0]?.state === 'absent')
    expect(rows()).toEqual([])
    expect(changes.at(-1)).toMatchObject({ now: undefined, cause: 'unreadable' })
    server.setServed(['LLMService'])
    await clock.advance(31_000, settle)
    expect(rows()).toEqual(['chat Applied'])
    await until('the watch', () => cache.status()[0]?.open === true)
  })

  test('Secrets are read without their payload', async () => {
    const { server, begin, seen, rows, cache } = await start({
      kind: Kinds.Secret,
      metadataOnly: true,
      selectors: [{ labelSelector: 'owner=helm' }],
      trim: (raw) => {
        expect(raw).not.toHaveProperty('data')
        return trim(raw)
      },
    })
    const record = (revision: number, status: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'helm.sh/release.v1',
      metadata: {
        name: `sh.helm.release.v1.chat.v${revision}`,
        namespace: 'team-a',
        labels: { owner: 'helm', name: 'chat', version: String(revision), status },
      },
      data: { release: 'czNjcjN0' },
    })
    server.store.create(record(1, 'deployed'))
    await begin()
    await until('the watch', () => cache.status()[0]?.open === true)
    server.store.create(record(2, 'deployed'))
    await seen()
    expect(rows()).toEqual(['sh.helm.release.v1.chat.v1 deployed', 'sh.helm.release.v1.chat.v2 deployed'])
    expect(cache.status()[0]?.oddLines).toBe(0)
  })

  test('two selectors over ConfigMaps: a mark seen by both is one change, and labels may come and go', async () => {
    const { server, begin, seen, cache, changes, settle } = await start({
      kind: Kinds.ConfigMap,
      selectors: [{ labelSelector: 'managed=swiss' }, { labelSelector: 'phase=uninstalling' }],
      trim: (raw) => ({ ...trim(raw), phase: raw.metadata.labels?.phase ?? 'none' }),
    })
    const config = { kind: 'ConfigMap', namespace: 'team-a', name: 'plan' }
    server.store.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'plan', namespace: 'team-a', labels: { managed: 'swiss' } },
    })
    await begin()
    await until('both watches', () => cache.status().every(({ open }) => open))
    for (const labels of [
      { phase: 'uninstalling' },
      { managed: null },
      { managed: 'swiss' },
      { phase: null },
    ]) {
      server.store.patch(config, { metadata: { labels } })
      await settle()
      await seen()
    }
    expect(changes.map(({ old, now }) => `${old?.phase}>${now?.phase}`)).toEqual([
      'undefined>none',
      'none>uninstalling',
      'uninstalling>none',
    ])
    server.store.remove(config)
    await seen()
    expect(cache.size).toBe(0)
  })

  test('B048 a token that stops being accepted: rows stay, and the new one is taken without a restart', async () => {
    const { server, begin, clock, settle, rows, cache } = await start()
    server.store.create(service('chat', 'Applied'))
    await begin()
    await until('the watch', () => cache.status()[0]?.open === true)
    server.setToken('token-1', null)
    server.fault({ verb: 'watch', kind: 'LLMService', drop: true, times: 1 })
    await clock.advance(60_000, settle)
    expect(rows()).toEqual(['chat Applied'])
    expect(cache.status()[0]).toMatchObject({ state: 'failing', synced: true })
    server.setToken('token-1', { user: 'gateway', groups: ['system:masters'] })
    server.store.patch(ref('chat'), { status: { phase: 'Failed' } })
    await clock.advance(120_000, settle)
    expect(rows()).toEqual(['chat Failed'])
    expect(cache.status()[0]?.state).toBe('synced')
  })

  test('delete, update and patch with the preconditions of a real API server', async () => {
    const { server, client } = await start()
    const target = { namespace: 'team-a', name: 'chat' }
    server.store.create({
      ...service('chat', 'Applied'),
      metadata: { ...service('chat', 'Applied').metadata, finalizers: ['x.dev/hold'] },
    })
    const object = await client.get(Kinds.LLMService, target)
    await expect(
      client.delete(Kinds.LLMService, target, { preconditions: { uid: 'other' } }),
    ).rejects.toMatchObject({ reason: 'Conflict' })
    await expect(
      client.delete(Kinds.LLMService, target, { preconditions: { resourceVersion: '1' } }),
    ).rejects.toMatchObject({ reason: 'Conflict' })
    const changed = await client.patch(Kinds.LLMService, target, 'merge', {
      metadata: { labels: { a: 'b' } },
    })
    await expect(client.update(Kinds.LLMService, object)).rejects.toMatchObject({ reason: 'Conflict' })
    await expect(
      client.patch(Kinds.LLMService, target, 'json', [
        { op: 'test', path: '/metadata/labels/a', value: 'c' },
      ]),
    ).rejects.toMatchObject({ reason: 'Invalid' })
    const { uid, resourceVersion } = changed.metadata
    const { accepted } = await client.delete(Kinds.LLMService, target, {
      preconditions: { uid, resourceVersion },
    })
    expect(accepted?.metadata).toMatchObject({
      uid,
      finalizers: ['x.dev/hold'],
      deletionTimestamp: '2031-01-01T00:00:00Z',
    })
    await client.patch(Kinds.LLMService, target, 'merge', { metadata: { finalizers: null } })
    await expect(client.get(Kinds.LLMService, target)).rejects.toMatchObject({ reason: 'NotFound' })
    server.setServed([])
    await expect(client.get(Kinds.LLMService, target)).rejects.toMatchObject({ reason: 'NotServed' })
    expect(client.now()).toBe(Date.parse('2031-01-01T00:00:00Z'))
  })
})
