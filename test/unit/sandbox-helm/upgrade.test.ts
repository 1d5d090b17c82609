import { describe, expect, test } from 'vitest'
import { eventually } from '../sandbox-parts/support.ts'
import { type HelmTestCluster, helmCluster, valueFiles, valuesOf } from './support.ts'

const uids = (cluster: HelmTestCluster, name: string) => cluster.pods(name).map((it) => it.metadata.uid)
const sets = (cluster: HelmTestCluster, prefix: string) =>
  cluster.server.store.list('ReplicaSet').filter((it) => it.metadata.name.startsWith(prefix))

describe('an upgrade', () => {
  test('scales, and leaves the pods that are there alone', async () => {
    const cluster = await helmCluster({ running: true })
    const before = uids(cluster, 'chat')
    const result = await cluster.upgrade('chat', [valuesOf(cluster, 'chat'), 'replicaCount: 4'])
    expect(result).toMatchObject({ exit: 0, stderr: '' })
    expect(result.stdout).toMatch(
      /^Release "chat" has been upgraded\. Happy Helming!\nNAME: chat\n.*STATUS: deployed\nREVISION: 4\n/s,
    )
    expect(cluster.revisions('chat')).toEqual(['1 superseded', '2 superseded', '3 superseded', '4 deployed'])
    const { config, info, chart, namespace } = cluster.newest('chat')
    expect(config).toMatchObject({ replicaCount: 4, image: { tag: 'v0.5.19' } })
    expect(info).toMatchObject({ status: 'deployed', description: 'Upgrade complete' })
    expect([chart?.metadata.name, chart?.metadata.version, namespace]).toEqual(['sglang', '0.7.1', 'team-a'])
    await eventually(() => cluster.pods('chat').length === 4, 'four pods')
    expect(uids(cluster, 'chat')).toEqual(expect.arrayContaining(before))
    expect(sets(cluster, 'chat-sglang')).toHaveLength(1)
    const { stdout } = await cluster.helm('list', '-n', 'team-a', '--filter', '^chat$', '-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject([{ revision: '4', status: 'deployed', chart: 'sglang-0.7.1' }])
  })

  test('with another pod template replaces the pods', async () => {
    const cluster = await helmCluster({ running: true })
    const before = uids(cluster, 'rerank')
    await cluster.upgrade('rerank', [valuesOf(cluster, 'rerank'), 'image: {tag: v0.6.0}'])
    await eventually(() => {
      const now = uids(cluster, 'rerank')
      return now.length === 1 && !before.includes(now[0])
    }, 'another pod')
    expect(cluster.pods('rerank')[0]?.spec).toMatchObject({
      containers: [{ image: 'lmsysorg/sglang:v0.6.0' }],
    })
    expect(sets(cluster, 'rerank-sglang')).toHaveLength(2)
    // The hooks of its chart stay: uninstalling it fails as before.
    expect((await cluster.helm('uninstall', 'rerank', '-n', 'team-a')).stderr).toContain('rerank-drain')
  })

  test('replaces pods one by one where there is no room for all of them', async () => {
    const cluster = await helmCluster({ running: true })
    // Two of the other nodes' GPUs are free, and there are three pods.
    cluster.server.store.patch({ kind: 'Node', name: 'gpu-4' }, { spec: { unschedulable: true } })
    const before = uids(cluster, 'chat')
    await cluster.upgrade('chat', [valuesOf(cluster, 'chat'), 'image: {tag: v0.6.0}'])
    await eventually(() => {
      const now = uids(cluster, 'chat')
      return now.length === 3 && !now.some((uid) => before.includes(uid))
    }, 'three other pods')
  })

  test('of one pool touches that pool only', async () => {
    const cluster = await helmCluster()
    const versions = () =>
      ['prefill', 'decode'].map(
        (pool) => cluster.get('Deployment', `docs-search-${pool}`)?.metadata.generation,
      )
    const before = versions()
    const decode = 'pd: {decode: {replicas: 3}}'
    await cluster.upgrade('docs-search', [valuesOf(cluster, 'docs-search'), decode])
    expect([cluster.replicas('docs-search-prefill'), cluster.replicas('docs-search-decode')]).toEqual([2, 3])
    expect(versions()).toEqual([before[0], (before[1] ?? 0) + 1])
    await cluster.upgrade('docs-search', [valuesOf(cluster, 'docs-search'), 'pd: {colocate: true}'])
    expect(cluster.replicas('docs-search-sglang')).toBe(4)
    expect(cluster.get('Deployment', 'docs-search-prefill')).toBeUndefined()
    expect(cluster.get('Service', 'docs-search-decode')).toBeUndefined()
  })

  test('merges value files as helm does: maps merge, the rest replaces, null drops a default', async () => {
    const cluster = await helmCluster()
    await cluster.upgrade('new', [
      'image: {repository: r, tag: v1}\nextraArgs: [a, b]\nreplicaCount: 3\nenabled: yes\n',
      '# nothing\n',
      'image: {tag: 7.50}\nextraArgs: [c]\nreplicaCount: null\nresources: {limits: {nvidia.com/gpu: "2"}}\n',
    ])
    expect(cluster.newest('new').config).toEqual({
      image: { repository: 'r', tag: 7.5 },
      extraArgs: ['c'],
      replicaCount: null,
      enabled: true,
      resources: { limits: { 'nvidia.com/gpu': '2' } },
    })
    expect(cluster.get('Deployment', 'new-sglang')?.spec).toMatchObject({
      replicas: 1,
      template: {
        spec: {
          terminationGracePeriodSeconds: 30,
          containers: [{ image: 'r:7.5', args: ['c'], resources: { limits: { 'nvidia.com/gpu': '2' } } }],
        },
      },
    })
  })

  test('to another chart takes away what the old one made', async () => {
    const cluster = await helmCluster()
    const files = valueFiles(['replicaCount: 1'])
    const chart = 'oci://charts.invalid/llm/vllm'
    const args = ['--namespace', 'team-a', '--version', '0.4.6', '--reset-values', '-f', ...files]
    expect(
      (await cluster.helm('upgrade', '--install', 'chat', chart, ...args, '--force-conflicts')).exit,
    ).toBe(0)
    expect(cluster.get('Deployment', 'chat-sglang')).toBeUndefined()
    expect(cluster.get('Service', 'chat-sglang')).toBeUndefined()
    expect(cluster.get('Deployment', 'chat-vllm')?.metadata.annotations).toEqual({
      'meta.helm.sh/release-name': 'chat',
      'meta.helm.sh/release-namespace': 'team-a',
    })
  })

  test('keeps what others have added, and ten revisions', async () => {
    const cluster = await helmCluster()
    cluster.server.store.patch(
      { kind: 'Deployment', namespace: 'team-a', name: 'chat-sglang' },
      { metadata: { annotations: { 'example.com/mine': 'yes' } } },
    )
    for (let revision = 4; revision <= 12; revision++) {
      await cluster.upgrade('chat', [`replicaCount: ${revision}`])
    }
    expect(cluster.revisions('chat').map((it) => Number(it.split(' ')[0]))).toEqual([
      3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ])
    expect(cluster.replicas('chat-sglang')).toBe(12)
    expect(cluster.get('Deployment', 'chat-sglang')?.metadata.annotations?.['example.com/mine']).toBe('yes')
  })
})

describe('an install by upgrade', () => {
  test('makes a release that can be uninstalled', async () => {
    const cluster = await helmCluster({ running: true })
    const result = await cluster.upgrade('fresh', ['pd: {prefill: {replicas: 1}, decode: {replicas: 2}}'])
    expect(result.stdout).toMatch(/^Release "fresh" does not exist\. Installing it now\.\nNAME: fresh\n/)
    expect(cluster.revisions('fresh')).toEqual(['1 deployed'])
    expect(cluster.newest('fresh').info.description).toBe('Install complete')
    await eventually(() => cluster.pods('fresh').length === 3, 'three pods')
    expect((await cluster.helm('uninstall', 'fresh', '-n', 'team-a')).exit).toBe(0)
    await eventually(() => cluster.pods('fresh').length === 0, 'no pods')
  })

  test('needs its namespace, or makes it', async () => {
    const { helm, server } = await helmCluster()
    const args = [
      'upgrade',
      '--install',
      'fresh',
      'vllm',
      '--namespace',
      'nowhere',
      '--repo',
      'https://c.invalid',
    ]
    expect(await helm(...args)).toEqual({
      exit: 1,
      stdout: '',
      stderr: 'Error: create: failed to create: namespaces "nowhere" not found\n',
    })
    expect((await helm(...args, '--create-namespace')).exit).toBe(0)
    expect(server.store.get({ kind: 'Namespace', name: 'nowhere' })).toBeDefined()
    expect(server.store.get({ kind: 'Deployment', namespace: 'nowhere', name: 'fresh-vllm' })).toBeDefined()
  })
})

describe('what helm refuses', () => {
  test('charts, versions and files that are not there', async () => {
    const { helm, revisions } = await helmCluster()
    const errorOf = async (...args: string[]) =>
      (await helm('upgrade', '--install', 'chat', ...args, '-n', 'team-a')).stderr
    expect(await errorOf('demo', '--repo', 'https://c.invalid', '--version', '1.0.0')).toBe(
      'Error: chart "demo" version "1.0.0" not found in https://c.invalid repository\n',
    )
    expect(await errorOf('oci://c.invalid/demo')).toContain('oci://c.invalid/demo: not found')
    expect(await errorOf('./charts/demo')).toBe('Error: path "./charts/demo" not found\n')
    expect(await errorOf('demo')).toBe(
      'Error: non-absolute URLs should be in form of repo_name/path_to_chart, got: demo\n',
    )
    expect((await helm('upgrade', '--install', 'No_Name', './x', '-n', 'team-a')).stderr).toBe(
      'Error: release name is invalid: No_Name\n',
    )
    expect((await helm('upgrade', 'No_Name', 'sglang', '-n', 'team-a')).stderr).toBe(
      'Error: UPGRADE FAILED: release name is invalid: No_Name\n',
    )
    expect(await errorOf('stable/demo')).toBe('Error: repo stable not found\n')
    expect(await errorOf('sglang', '--version', 'new')).toBe('Error: improper constraint: new\n')
    expect(await errorOf('./charts/sglang', '-f', '/nowhere.yaml')).toBe(
      'Error: open /nowhere.yaml: no such file or directory\n',
    )
    const [broken = '', list = ''] = valueFiles(['a: [', '- a'])
    expect(await errorOf('sglang', '-f', broken)).toContain(
      `failed to parse ${broken}: error converting YAML`,
    )
    expect(await errorOf('sglang', '-f', list)).toContain('cannot unmarshal')
    expect(await errorOf()).toContain('"helm upgrade" requires 2 arguments')
    expect(revisions('chat')).toHaveLength(3)
  })

  test('a release that another helm works at, and one that was never deployed', async () => {
    const cluster = await helmCluster()
    const pending = { metadata: { labels: { status: 'pending-upgrade' } } }
    const { store } = cluster.server
    const newest = { kind: 'Secret', namespace: 'team-a', name: 'sh.helm.release.v1.chat.v3' }
    await cluster.upgrade('chat', ['sandbox: {fail: before}'])
    expect(cluster.newest('chat').info.status).toBe('failed')
    store.remove({ ...newest, name: 'sh.helm.release.v1.chat.v4' })
    const record = { ...cluster.newest('chat') }
    record.info = { ...record.info, status: 'pending-upgrade' }
    const { encodeRelease } = await import('../../../sandbox/helm/payload.ts')
    store.patch(newest, { ...pending, data: { release: encodeRelease(record) } })
    expect((await cluster.upgrade('chat', [])).stderr).toBe(
      'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress\n',
    )
    expect((await cluster.helm('upgrade', 'none', 'sglang', '-n', 'team-a')).stderr).toBe(
      'Error: UPGRADE FAILED: "none" has no deployed releases\n',
    )
  })

  test('an object of somebody else', async () => {
    const cluster = await helmCluster()
    const labels = { 'app.kubernetes.io/managed-by': 'Helm' }
    const metadata = { name: 'fresh-sglang', namespace: 'team-a', labels }
    cluster.server.store.create({ apiVersion: 'v1', kind: 'Service', metadata, spec: {} })
    expect((await cluster.upgrade('fresh', [])).stderr).toBe(
      'Error: unable to continue with install: Service "fresh-sglang" in namespace "team-a" exists and cannot be imported into the current release: invalid ownership metadata; annotation validation error: missing key "meta.helm.sh/release-name": must be set to "fresh"; annotation validation error: missing key "meta.helm.sh/release-namespace": must be set to "team-a"\n',
    )
    expect(cluster.revisions('fresh')).toEqual([])
  })
})
