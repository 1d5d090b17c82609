import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { ApiServer, KubeObject } from '../../../sandbox/api/types.ts'
import { decodeRelease } from '../../../sandbox/helm/payload.ts'
import { runHelm } from '../../../sandbox/helm/run.ts'
import { seedSamples } from '../../../sandbox/samples/samples.ts'
import { helmScript } from '../../../sandbox/sandboxFiles.ts'
import { testCluster, testFolder } from './support.ts'

async function sampleCluster() {
  const cluster = await testCluster()
  seedSamples(cluster.server.store, Date.now())
  return cluster
}

const records = (server: ApiServer, name: string) =>
  server.store
    .list('Secret')
    .filter(({ metadata: { labels = {} } }) => labels.owner === 'helm' && labels.name === name)

const statusOf = (secret: KubeObject | undefined) => secret?.metadata.labels?.status
const names = (objects: KubeObject[]) => objects.map((object) => object.metadata.name)

describe('helm uninstall', () => {
  test('marks the newest record, deletes the objects, then the records, and leaves the pods to their controllers', async () => {
    const { server, env } = await sampleCluster()
    const writes: string[] = []
    server.onCall(({ verb, kind, name, userAgent }) => {
      if (!['get', 'list'].includes(verb)) writes.push(`${verb} ${kind} ${name}`)
      expect(userAgent).toBe('Helm/4.3.1 (sandbox)')
    })
    expect(await runHelm(['uninstall', 'chat', '--namespace', 'team-a'], env)).toEqual({
      exit: 0,
      stdout: 'release "chat" uninstalled\n',
      stderr: '',
    })
    expect(writes).toEqual([
      'update Secret sh.helm.release.v1.chat.v3',
      'delete Service chat-sglang',
      'delete Deployment chat-sglang',
      'delete Secret sh.helm.release.v1.chat.v1',
      'delete Secret sh.helm.release.v1.chat.v2',
      'delete Secret sh.helm.release.v1.chat.v3',
    ])
    const pods = server.store
      .list('Pod')
      .filter((it) => it.metadata.labels?.['app.kubernetes.io/instance'] === 'chat')
    expect(pods.map((it) => it.metadata.deletionTimestamp)).toEqual([undefined, undefined, undefined])
    // Swiss's own objects are not helm's.
    expect(
      server.store.get({ kind: 'ConfigMap', namespace: 'team-a', name: 'swiss-plan-chat' }),
    ).toBeDefined()
  })

  test('a second time says that there is no such release', async () => {
    const { env } = await sampleCluster()
    await runHelm(['uninstall', 'chat', '-n', 'team-a'], env)
    expect(await runHelm(['uninstall', 'chat', '-n', 'team-a'], env)).toEqual({
      exit: 1,
      stdout: '',
      stderr: 'Error: uninstall: Release not loaded: chat: release: not found\n',
    })
    expect((await runHelm(['uninstall', 'chat', '-n', 'team-a', '--ignore-not-found'], env)).exit).toBe(0)
  })

  test('with a pre-delete hook that fails leaves the record uninstalling and deletes nothing', async () => {
    const { server, env } = await sampleCluster()
    expect(await runHelm(['uninstall', 'rerank', '--namespace', 'team-a'], env)).toEqual({
      exit: 1,
      stdout: '',
      stderr:
        'Error: resource Job/team-a/rerank-drain not ready. status: Failed, message: Job Failed. failed: 1/1\n',
    })
    const [first, newest] = records(server, 'rerank')
    expect([statusOf(first), statusOf(newest)]).toEqual(['superseded', 'uninstalling'])
    const { info, hooks } = decodeRelease(
      String((newest as KubeObject & { data: { release: string } }).data.release),
    )
    expect(info).toMatchObject({
      status: 'uninstalling',
      description: 'Deletion in progress (or silently failed)',
    })
    expect(hooks?.[0]?.last_run).toMatchObject({ phase: 'Running' })
    expect(server.store.get({ kind: 'Deployment', namespace: 'team-a', name: 'rerank-sglang' })).toBeDefined()
    // Again, without hooks: the status it was left in is in nobody's way.
    expect((await runHelm(['uninstall', 'rerank', '-n', 'team-a', '--no-hooks'], env)).exit).toBe(0)
    expect(records(server, 'rerank')).toEqual([])
  })

  test('--keep-history keeps the records, and then purges them', async () => {
    const { server, env } = await sampleCluster()
    const args = ['uninstall', 'chat', '-n', 'team-a']
    expect((await runHelm([...args, '--keep-history', '--description', 'moved'], env)).exit).toBe(0)
    expect(records(server, 'chat').map(statusOf)).toEqual(['superseded', 'superseded', 'uninstalled'])
    expect((await runHelm([...args, '--keep-history'], env)).stderr).toContain('"chat" is already deleted')
    expect((await runHelm(args, env)).exit).toBe(0)
    expect(records(server, 'chat')).toEqual([])
  })

  test('leaves what has the policy keep and what is not its own, and says so', async () => {
    const { server, env } = await sampleCluster()
    const deployment = { kind: 'Deployment', namespace: 'team-a', name: 'chat-sglang' }
    server.store.patch(deployment, { metadata: { annotations: { 'meta.helm.sh/release-name': 'other' } } })
    const result = await runHelm(['uninstall', 'chat', '-n', 'team-a'], env)
    expect(result.stdout).toBe(
      '1 resource(s) were not deleted because they are not owned by this release:\n[Deployment] chat-sglang\n\nrelease "chat" uninstalled\n',
    )
    expect(server.store.get(deployment)).toBeDefined()
  })

  test('keeps its records when an object cannot be deleted', async () => {
    const { server, env } = await sampleCluster()
    server.fault({ verb: 'delete', kind: 'Deployment', status: 500, reason: 'InternalError', message: 'no' })
    const result = await runHelm(['uninstall', 'chat', '-n', 'team-a'], env)
    expect(result).toEqual({ exit: 1, stdout: '', stderr: 'Error: failed to delete release: chat\n' })
    expect(records(server, 'chat').map(statusOf)).toEqual(['superseded', 'superseded', 'uninstalling'])
  })

  test('refuses names and flags in helm’s words', async () => {
    const { env } = await sampleCluster()
    const errorOf = async (...args: string[]) => (await runHelm(args, env)).stderr
    expect(await errorOf('uninstall', 'No_Name')).toBe('Error: uninstall: Release name is invalid: No_Name\n')
    expect(await errorOf('uninstall', 'x'.repeat(54))).toContain('Release name is invalid')
    expect(await errorOf('uninstall')).toContain('"helm uninstall" requires at least 1 argument')
    expect(await errorOf('uninstall', 'chat', '--force')).toBe('Error: unknown flag: --force\n')
    expect(await errorOf('uninstall', 'chat', '-x')).toBe("Error: unknown shorthand flag: 'x' in -x\n")
    expect(await errorOf('uninstall', 'chat', '--cascade', 'some')).toContain('invalid cascade value (some)')
    expect(await errorOf('uninstall', 'chat', '--namespace')).toBe(
      'Error: flag needs an argument: --namespace\n',
    )
    expect(await errorOf('frobnicate')).toContain('unknown command "frobnicate" for "helm"')
  })
})

