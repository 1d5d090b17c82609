import { expect, test } from 'vitest'
import { eventually } from '../sandbox-parts/support.ts'
import { helmCluster, valuesOf } from './support.ts'

const inTeam = ['--namespace', 'team-a']

test('a rollback is a new revision with values and objects of the old one', async () => {
  const cluster = await helmCluster({ running: true })
  const before = cluster.pods('chat').map((it) => it.metadata.uid)
  expect(await cluster.helm('rollback', 'chat', '2', ...inTeam)).toEqual({
    exit: 0,
    stdout: 'Rollback was a success! Happy Helming!\n',
    stderr: '',
  })
  expect(cluster.revisions('chat')).toEqual(['1 superseded', '2 superseded', '3 superseded', '4 deployed'])
  const { info, config, version } = cluster.newest('chat')
  expect(info).toMatchObject({ status: 'deployed', description: 'Rollback to 2', rollback_revision: 2 })
  expect([config?.replicaCount, version]).toEqual([2, 4])
  await eventually(() => cluster.pods('chat').length === 2, 'two pods')
  for (const { metadata } of cluster.pods('chat')) expect(before).toContain(metadata.uid)
  const { stdout } = await cluster.helm('history', 'chat', ...inTeam, '-o', 'json')
  expect(JSON.parse(stdout).at(-1)).toMatchObject({ revision: 4, description: 'Rollback to 2' })
  // Without a revision it is the last but one.
  await cluster.helm('rollback', 'chat', ...inTeam)
  expect(cluster.newest('chat').info.description).toBe('Rollback to 3')
  expect(cluster.replicas('chat-sglang')).toBe(3)
})

test('objects that came since go, and those that went come back', async () => {
  const cluster = await helmCluster()
  await cluster.upgrade('docs-search', [valuesOf(cluster, 'docs-search'), 'pd: {colocate: true}'])
  expect(cluster.get('Deployment', 'docs-search-decode')).toBeUndefined()
  await cluster.helm('rollback', 'docs-search', '2', ...inTeam)
  expect(cluster.replicas('docs-search-decode')).toBe(2)
  expect(cluster.get('Deployment', 'docs-search-sglang')).toBeUndefined()
  expect(cluster.get('Service', 'docs-search-sglang')).toBeUndefined()
})

test('what there is not is refused', async () => {
  const { helm, revisions } = await helmCluster()
  const errorOf = async (...args: string[]) => (await helm('rollback', ...args, ...inTeam)).stderr
  expect(await errorOf('none', '1')).toBe('Error: release: not found\n')
  expect(await errorOf('chat', '9')).toBe('Error: release has no 9 version\n')
  expect(await errorOf('chat', '-1')).toContain('unknown shorthand flag')
  expect(await errorOf('chat', 'two')).toContain('could not convert revision to a number')
  expect(await errorOf('No_Name', '1')).toBe('Error: prepareRollback: Release name is invalid: No_Name\n')
  expect(await errorOf()).toContain('"helm rollback" requires at least 1 argument')
  expect(revisions('chat')).toHaveLength(3)
})

test('one that fails half-way leaves a failed revision, and the one before it superseded', async () => {
  const cluster = await helmCluster()
  const values = valuesOf(cluster, 'docs-search')
  await cluster.upgrade('docs-search', [values, 'pd: {prefill: {replicas: 4}, decode: {replicas: 4}}'])
  cluster.server.fault({
    verb: 'patch',
    kind: 'Deployment',
    name: 'docs-search-decode',
    status: 500,
    message: 'etcd is away',
  })
  expect((await cluster.helm('rollback', 'docs-search', '2', ...inTeam)).stderr).toBe('Error: etcd is away\n')
  expect(cluster.revisions('docs-search').slice(-2)).toEqual(['3 superseded', '4 failed'])
  expect(cluster.newest('docs-search').info.description).toBe('Rollback "docs-search" failed: etcd is away')
  expect([cluster.replicas('docs-search-prefill'), cluster.replicas('docs-search-decode')]).toEqual([2, 4])
  cluster.server.clearFaults()
  expect((await cluster.helm('rollback', 'docs-search', '3', ...inTeam)).exit).toBe(0)
  expect(cluster.replicas('docs-search-decode')).toBe(4)
})
