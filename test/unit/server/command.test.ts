import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway } from './testGateway.ts'
import { until } from './until.ts'

const MAIN = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url))
let dir: string
let kubeconfig: string
const started: ChildProcess[] = []

beforeAll(() => {
  if (!existsSync(MAIN)) throw new Error('dist/ is not there: run `npm run build` first')
  dir = mkdtempSync(join(tmpdir(), 'swiss-command-'))
  kubeconfig = join(dir, 'kubeconfig')
  // A cluster that does not answer: port 1 of loopback is nobody's.
  const names = {
    contexts: 'context: {cluster: far, user: me}',
    clusters: 'cluster: {server: "http://127.0.0.1:1"}',
  }
  const users = 'users: [{name: me, user: {token: secret}}]'
  const contexts = `contexts: [{name: far-away, ${names.contexts}}]`
  const clusters = `clusters: [{name: far, ${names.clusters}}]`
  writeFileSync(
    kubeconfig,
    ['apiVersion: v1', 'kind: Config', 'current-context: far-away', contexts, clusters, users].join('\n'),
  )
})

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Starts the command with nothing of the test's environment but what it needs. */
function start(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, HOME: dir, TMPDIR: dir, KUBECONFIG: join(dir, 'of-the-user') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const url = async () => {
    await until(() => /http:\S+\/graphql/.test(said.out) || child.exitCode !== null)
    return /http:\S+\/graphql/.exec(said.out)?.[0] ?? said.err
  }
  return { child, said, ended, url }
}

async function run(...args: string[]) {
  const { said, ended } = start(...args)
  return { code: await ended, ...said }
}

const SERVE = ['serve', '--helm-bin', '/nowhere/helm', '--log-level', 'silent']

describe('swiss-gateway', () => {
  it('prints its help and its version, and ends well', async () => {
    const [help, version] = await Promise.all([run('--help'), run('--version')])
    expect([help.code, help.err]).toEqual([0, ''])
    expect(help.out).toContain('--kubeconfig')
    expect(version).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/), err: '' })
  })

  it.each([
    ['a wrong flag', ['serve', '--prot', '1'], 'There is no flag --prot'],
    ['another host than loopback', ['serve', '--host', '0.0.0.0'], '--host must be a loopback address'],
    [
      'a kubeconfig that is not there',
      [...SERVE, '--kubeconfig', '/nowhere'],
      'The kubeconfig /nowhere does not exist',
    ],
    ['a KUBECONFIG that is not there', SERVE, 'of-the-user, but no such file exists'],
  ])('ends with 2 and one sentence for %s', async (_what, args, sentence) => {
    const { code, out, err } = await run(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(sentence)
    expect(err.trim().split('\n')).toHaveLength(1)
  })

  it('says which cluster it is about to use before it listens, and that the port is busy', async () => {
    const other = await startTestGateway()
    const { code, out, err } = await run(
      ...SERVE,
      '--kubeconfig',
      kubeconfig,
      '--port',
      String(other.port),
      '--namespace',
      'a,b',
    )
    other.kill()
    expect(code).toBe(2)
    expect(err).toBe(
      `Port ${other.port} of 127.0.0.1 is in use; choose another with --port, or 0 for a free one.\n`,
    )
    expect(out).toMatch(/server +http:\/\/127.0.0.1:1\n/)
    expect(out).toMatch(/context +far-away\n/)
    expect(out).toMatch(/user +me\n/)
    expect(out).toMatch(/namespaces +a, b\n/)
    expect(out).toMatch(/helm +none.*\/nowhere\/helm/)
    expect(out).not.toContain('Listening')
    expect(out + err).not.toContain('secret')
  })

  it('serves while its cluster does not answer, says so in /readyz, and ends well on SIGTERM', async () => {
    const gateway = start(...SERVE, '--kubeconfig', kubeconfig, '--port', '0')
    const url = await gateway.url()
    expect((await fetch(new URL('/healthz', url))).status).toBe(200)
    const ready = await fetch(new URL('/readyz', url))
    expect([ready.status, ((await ready.json()) as { ready: boolean }).ready]).toEqual([503, false])
    gateway.child.kill('SIGTERM')
    expect(await gateway.ended).toBe(0)
    expect(gateway.said.err).toBe('')
    expect(existsSync(join(dir, '.local', 'state', 'swiss-gateway'))).toBe(true)
  }, 30_000)
})

describe('swiss-gateway sandbox', () => {
  const place = (out: string) => /[^\s(]*swiss-sandbox-\w+/.exec(out)?.[0] ?? ''
  const address = (out: string) => /server +(\S+)/.exec(out)?.[1] ?? ''

  it('gives a gateway on a cluster of its own, and takes both away on Ctrl-C', async () => {
    const sandbox = start('sandbox', '--port', '0')
    const url = await sandbox.url()
    await until(() => sandbox.said.out.includes('Ctrl-C'))
    for (const word of [
      'sandbox',
      'Three things to try',
      'deploymentPhaseChanged',
      'uninstallRelease',
      'kubectl',
    ]) {
      expect(sandbox.said.out).toContain(word)
    }
    let rows: unknown[] = []
    while (rows.length === 0) {
      const response = await fetch(`${url}?query={deployments{nodes{name}}}`)
      rows =
        ((await response.json()) as { data?: { deployments: { nodes: unknown[] } } | null }).data?.deployments
          .nodes ?? []
    }
    const folder = place(sandbox.said.out)
    expect(existsSync(join(folder, 'audit.db'))).toBe(true)
    sandbox.child.kill('SIGINT')
    expect(await sandbox.ended).toBe(0)
    expect(existsSync(folder)).toBe(false)
    await expect(fetch(url)).rejects.toThrow()
  }, 60_000)

  it('ends with 1 and says so when its cluster dies', async () => {
    const sandbox = start('sandbox', '--port', '0')
    await sandbox.url()
    const { pid } = sandbox.child
    const children = await childrenOf(pid ?? 0)
    expect(children).toHaveLength(1)
    process.kill(children[0] ?? 0, 'SIGKILL')
    expect(await sandbox.ended).toBe(1)
    expect(sandbox.said.err).toContain('The sandbox cluster is gone')
  }, 60_000)

  it('gives the cluster alone, and says how to put gateways on it', async () => {
    const sandbox = start('sandbox', '--no-gateway')
    await until(() => sandbox.said.out.includes('Ctrl-C'))
    const folder = place(sandbox.said.out)
    expect(sandbox.said.out).toContain(
      `serve --kubeconfig ${folder}/kubeconfig --helm-bin ${folder}/bin/helm`,
    )
    expect(address(sandbox.said.out)).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(sandbox.said.out).not.toContain('/graphql')
    // The cluster must not outlive a command that is killed.
    const [cluster = 0] = await childrenOf(sandbox.child.pid ?? 0)
    sandbox.child.kill('SIGKILL')
    await until(() => !isAlive(cluster))
    expect(existsSync(folder)).toBe(false)
  }, 60_000)
})

async function childrenOf(pid: number): Promise<number[]> {
  const { readFile } = await import('node:fs/promises')
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