describe('where helm finds the cluster', () => {
  test('a flag wins over the environment, the environment over the kubeconfig', async () => {
    const { server } = await sampleCluster()
    const kubeconfig = join(testFolder(), 'config')
    const user = (token: string) => `{name: ${token}, user: {token: ${token}}}`
    writeFileSync(
      kubeconfig,
      `current-context: wrong
clusters:
- {name: here, cluster: {server: "${server.url}"}}
contexts:
- {name: right, context: {cluster: here, user: test-token, namespace: team-b}}
- {name: wrong, context: {cluster: here, user: nobody}}
users:
- ${user('test-token')}
- ${user('nobody')}
`,
    )
    const listed = async (args: string[], env: NodeJS.ProcessEnv) => runHelm(['list', '-q', ...args], env)
    const teamB = 'assistant\nassistant-canary\ncode-review\n'
    expect(await listed([], { KUBECONFIG: kubeconfig })).toMatchObject({
      exit: 1,
      stderr:
        'Error: kubernetes cluster unreachable: the server has asked for the client to provide credentials\n',
    })
    expect((await listed([], { KUBECONFIG: kubeconfig, HELM_KUBECONTEXT: 'right' })).stdout).toBe(teamB)
    expect((await listed(['--kube-context', 'right'], { KUBECONFIG: kubeconfig })).stdout).toBe(teamB)
    expect((await listed(['--kubeconfig', kubeconfig], { HELM_KUBETOKEN: 'test-token' })).stdout).toBe('')
    const env = { KUBECONFIG: kubeconfig, HELM_KUBECONTEXT: 'right', HELM_NAMESPACE: 'team-a' }
    expect((await listed(['--filter', 'chat'], env)).stdout).toBe('chat\n')
    expect((await runHelm(['--namespace', 'team-b', 'list', '-q'], env)).stdout).toBe(teamB)
  })

  test('nobody there', async () => {
    const env = { HELM_KUBEAPISERVER: 'http://127.0.0.1:1', KUBECONFIG: '/nowhere' }
    expect((await runHelm(['list'], env)).stderr).toBe(
      'Error: kubernetes cluster unreachable: Get "http://127.0.0.1:1/version": dial tcp 127.0.0.1:1: connect: connection refused\n',
    )
    expect((await runHelm(['list'], { KUBECONFIG: '/nowhere' })).stderr).toContain(
      'kubernetes cluster unreachable',
    )
  })
})

