import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../../sandbox/client.ts'
import { readKubeconfig } from '../../../sandbox/kubeconfig.ts'
import { readOptions } from '../../../sandbox/options.ts'
import { CONFIG_MAP, POD } from '../../../sandbox/resourceTypes.ts'
import { startSandbox } from '../../../sandbox/sandbox.ts'
import { eventually, testFolder } from './support.ts'

const program = new URL('../../../sandbox/main.ts', import.meta.url).pathname

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

interface Started {
  child: ChildProcess
  /** The line it has printed, once it is ready. */
  line: Promise<string>
  ended: Promise<Ended>
}

function startMain(args: string[], env: NodeJS.ProcessEnv = {}): Started {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const out = { stdout: '', stderr: '' }
  child.stderr?.on('data', (chunk) => {
    out.stderr += chunk
  })
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...out })))
  const line = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      out.stdout += chunk
      if (out.stdout.includes('\n')) resolve(out.stdout.trimEnd())
    })
    ended.then(() => reject(new Error(out.stderr)), reject)
  })
  // Whoever only waits for the end does not want to hear of the line that never came.
  line.catch(() => {})
  return { child, line, ended }
}

const ready = async (started: Started) =>
  JSON.parse(await started.line) as { kubeconfig: string; helm: string; url: string; dir: string }

test('says where it is, can be reached, and leaves nothing behind', async () => {
  const temporary = testFolder()
  const sandbox = startMain(['--releases', '3'], { TMPDIR: temporary })
  const { kubeconfig, helm, url, dir } = await ready(sandbox)
  expect(dir.startsWith(join(temporary, 'swiss-sandbox-'))).toBe(true)
  expect([kubeconfig, helm]).toEqual([join(dir, 'kubeconfig'), join(dir, 'bin', 'helm')])
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
  expect([modeOf(dir), modeOf(kubeconfig), modeOf(helm)]).toEqual(['700', '600', '700'])

  const access = readKubeconfig([kubeconfig], 'swiss-sandbox')
  expect(access.server).toBe(url)
  expect(access.token).toMatch(/^[\w-]{32}$/)
  const client = createClient(access, 'test')
  onTestFinished(() => client.close())
  expect((await client.list(POD, { namespace: 'fleet-1' })).items).toHaveLength(6)
  const plan = (await client.get(CONFIG_MAP, 'team-a', 'swiss-plan-chat'))?.metadata.labels
  expect(plan).toEqual({ 'app.kubernetes.io/managed-by': 'swiss' })
  const wrong = createClient({ ...access, token: 'wrong' }, 'test')
  onTestFinished(() => wrong.close())
  await expect(wrong.list(POD)).rejects.toMatchObject({ status: 401 })

  const env = { ...process.env, KUBECONFIG: kubeconfig }
  const { stdout } = await promisify(execFile)(helm, ['uninstall', 'research', '--namespace', 'team-a'], {
    env,
  })
  expect(stdout).toBe('release "research" uninstalled\n')

  sandbox.child.kill('SIGTERM')
  const { code, stderr } = await sandbox.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(existsSync(dir)).toBe(false)
  await expect(client.list(POD)).rejects.toThrow('ECONNREFUSED')
})

test('ends with its parent, and keeps a folder that was there', async () => {
  const folder = testFolder()
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'mine'), '')
  const sandbox = startMain(['--with-parent', '--dir', folder])
  expect((await ready(sandbox)).dir).toBe(folder)
  expect(existsSync(join(folder, 'kubeconfig'))).toBe(true)
  sandbox.child.stdin?.end()
  expect((await sandbox.ended).code).toBe(0)
  expect(readdirSync(folder)).toEqual(['bin'])
  expect(readdirSync(join(folder, 'bin'))).toEqual(['mine'])
})

test('a start that is given up leaves nothing behind', async () => {
  const folder = testFolder()
  const dir = join(folder, 'made')
  const giveUp = new AbortController()
  const starting = startSandbox({ releases: 0, port: 0, dir, onError: () => {}, signal: giveUp.signal })
  const outcome = starting.then(
    () => 'started',
    (error: Error) => error.message,
  )
  await eventually(() => existsSync(join(dir, 'kubeconfig')), 'the files')
  giveUp.abort(new Error('enough'))
  expect(await outcome).toBe('enough')
  expect(existsSync(dir)).toBe(false)
})

test('a busy port is one sentence and exit code 2', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  const { port } = server.address() as { port: number }
  expect(await startMain(['--with-parent', '--port', String(port)]).ended).toEqual({
    code: 2,
    stdout: '',
    stderr: `Port ${port} of 127.0.0.1 is in use; choose another with --port.\n`,
  })
})

test('a folder with a kubeconfig of somebody else is left as it is', async () => {
  const folder = testFolder()
  writeFileSync(join(folder, 'kubeconfig'), 'current-context: production\n')
  const starting = startSandbox({ releases: 0, port: 0, dir: folder, onError: () => {} })
  await expect(starting).rejects.toThrow(
    `${folder} cannot be used for --dir: it holds a kubeconfig that is not a sandbox's.`,
  )
  expect(readFileSync(join(folder, 'kubeconfig'), 'utf8')).toBe('current-context: production\n')
})

test.each([
  [['--releases', 'many'], '--releases takes a whole number from 0 to 100000.'],
  [['--releases', '100001'], '--releases takes a whole number from 0 to 100000.'],
  [['--port', '70000'], '--port takes a whole number from 0 to 65535.'],
  [['--port', '-1'], "Option '--port' argument is ambiguous"],
  [['--dir', ''], '--dir takes the name of a folder.'],
  [['up'], "Unexpected argument 'up'"],
  [['--prot', '1'], "Unknown option '--prot'; see --help."],
])('options %j', (args, sentence) => {
  expect(readOptions(args)).toEqual({ wrong: expect.stringContaining(sentence) })
})

test('options that are fine', () => {
  expect(readOptions([])).toEqual({ run: { releases: 0, port: 0, withParent: false } })
  expect(readOptions(['--releases', '5', '--port=1', '--dir', 'd', '--with-parent'])).toEqual({
    run: { releases: 5, port: 1, dir: 'd', withParent: true },
  })
  expect(readOptions(['--help'])).toEqual({ help: expect.stringContaining('--with-parent') })
})
