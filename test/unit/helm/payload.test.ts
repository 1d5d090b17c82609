import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { KubeError } from '../../../services/cluster/errors.ts'
import type { KubeObject } from '../../../services/cluster/kinds.ts'
import { type LookupClient, lookupHelm, readHelmChart } from '../../../services/helm/lookup.ts'
import { decodePayload } from '../../../services/helm/payload.ts'
import { trimHelmRecord } from '../../../services/helm/records.ts'

const chat = { namespace: 'team-a', name: 'chat' }
const recorded = (helm: string): KubeObject =>
  JSON.parse(readFileSync(new URL(`./fixtures/${helm}.json`, import.meta.url), 'utf8'))
const base64 = (data: Buffer | string) => Buffer.from(data).toString('base64')

describe.each(['helm-3.22.0', 'helm-4.3.1'])('what %s has written', (helm) => {
  const secret = recorded(helm)

  test('is decoded', async () => {
    const payload = await decodePayload((secret.data as { release: string }).release)
    expect(payload).toMatchObject({
      name: 'chat',
      namespace: 'team-a',
      chart: { name: 'vllm', version: '0.1.0' },
    })
    expect(payload?.manifest).toContain('kind: Deployment')
  })

  test('is known by its labels', () => {
    expect(trimHelmRecord(secret)).toMatchObject({ release: 'chat', revision: 2, status: 'deployed' })
  })
})

describe('a payload', () => {
  test('from before helm compressed them is decoded too', async () => {
    const json = JSON.stringify({ name: 'chat', chart: { metadata: { name: 'vllm' } } })
    expect(await decodePayload(base64(base64(json)))).toEqual({
      name: 'chat',
      namespace: null,
      chart: { name: 'vllm', version: null },
      manifest: '',
    })
  })

  test.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['no base64', '%%%'],
    ['no gzip', base64(base64('hello'))],
    ['half a gzip', base64(base64(gzipSync('{"name":"chat"}').subarray(0, 12)))],
    ['no JSON', base64(base64(gzipSync('name: chat')))],
    ['a list', base64(base64(gzipSync('[1]')))],
    ['more than fits', base64(base64(gzipSync(Buffer.alloc(65 * 1024 * 1024, 0x20))))],
  ])('that is %s is null', async (_what, data) => {
    expect(await decodePayload(data)).toBeNull()
  })

  test('without a chart says so', async () => {
    expect((await decodePayload(base64(base64('{"name":"chat","chart":null}'))))?.chart).toBeNull()
    expect((await decodePayload(base64(base64('{"chart":{"metadata":{"name":""}}}'))))?.chart).toBeNull()
  })
})

describe('a live look', () => {
  const bare = (revision: number, status: string, namespace = 'team-a'): KubeObject => ({
    metadata: {
      name: `sh.helm.release.v1.chat.v${revision}`,
      namespace,
      uid: `uid-${revision}`,
      resourceVersion: '1',
      labels: { owner: 'helm', name: 'chat', version: String(revision), status },
    },
  })
  const clientOf = (
    items: KubeObject[],
    get: (name: string) => KubeObject = () => recorded('helm-4.3.1'),
  ) => {
    const calls: unknown[] = []
    const client = {
      list: async (_kind: unknown, options: unknown) => {
        calls.push(options)
        return { items, resourceVersion: '1' }
      },
      get: async (_kind: unknown, ref: { name: string }) => {
        calls.push(ref)
        return get(ref.name)
      },
    } as unknown as LookupClient
    return { client, calls }
  }

  test('is one metadata-only list by label', async () => {
    const { client, calls } = clientOf([
      bare(1, 'superseded'),
      bare(2, 'deployed'),
      bare(3, 'deployed', 'team-b'),
    ])
    expect(await lookupHelm(client, chat)).toMatchObject({
      exists: true,
      newest: { revision: 2, namespace: 'team-a' },
    })
    expect(calls).toEqual([
      { namespace: 'team-a', labelSelector: 'owner=helm,name=chat', metadataOnly: true },
    ])
  })

  test('that fails is an error and never "no release"', async () => {
    const client = {
      list: async () => {
        throw new KubeError('Forbidden', 'no')
      },
    } as unknown as LookupClient
    await expect(lookupHelm(client, chat)).rejects.toMatchObject({ reason: 'Forbidden' })
  })

  test('for a name that helm cannot have asks nobody', async () => {
    const { client, calls } = clientOf([])
    expect(await lookupHelm(client, { namespace: 'team-a', name: 'a'.repeat(54) })).toEqual({
      exists: false,
      newest: null,
      records: [],
    })
    expect(calls).toEqual([])
  })

  test('reads the chart of the newest record', async () => {
    const { client, calls } = clientOf([bare(1, 'superseded'), bare(2, 'deployed')])
    expect(await readHelmChart(client, chat)).toEqual({ name: 'vllm', version: '0.1.0' })
    expect(calls[1]).toEqual({ namespace: 'team-a', name: 'sh.helm.release.v1.chat.v2' })
  })

  test('has no chart where there is no record, it has just gone, or cannot be decoded', async () => {
    expect(await readHelmChart(clientOf([]).client, chat)).toBeNull()
    const gone = clientOf([bare(1, 'deployed')], () => {
      throw new KubeError('NotFound', 'gone')
    })
    expect(await readHelmChart(gone.client, chat)).toBeNull()
    const broken = clientOf([bare(1, 'deployed')], () => ({ ...bare(1, 'deployed'), data: { release: 'x' } }))
    expect(await readHelmChart(broken.client, chat)).toBeNull()
    const away = clientOf([bare(1, 'deployed')], () => {
      throw new KubeError('Unavailable', 'away')
    })
    await expect(readHelmChart(away.client, chat)).rejects.toMatchObject({ reason: 'Unavailable' })
  })
})
