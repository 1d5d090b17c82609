import { describe, expect, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import type { KubeClient } from '../../../sandbox/client.ts'
import { loadOf } from '../../../sandbox/prometheus/load.ts'
import { evaluate } from '../../../sandbox/prometheus/query.ts'
import { startPrometheus } from '../../../sandbox/prometheus/server.ts'

const pod = (name: string, more: { phase?: string; deletionTimestamp?: string } = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'team-a',
    name,
    labels: { 'app.kubernetes.io/instance': 'chat' },
    ...(more.deletionTimestamp ? { deletionTimestamp: more.deletionTimestamp } : {}),
  },
  status: { phase: more.phase ?? 'Running' },
})

const pods = [
  pod('chat-decode-1'),
  pod('chat-decode-2'),
  pod('chat-decode-3', { phase: 'Pending' }),
  pod('chat-decode-4', { deletionTimestamp: '2031-01-01T00:00:00Z' }),
  pod('chat-prefill-1'),
  pod('chat-router-1'),
]

test('the load comes in waves and is shared by the pods that run', () => {
  const seriesAt = (seconds: number) =>
    loadOf(pods, seconds).map(({ labels, value }) => [labels.pod, value] as const)
  expect(seriesAt(120 - 30)).toEqual([
    ['chat-decode-1', 16.9],
    ['chat-decode-2', 16.9],
    ['chat-prefill-1', 36],
  ])
  expect(new Set([0, 60, 120, 180, 240, 300].map((at) => seriesAt(at)[0]?.[1])).size).toBeGreaterThan(3)
})

describe('queries', () => {
  const series = loadOf(pods, 0)
  const values = (query: string) => {
    const found = evaluate(query, series)
    return 'error' in found ? found.error : found.map(({ value }) => value)
  }
  const metric = 'sglang_num_queue_reqs'

  test.each([
    [`sum(${metric}{namespace="team-a",release="chat",pool="prefill"})`, [20]],
    [`avg(${metric}{pool="prefill"})`, [20]],
    [`count( ${metric} )`, [3]],
    [`${metric}{pool="prefill",}`, [20]],
    [`count(${metric}{pod=~"chat-.*",pool!="prefill"})`, [2]],
    [`count(${metric}{pod!~"chat-decode-.*"})`, [1]],
    [`max(${metric}{release="other"})`, []],
    ['up', []],
  ])('%s', (query, expected) => expect(values(query)).toEqual(expected))

  test.each([
    '',
    'sum(',
    `sum(${metric}`,
    `${metric})`,
    `rate(${metric}[5m])`,
    `${metric}{a=b}`,
    `${metric}{a=~"("}`,
  ])('refuses %j', (query) => expect(values(query)).toMatch(/^parse error/))
})

test('answers over HTTP as Prometheus does', async () => {
  let failing = false
  const client = {
    list: async () => {
      if (failing) throw new Error('no cluster')
      return { items: pods, resourceVersion: '1' }
    },
  } as unknown as KubeClient
  const clock = { now: () => 1_000_000, setTimer: () => () => undefined }
  const prometheus = await startPrometheus({ client, clock })
  onTestFinished(() => prometheus.stop())
  const query = 'avg(sglang_num_queue_reqs{pool="prefill"})'
  const ask = async (path: string, body?: URLSearchParams) => {
    const response = await fetch(`${prometheus.url}${path}`, body ? { method: 'POST', body } : {})
    return [response.status, await response.json()]
  }
  const answer = [
    200,
    { status: 'success', data: { resultType: 'vector', result: [{ metric: {}, value: [1000, '20'] }] } },
  ]
  expect(await ask(`/api/v1/query?${new URLSearchParams({ query, lookback_delta: '60s' })}`)).toEqual(answer)
  expect(await ask('/api/v1/query', new URLSearchParams({ query }))).toEqual(answer)
  expect(await ask('/api/v1/query?query=sum(')).toMatchObject([
    400,
    { status: 'error', errorType: 'bad_data' },
  ])
  expect(await ask('/graph')).toMatchObject([404, {}])
  failing = true
  expect(await ask(`/api/v1/query?${new URLSearchParams({ query })}`)).toMatchObject([
    503,
    { error: 'no cluster' },
  ])
})