describe('helm’s reading commands', () => {
  test('list, status and history', async () => {
    const { env } = await sampleCluster()
    const outputOf = async (...args: string[]) => (await runHelm(args, env)).stdout
    const [header, first] = (await outputOf('list', '-A')).split('\n')
    expect(header).toMatch(/^NAME {12}\tNAMESPACE\tREVISION\tUPDATED +\tSTATUS {2}\tCHART +\tAPP VERSION$/)
    expect(first).toMatch(
      /^assistant {7}\tteam-b {3}\t1 {7}\t\d{4}-.* \+0000 UTC\tdeployed\tsglang-0.7.1 +\tv0.5.19 {4}$/,
    )
    expect(JSON.parse(await outputOf('list', '-n', 'team-a', '-o', 'json', '--failed'))).toEqual([
      expect.objectContaining({ name: 'summarize', revision: '2', status: 'failed', chart: 'sglang-0.7.8' }),
    ])
    expect(await outputOf('status', 'chat', '-n', 'team-a')).toMatch(
      /^NAME: chat\nLAST DEPLOYED: \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\nNAMESPACE: team-a\nSTATUS: deployed\nREVISION: 3\n/,
    )
    expect(
      JSON.parse(await outputOf('status', 'chat', '-n', 'team-a', '-o', 'json', '--revision', '1')),
    ).toMatchObject({
      name: 'chat',
      version: 1,
      info: { status: 'superseded' },
    })
    expect(
      JSON.parse(await outputOf('history', 'chat', '-n', 'team-a', '-o', 'json', '--max', '2')),
    ).toMatchObject([
      { revision: 2, status: 'superseded', description: 'Upgrade complete' },
      { revision: 3, status: 'deployed' },
    ])
    expect((await runHelm(['status', 'nothing'], env)).stderr).toBe('Error: release: not found\n')
    expect((await runHelm(['history', 'nothing'], env)).stderr).toBe('Error: release: not found\n')
  })

  test('version', async () => {
    expect((await runHelm(['version', '--short'], {})).stdout).toBe('v4.3.1+g0000000\n')
    expect((await runHelm(['version', '--template', '{{.Version}} {{ .GoVersion }}'], {})).stdout).toBe(
      'v4.3.1 go1.26.0',
    )
    expect((await runHelm(['version'], {})).stdout).toMatch(/^version\.BuildInfo\{Version:"v4\.3\.1", /)
  })
})

test('the executable is the same command', async () => {
  const { server, env } = await sampleCluster()
  const helm = join(testFolder(), 'helm')
  writeFileSync(helm, helmScript(), { mode: 0o700 })
  const run = promisify(execFile)
  const options = { env: { ...process.env, ...env } }
  await expect(run(helm, ['uninstall', 'chat', '--namespace', 'team-a'], options)).resolves.toEqual({
    stdout: 'release "chat" uninstalled\n',
    stderr: '',
  })
  await expect(run(helm, ['uninstall', 'chat', '--namespace', 'team-a'], options)).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'Error: uninstall: Release not loaded: chat: release: not found\n',
  })
  expect(names(records(server, 'chat'))).toEqual([])
})
