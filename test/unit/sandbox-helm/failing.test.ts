import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { HelmHook } from '../../../sandbox/helm/payload.ts'
import { encodeRelease } from '../../../sandbox/helm/payload.ts'
import { runHelm } from '../../../sandbox/helm/run.ts'
import { helmScript } from '../../../sandbox/sandboxFiles.ts'
import { eventually, testFolder } from '../sandbox-parts/support.ts'
import { type HelmTestCluster, helmCluster, valueFiles, valuesOf } from './support.ts'

const pools = (cluster: HelmTestCluster) => [
  cluster.replicas('docs-search-prefill'),
  cluster.replicas('docs-search-decode'),
]

test.each([
  ['before', [2, 2]],
  ['half', [3, 2]],
])(
  'an upgrade that is told to fail (%s) leaves a failed revision beside the deployed one',
  async (fail, left) => {
    const cluster = await helmCluster()
    const layers = [
      valuesOf(cluster, 'docs-search'),
      'pd: {prefill: {replicas: 3}, decode: {replicas: 3}}',
      `sandbox: {fail: ${fail}, message: "Deployment is not ready"}`,
    ]
    expect(await cluster.upgrade('docs-search', layers)).toEqual({
      exit: 1,
      stdout: '',
      stderr: 'Error: UPGRADE FAILED: Deployment is not ready\n',
    })
    expect(cluster.revisions('docs-search')).toEqual(['1 superseded', '2 deployed', '3 failed'])
    expect(cluster.newest('docs-search').info.description).toBe(
      'Upgrade "docs-search" failed: Deployment is not ready',
    )
    expect(pools(cluster)).toEqual(left)
    // What has failed is in nobody's way.
    await cluster.upgrade('docs-search', layers.slice(0, 2))
    expect(cluster.revisions('docs-search')).toEqual([
      '1 superseded',
      '2 superseded',
      '3 failed',
      '4 deployed',
    ])
    expect(pools(cluster)).toEqual([3, 3])
  },
)

test('an install that fails is a failed first revision, which the next upgrade goes on from', async () => {
  const cluster = await helmCluster()
  expect((await cluster.upgrade('fresh', ['sandbox: {fail: half}'])).stderr).toBe(
    'Error: context deadline exceeded\n',
  )
  expect(cluster.revisions('fresh')).toEqual(['1 failed'])
  expect(cluster.get('Service', 'fresh-sglang')).toBeDefined()
  expect(cluster.get('Deployment', 'fresh-sglang')).toBeUndefined()
  expect((await cluster.upgrade('fresh', ['replicaCount: 1'])).exit).toBe(0)
  expect(cluster.revisions('fresh')).toEqual(['1 superseded', '2 deployed'])
  expect(cluster.replicas('fresh-sglang')).toBe(1)
})

test('an object that cannot be written fails the revision', async () => {
  const cluster = await helmCluster()
  cluster.server.fault({ verb: 'patch', kind: 'Deployment', status: 500, message: 'etcd is away' })
  expect((await cluster.upgrade('chat', ['replicaCount: 9'])).stderr).toBe(
    'Error: UPGRADE FAILED: etcd is away\n',
  )
  expect(cluster.revisions('chat').slice(-2)).toEqual(['3 deployed', '4 failed'])
})

test('a hook that fails holds the objects back', async () => {
  const cluster = await helmCluster()
  const release = cluster.newest('rerank')
  const [drain] = release.hooks ?? []
  const hooks = [{ ...drain, events: ['pre-upgrade', 'pre-rollback'] }] as HelmHook[]
  cluster.server.store.patch(
    { kind: 'Secret', namespace: 'team-a', name: 'sh.helm.release.v1.rerank.v2' },
    { data: { release: encodeRelease({ ...release, hooks }) } },
  )
  expect((await cluster.upgrade('rerank', ['replicaCount: 5'])).stderr).toMatch(
    /^Error: UPGRADE FAILED: pre-upgrade hooks failed: resource Job\/team-a\/rerank-drain not ready/,
  )
  expect(cluster.revisions('rerank')).toEqual(['1 superseded', '2 deployed', '3 failed'])
  expect(cluster.replicas('rerank-sglang')).toBe(1)
  // helm leaves a rollback pending whose hook fails.
  expect((await cluster.helm('rollback', 'rerank', '2', '-n', 'team-a')).exit).toBe(1)
  expect(cluster.revisions('rerank').at(-1)).toBe('4 pending-rollback')
  expect((await cluster.upgrade('rerank', ['replicaCount: 5'], '--no-hooks')).stderr).toContain(
    'another operation',
  )
})

