import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { HelmRunner } from '../../../services/helm/runner.ts'
import { type Upgrade, upgradeChart } from '../../../services/helm/upgrade.ts'
import { FakeClock } from '../support/fakeClock.ts'
import { makeScripts } from './helmScript.ts'

const scripts = makeScripts()
afterAll(() => scripts.cleanUp())

const nothing = () => {}
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const chat = { namespace: 'team-a', name: 'chat' }

let tempDir: string
beforeEach(() => {
  tempDir = mkdtempSync(join(scripts.folder, 'temp-'))
})

function runnerOf(body: string, life?: string) {
  return new HelmRunner({
    helmBin: scripts.helm(body),
    supervisorPath: scripts.supervisorPath,
    env: { PATH: process.env.PATH, LIFE: life },
    clock: new FakeClock(),
    logger,
    tempDir,
  })
}

const upgrade: Upgrade = {
  chart: { chart: 'vllm', version: '0.4.0', repo: 'https://charts.example/llm' },
  layers: [
    { name: 'catalog', text: 'replicas: 1 # of the catalog\n' },
    { name: 'edit', text: 'id: 9007199254740993\n' },
  ],
  forceConflicts: false,
}
const unguarded = () => ({ lease: null, signal: new AbortController().signal })

const SHOW = `for a in "$@"; do
  case "$a" in
    /*.yaml) echo "$(basename "$a") $(stat -c %a "$a") $(stat -c %a "$(dirname "$a")"): $(cat "$a")";;
    *) echo "<$a>";;
  esac
done`

test('an upgrade has exactly the arguments of the contract, and the layers byte for byte in files of its own', async () => {
  const result = await runnerOf(SHOW).upgrade(chat, upgrade, unguarded())
  expect(result).toMatchObject({ kind: 'exited', code: 0 })
  expect('stdout' in result && result.stdout.split('\n')).toEqual([
    '<upgrade>',
    '<--install>',
    '<chat>',
    '<vllm>',
    '<--namespace>',
    '<team-a>',
    '<--version>',
    '<0.4.0>',
    '<--repo>',
    '<https://charts.example/llm>',
    '<--reset-values>',
    '<-f>',
    '1-catalog.yaml 600 700: replicas: 1 # of the catalog',
    '<-f>',
    '2-edit.yaml 600 700: id: 9007199254740993',
    '',
  ])
  expect(readdirSync(tempDir)).toEqual([])
})

test('an upgrade without version, repository and layers leaves them out, and can take over fields of others', async () => {
  const plain: Upgrade = {
    chart: { chart: '/charts/vllm', version: null, repo: null },
    layers: [],
    forceConflicts: true,
  }
  expect(await runnerOf('echo "$@"').upgrade(chat, plain, unguarded())).toMatchObject({
    stdout: 'upgrade --install chat /charts/vllm --namespace team-a --reset-values --force-conflicts\n',
  })
})

test('a rollback has exactly the arguments of the contract', async () => {
  expect(await runnerOf('echo "$@"').rollback(chat, 2, unguarded())).toMatchObject({
    stdout: 'rollback chat 2 --namespace team-a\n',
  })
})

test('a chart is named by repository, at an oci:// address or by path', () => {
  const chart = { name: 'vllm', version: '1.10', repo: 'https://charts.example' }
  expect(upgradeChart(chart, null)).toEqual({
    chart: 'vllm',
    version: '1.10',
    repo: 'https://charts.example',
  })
  expect(upgradeChart({ ...chart, repo: 'oci://charts.example/llm/' }, null)).toEqual({
    chart: 'oci://charts.example/llm/vllm',
    version: '1.10',
    repo: null,
  })
  expect(upgradeChart(chart, '/charts/vllm')).toEqual({ chart: '/charts/vllm', version: '1.10', repo: null })
  expect(upgradeChart({ ...chart, repo: null }, null)).toMatchObject({ chart: 'vllm', repo: null })
  expect(upgradeChart(null, null)).toBe('the plan names no chart')
  expect(upgradeChart({ ...chart, name: '--post-renderer' }, null)).toMatch(/dash/)
  expect(upgradeChart(chart, '-f')).toMatch(/dash/)
})

test('the value files are gone when helm has failed, and when it could not be started', async () => {
  expect(await runnerOf('exit 3').upgrade(chat, upgrade, unguarded())).toMatchObject({ code: 3 })
  const unstarted = new HelmRunner({
    helmBin: '/nowhere/helm',
    supervisorPath: scripts.supervisorPath,
    env: {},
    clock: new FakeClock(),
    logger,
    tempDir,
  })
  expect(await unstarted.upgrade(chat, upgrade, unguarded())).toMatchObject({ kind: 'unstarted' })
  expect(readdirSync(tempDir)).toEqual([])
})

test('without a place for the value files helm is not started, and what is said quotes nothing', async () => {
  tempDir = join(scripts.folder, 'missing')
  expect(await runnerOf('echo started').upgrade(chat, upgrade, unguarded())).toEqual({
    kind: 'unstarted',
    message: 'the value files could not be written (ENOENT)',
  })
})

test('when the gateway is killed in an upgrade helm ends, and its value files go with it', async () => {
  const life = scripts.life()
  const body = `exec 9>"$LIFE"; for a in "$@"; do case "$a" in /*) f="$a";; esac; done; echo "$f" >&9; sleep 600`
  const gateway = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('gatewayProcess.ts', import.meta.url))],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        HELM: scripts.helm(body),
        SUPERVISOR: scripts.supervisorPath,
        LIFE: life.path,
        UPGRADE_IN: tempDir,
      },
    },
  )
  const file = await life.started
  expect(statSync(file).mode & 0o777).toBe(0o600)
  gateway.kill('SIGKILL')
  await life.ended
  await expect.poll(() => readdirSync(tempDir), { timeout: 10_000 }).toEqual([])
})

test('what processes that are dead have left is removed, and nothing else', async () => {
  const dead = spawn('true')
  const { pid } = dead
  await new Promise((resolve) => dead.once('close', resolve))
  const names = [`swiss-values-${pid}-abcdef`, 'swiss-values-1-abcdef', `swiss-values-${process.pid}-old`]
  for (const name of [...names, 'others']) mkdirSync(join(tempDir, name))
  await runnerOf('exit 0').upgrade(chat, upgrade, unguarded())
  expect(readdirSync(tempDir).sort()).toEqual(['others', 'swiss-values-1-abcdef'])
})
