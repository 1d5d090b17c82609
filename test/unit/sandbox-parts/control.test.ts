import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiServer } from '../../../sandbox/api/types.ts'
import { runHelm } from '../../../sandbox/helm/run.ts'
import { seedSamples } from '../../../sandbox/samples/samples.ts'
import { helmScript } from '../../../sandbox/sandboxFiles.ts'
import { eventually, testCluster, testFolder } from './support.ts'

const args = ['uninstall', 'chat', '--namespace', 'team-a']

async function controlled(behaviour?: unknown) {
  const { server, env } = await testCluster()
  seedSamples(server.store, Date.now())
  const folder = testFolder()
  const tell = (told: unknown) => writeFileSync(join(folder, 'behaviour.json'), JSON.stringify(told))
  if (behaviour !== undefined) tell(behaviour)
  return { server, folder, tell, env: { ...env, SANDBOX_HELM_CONTROL: folder } }
}

const recordCount = (server: ApiServer) =>
  server.store.list('Secret').filter(({ metadata }) => metadata.name.startsWith('sh.helm.release.v1.chat.'))
    .length

const callsIn = (folder: string) =>
  readFileSync(join(folder, 'calls.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('a call is written down without its global options, and touches the records only', async () => {
  const { server, folder, env } = await controlled()
  const globals = ['--kube-context=x', '--kubeconfig', '/nowhere', '--debug']
  const call = ['--kube-token', 'test-token', ...args]
  const result = await runHelm(call, env)
  expect(result).toEqual({ exit: 0, stdout: 'release "chat" uninstalled\n', stderr: '' })
  expect(recordCount(server)).toBe(0)
  expect(server.store.get({ kind: 'Deployment', namespace: 'team-a', name: 'chat-sglang' })).toBeDefined()
  await runHelm(['version'], env)
  await runHelm([...globals, 'rollback', 'chat', '2', '--namespace', 'team-a'], env)
  await runHelm(['upgrade', '--install', 'chat', './c', '-f', 'x.yaml', ...globals], env)
  expect(callsIn(folder)).toEqual([
    { pid: process.pid, args },
    { pid: process.pid, args: ['rollback', 'chat', '2', '--namespace', 'team-a'] },
    { pid: process.pid, args: ['upgrade', '--install', 'chat', './c', '-f', 'x.yaml'] },
  ])
})

test('it answers as it is told', async () => {
  const { server, tell, env } = await controlled({ uninstall: { exit: 0, keepRecord: true } })
  expect((await runHelm(args, env)).exit).toBe(0)
  expect(recordCount(server)).toBe(3)
  tell({ uninstall: { exit: 1, stderr: 'Error: timed out waiting for the hook' } })
  expect(await runHelm(args, env)).toEqual({
    exit: 1,
    stdout: '',
    stderr: 'Error: timed out waiting for the hook\n',
  })
  expect(recordCount(server)).toBe(3)
  tell({ uninstall: { exit: 7, stderr: 'gone\n', keepRecord: false } })
  expect(await runHelm(args, env)).toEqual({ exit: 7, stdout: '', stderr: 'gone\n' })
  expect(recordCount(server)).toBe(0)
  tell({})
  expect((await runHelm(args, env)).stderr).toBe(
    'Error: uninstall: Release not loaded: chat: release: not found\n',
  )
})

test.each([
  [{ uninstall: { quit: 1 } }, 'unknown key uninstall.quit'],
  [{ delete: {} }, 'unknown command delete'],
  [{ uninstall: { exit: '1' } }, 'uninstall.exit must be a number'],
  [{ upgrade: { toString: true } }, 'unknown key upgrade.toString'],
  [{ uninstall: [] }, 'must be a map'],
])('what it does not know is an error: %j', async (behaviour, message) => {
  const { server, env } = await controlled(behaviour)
  const result = await runHelm(args, env)
  expect(result.exit).toBe(1)
  expect(result.stderr).toContain(message)
  expect(recordCount(server)).toBe(3)
})

test('held calls wait for their release and keep the behaviour they began with', async () => {
  const { server, folder, tell, env } = await controlled({
    uninstall: { hold: true, exit: 3, keepRecord: false },
  })
  const helm = join(testFolder(), 'helm')
  writeFileSync(helm, helmScript(), { mode: 0o700 })
  const child: ChildProcess = spawn(helm, args, { env: { ...process.env, ...env }, stdio: 'ignore' })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  onTestFinished(() => void child.kill('SIGKILL'))
  const held = await eventually(
    () => existsSync(join(folder, 'held')) && readdirSync(join(folder, 'held'))[0],
    'held',
  )
  expect(held).toBe(String(child.pid))
  expect(callsIn(folder)).toEqual([{ pid: child.pid, args }])
  expect(recordCount(server)).toBe(3)
  tell({ uninstall: { exit: 0 } })
  mkdirSync(join(folder, 'release'))
  writeFileSync(join(folder, 'release', held), '')
  expect(await exited).toBe(3)
  expect(recordCount(server)).toBe(0)
  expect(readdirSync(join(folder, 'held'))).toEqual([])
})
