import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../../sandbox/client.ts'
import { readKubeconfig } from '../../../sandbox/kubeconfig.ts'
import { startOperatorProcess } from '../../../sandbox/operator/child.ts'
import { readOptions } from '../../../sandbox/operator/options.ts'
import { LLM_SERVICE } from '../../../sandbox/resourceTypes.ts'
import { startSandbox } from '../../../sandbox/sandbox.ts'
import { eventually, testCluster, testFolder } from '../sandbox-parts/support.ts'
import { llmService, prefix } from './support.ts'

const program = new URL('../../../sandbox/operator/main.ts', import.meta.url).pathname

function kubeconfigFor(url: string): string {
  const path = join(testFolder(), 'kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: url } }],
    users: [{ name: 'test', user: { token: 'test-token' } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

const isAlive = (pid: number | undefined) => {
  try {
    return pid !== undefined && process.kill(pid, 0)
  } catch {
    return false
  }
}

function run(args: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], { stdio: 'pipe' })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const out = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    out.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    out.stderr += chunk
  })
  const ended = new Promise((resolve) => child.once('close', (code) => resolve({ code, ...out })))
  return { child, out, ended }
}

test('a child runs releases, is started again when it is killed, and ends when it is told', async () => {
  const { server, client } = await testCluster()
  const errors: string[] = []
  const operator = startOperatorProcess(kubeconfigFor(server.url), (message) => errors.push(message))
  onTestFinished(() => operator.stop())
  await operator.ready
  server.store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } })
  const phase = (name: string) =>
    (server.store.get({ kind: 'LLMService', namespace: 'team-a', name })?.status as { phase?: string })?.phase
  await client.create(LLM_SERVICE, llmService('chat'), 'team-a')
  await eventually(() => phase('chat') === 'Applied', 'Applied')

  const { pid } = operator
  process.kill(pid ?? 0, 'SIGKILL')
  await client.create(LLM_SERVICE, llmService('next'), 'team-a')
  await eventually(() => phase('next') === 'Applied', 'Applied by the next process')
  expect(errors).toEqual(['llm-operator: ended with SIGKILL'])
  expect(operator.pid).not.toBe(pid)
  expect(isAlive(operator.pid)).toBe(true)
  await operator.stop()
  expect(isAlive(operator.pid)).toBe(false)
  expect(errors).toHaveLength(1)
})

test('a parent that is killed takes it along', async () => {
  const { server } = await testCluster()
  const child = new URL('../../../sandbox/operator/child.ts', import.meta.url).href
  const script = `
    import { startOperatorProcess } from ${JSON.stringify(child)}
    const operator = startOperatorProcess(${JSON.stringify(kubeconfigFor(server.url))}, () => {})
    await operator.ready
    console.log(operator.pid)
    setInterval(() => {}, 60_000)`
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    parent.kill('SIGKILL')
  })
  let said = ''
  parent.stdout.on('data', (chunk) => {
    said += chunk
  })
  const pid = Number(await eventually(() => /^\d+$/m.exec(said)?.[0], 'the pid of the operator'))
  expect(isAlive(pid)).toBe(true)
  parent.kill('SIGKILL')
  await eventually(() => !isAlive(pid), 'the end of the operator')
})

test('says that it is ready, and ends with its standard input', async () => {
  const { server } = await testCluster()
  const args = ['--kubeconfig', kubeconfigFor(server.url), '--with-parent', '--unstaged', '--namespace', 'a']
  const { child, out, ended } = run(args)
  await eventually(() => out.stdout.includes('\n'), 'its line')
  expect(JSON.parse(out.stdout)).toEqual({ server: server.url, namespaces: ['a'], unstaged: true })
  child.stdin.end()
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
})

test('an unreadable kubeconfig and wrong options are one sentence and exit code 2', async () => {
  const [unreadable, wrong] = await Promise.all([
    run(['--kubeconfig', '/nowhere/kubeconfig']).ended,
    run(['--unstaged=yes']).ended,
  ])
  expect(unreadable).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^The kubeconfig cannot be used: .*\.\n$/),
  })
  expect(wrong).toMatchObject({ code: 2, stdout: '' })
  expect(readOptions(['--namespace', ''])).toEqual({ wrong: '--namespace takes the name of a namespace.' })
  expect(readOptions(['--kubeconfig', ''])).toEqual({ wrong: '--kubeconfig takes the name of a file.' })
  expect(readOptions(['--help'])).toEqual({ help: expect.stringContaining('--unstaged') })
  expect(readOptions(['--namespace', 'a', '--namespace', 'b'])).toEqual({
    run: { namespaces: ['a', 'b'], unstaged: false, withParent: false },
  })
})

test('the sandbox has one, and takes it along when it ends', async () => {
  const errors: string[] = []
  const onError = (message: string) => errors.push(message)
  const sandbox = await startSandbox({ releases: 0, port: 0, onError })
  onTestFinished(() => sandbox.stop())
  const client = createClient(readKubeconfig([sandbox.kubeconfig]), 'test')
  onTestFinished(() => client.close())
  const annotations = { [`${prefix}/route-settle`]: '0s', [`${prefix}/deletion-max-wait`]: '0s' }
  await client.patch(LLM_SERVICE, 'team-b', 'code-review', { metadata: { annotations } })
  await client.delete(LLM_SERVICE, 'team-b', 'code-review')
  const { resourceVersion } = await client.list(LLM_SERVICE)
  const ending = new AbortController()
  let gone = (await client.get(LLM_SERVICE, 'team-b', 'code-review')) === undefined
  const watching = client
    .watch(
      LLM_SERVICE,
      { resourceVersion },
      ({ type, object }) => {
        if (type === 'DELETED' && object.metadata.name === 'code-review') gone = true
      },
      ending.signal,
    )
    .catch(() => {})
  await eventually(() => gone, 'the end of code-review')
  ending.abort()
  await watching
  await sandbox.stop()
  expect(errors).toEqual([])
})