test('one that is killed half-way leaves a pending revision, and a rollback leads out of it', async () => {
  const cluster = await helmCluster()
  const helm = join(testFolder(), 'helm')
  writeFileSync(helm, helmScript(), { mode: 0o700 })
  const layers = [
    valuesOf(cluster, 'docs-search'),
    'pd: {prefill: {replicas: 3}, decode: {replicas: 3}}',
    'sandbox: {seconds: 60}',
  ]
  const files = valueFiles(layers).flatMap((file) => ['-f', file])
  const chart = ['sglang', '--version', '0.7.1']
  const args = ['upgrade', '--install', 'docs-search', ...chart, '--namespace', 'team-a', ...files]
  const child: ChildProcess = spawn(helm, args, { env: { ...process.env, ...cluster.env }, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await eventually(() => pools(cluster)[0] === 3, 'half of it')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(pools(cluster)).toEqual([3, 2])
  expect(cluster.revisions('docs-search').slice(-2)).toEqual(['2 deployed', '3 pending-upgrade'])
  expect((await cluster.upgrade('docs-search', layers.slice(0, 2))).stderr).toContain('another operation')
  expect((await cluster.helm('rollback', 'docs-search', '2', '--namespace', 'team-a')).exit).toBe(0)
  expect(pools(cluster)).toEqual([2, 2])
  expect(cluster.revisions('docs-search').at(-1)).toBe('4 deployed')
})

test('under a test’s control only the records are written, unless it says objects', async () => {
  const cluster = await helmCluster()
  const folder = testFolder()
  const tell = (told: unknown) => writeFileSync(join(folder, 'behaviour.json'), JSON.stringify(told))
  const env = { ...cluster.env, SANDBOX_HELM_CONTROL: folder }
  const files = valueFiles(['replicaCount: 7'])
  const args = ['upgrade', '--install', 'chat', 'any-chart', '--namespace', 'team-a', '--version', '1.2.3']
  const upgrade = (chart = 'any-chart') =>
    runHelm([...args.map((it) => (it === 'any-chart' ? chart : it)), '-f', ...files], env)
  expect((await upgrade()).exit).toBe(0)
  expect(cluster.newest('chat')).toMatchObject({
    version: 4,
    config: { replicaCount: 7 },
    chart: { metadata: { name: 'any-chart', version: '1.2.3' } },
    info: { status: 'deployed' },
  })
  expect(cluster.replicas('chat-sglang')).toBe(3)
  expect((await runHelm(['rollback', 'chat', '3', '--namespace', 'team-a'], env)).exit).toBe(0)
  tell({ upgrade: { exit: 5, stderr: 'Error: no' }, rollback: { fail: 'before', stderr: 'Error: not now' } })
  expect(await upgrade()).toEqual({ exit: 5, stdout: '', stderr: 'Error: no\n' })
  expect(cluster.revisions('chat').slice(-2)).toEqual(['4 superseded', '5 deployed'])
  expect(await runHelm(['rollback', 'chat', '3', '--namespace', 'team-a'], env)).toEqual({
    exit: 1,
    stdout: '',
    stderr: 'Error: not now\n',
  })
  expect(cluster.revisions('chat').slice(-2)).toEqual(['5 superseded', '6 failed'])
  tell({ upgrade: { objects: true, seconds: 0.01 } })
  expect((await upgrade('sglang')).exit).toBe(0)
  expect(cluster.replicas('chat-sglang')).toBe(7)
  expect(cluster.revisions('chat').at(-1)).toBe('7 deployed')
  tell({ upgrade: { fail: 'late' } })
  expect((await upgrade()).stderr).toContain('upgrade.fail must be before or half')
  tell({ uninstall: { fail: 'half' } })
  expect((await upgrade()).stderr).toContain('unknown key uninstall.fail')
})
