/** The command line: what it says when it is asked, and how it ends when it is asked for what cannot be. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ROOT } from './support/built.ts'
import { type Gateway, startSandbox } from './support/gateway.ts'
import { send } from './support/http.ts'
import { Processes } from './support/processes.ts'
import { within } from './support/until.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000, maxConcurrency: 3 })

const processes = new Processes()
const file = (name: string, text: string): string => {
  const path = join(processes.dir, name)
  writeFileSync(path, text)
  return path
}

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: 'http://127.0.0.1:9'}}]
contexts: [{name: here, context: {cluster: here, user: me}}, {name: lost, context: {cluster: gone, user: me}}]
users: [{name: me, user: {token: top-secret}}]
`
const good = file('good', KUBECONFIG)
const broken = file('broken', `${KUBECONFIG}  - [top-secret\n`)
const foreign = join(processes.dir, 'foreign')
mkdirSync(foreign)
writeFileSync(join(foreign, 'kubeconfig'), KUBECONFIG)

const busy: Server = createServer()
let busyPort = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve))
  busyPort = String((busy.address() as AddressInfo).port)
})

afterAll(async () => {
  busy.close()
  await processes.stop()
})

/** What is on stderr must be one sentence on one line, for a person, and nothing else. */
function expectOneSentence(stderr: string): void {
  expect(stderr).toMatch(/^\S[^\n]{10,400}\.\n$/)
  expect(stderr).not.toMatch(/[.!?] [A-Z]/)
  expect(stderr).not.toMatch(/Error:|top-secret|\{"level/)
}

describe.concurrent('a wrong command line ends with exit code 2 and one sentence that says what to do', () => {
  const wrong: [string, string[], string][] = [
    ['no command', [], '--help'],
    ['an unknown command', ['srve'], 'did you mean serve?'],
    ['a word too many', ['serve', 'production'], '"production"'],
    ['an unknown flag', ['serve', '--kubconfig', good], 'did you mean --kubeconfig?'],
    ['an unknown short flag', ['sandbox', '-p', '4001'], '--help'],
    ['a flag of the other command', ['sandbox', '--kubeconfig', good], '--kubeconfig'],
    ['a flag without its value', ['serve', '--kubeconfig'], '--kubeconfig PATH'],
    ['a flag that is followed by another', ['sandbox', '--port', '--no-gateway'], '--port'],
    ['a switch with a value that is none', ['serve', '--read-only=perhaps'], 'true or false'],
    ['a port that is no number', ['sandbox', '--port', 'http'], '"http"'],
    ['a port out of range', ['serve', '--kubeconfig', good, '--port', '65536'], '65535'],
    ['a negative port', ['sandbox', '--port=-1'], '--port'],
    ['too many releases', ['sandbox', '--releases', '1000000'], '--releases'],
    ['a host for everybody', ['sandbox', '--host', '0.0.0.0'], 'loopback'],
    ['every address of IPv6', ['serve', '--kubeconfig', good, '--host', '::'], 'loopback'],
    ['a host of a network', ['serve', '--kubeconfig', good, '--host', '192.168.1.10'], 'loopback'],
    ['a host by name', ['serve', '--kubeconfig', good, '--host', 'gateway.example.com'], 'loopback'],
    ['a name that looks like loopback', ['sandbox', '--host', '127.0.0.1.example.com'], 'loopback'],
    ['a namespace that is none', ['serve', '--kubeconfig', good, '--namespace', 'Team_A'], '"Team_A"'],
    ['an origin that is none', ['sandbox', '--allowed-origin', 'console.example.com'], 'origin'],
    ['a log level nobody knows', ['sandbox', '--log-level', 'loud'], 'debug'],
    ['a kubeconfig that is not there', ['serve', '--kubeconfig', '/nowhere/config'], '/nowhere/config'],
    ['a kubeconfig that cannot be read', ['serve', '--kubeconfig', processes.dir], processes.dir],
    ['a kubeconfig that is none', ['serve', '--kubeconfig', broken], broken],
    ['no such context', ['serve', '--kubeconfig', good, '--context', 'there'], 'there are: here, lost'],
    ['a context without a cluster', ['serve', '--kubeconfig', good, '--context', 'lost'], 'gone'],
    ['no cluster at all', ['serve'], '--kubeconfig'],
    ['a folder with a kubeconfig of somebody else', ['sandbox', '--dir', foreign], '--dir'],
  ]

  it.each(wrong)('%s', async (_what, args, hint) => {
    const { code, stdout, stderr } = await processes.run(args)
    expectOneSentence(stderr)
    expect(stderr).toContain(hint)
    expect([code, stdout]).toEqual([2, ''])
  })

  it.each<[string, Record<string, string>, string[]]>([
    ['SWISS_PORT', { SWISS_PORT: 'http' }, ['sandbox']],
    ['SWISS_HOST', { SWISS_HOST: '0.0.0.0' }, ['sandbox', '--port', '0']],
    ['SWISS_READ_ONLY', { SWISS_READ_ONLY: 'perhaps' }, ['sandbox']],
    ['SWISS_NAMESPACE', { SWISS_NAMESPACE: 'team-a,Team_B' }, ['serve', '--kubeconfig', good]],
    ['KUBECONFIG', { KUBECONFIG: '/nowhere/config' }, ['serve']],
  ])('in the environment: %s', async (variable, env, args) => {
    const { code, stdout, stderr } = await processes.run(args, env)
    expectOneSentence(stderr)
    expect(stderr).toContain(variable)
    expect([code, stdout]).toEqual([2, ''])
  })

  it.each([
    ['sandbox', []],
    ['serve', ['--kubeconfig', good]],
  ])('a busy port: %s', async (command, args) => {
    const child = processes.gateway([command, ...args, '--port', busyPort])
    await child.says(/^ *helm +/m)
    // What it has started by then must not keep it: its stop is cut short only after 10 s.
    expect(await within('the end of the process', child.ended, 9000)).toBe(2)
    expectOneSentence(child.stderr)
    expect(child.stderr).toContain(`Port ${busyPort}`)
    expect(child.stderr).toContain('--port')
  })

  it('leaves the kubeconfig of somebody else as it was', () => {
    expect(readFileSync(join(foreign, 'kubeconfig'), 'utf8')).toBe(KUBECONFIG)
  })
})

describe.concurrent('what it says when it is asked', () => {
  it('is its version', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(await processes.run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([[['--help']], [['-h']], [['serve', '--help']], [['sandbox', '--help', '--port', 'x']]])(
    'is its help: %s',
    async (args) => {
      const { code, stdout, stderr } = await processes.run(args)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/^Swiss: /)
      expect(stdout).toContain('--port PORT')
      expect(stdout).toContain('SWISS_PORT')
      expect(stdout.includes('--kubeconfig')).toBe(args[0] !== 'sandbox')
      expect(stdout.includes('--releases')).toBe(args[0] !== 'serve')
    },
  )
})

describe('everything that a flag says can be said in the environment', () => {
  let gateway: Gateway
  let dir: string

  beforeAll(async () => {
    dir = join(processes.dir, 'own')
    gateway = await startSandbox(processes, ['--cluster-name', 'from-the-flag'], {
      SWISS_PORT: '1',
      SWISS_HOST: 'localhost',
      SWISS_CLUSTER_NAME: 'from-the-environment',
      SWISS_NAMESPACE: 'team-b,fleet-1',
      SWISS_READ_ONLY: 'true',
      SWISS_RELEASES: '3',
      SWISS_DIR: dir,
      SWISS_ALLOWED_HOST: 'gateway.example.com',
      SWISS_ALLOWED_ORIGIN: 'https://console.example.com',
      SWISS_LOG_LEVEL: 'info',
    })
    await gateway.ready()
  })

  it('and a flag wins over it', async () => {
    const { cluster } = await gateway.ask('{ cluster { name } }')
    expect(cluster.name).toBe('from-the-flag')
  })

  it('the address', () => {
    expect(gateway.url).toMatch(/^http:\/\/localhost:\d+\/graphql$/)
    expect(gateway.url).not.toContain(':1/')
  })

  it('the namespaces and the size of the sandbox', async () => {
    const { deployments } = await gateway.ask('{ deployments { nodes { namespace name } } }')
    const names = deployments.nodes.map((row: Record<string, string>) => `${row.namespace}/${row.name}`)
    expect(names).toEqual([
      'fleet-1/model-00001',
      'fleet-1/model-00002',
      'fleet-1/model-00003',
      'team-b/assistant',
      'team-b/assistant-canary',
      'team-b/code-review',
    ])
  })

  it('read-only', async () => {
    expect(await gateway.ask('{ cluster { readOnly } viewer { can(namespace: "fleet-1") } }')).toEqual({
      cluster: { readOnly: true },
      viewer: { can: ['VIEW'] },
    })
    expect(await gateway.uninstall({ namespace: 'fleet-1', name: 'model-00001' })).toMatchObject({
      __typename: 'ReadOnlyError',
      code: 'READ_ONLY',
    })
  })

  it('who may come in', async () => {
    const body = '{"query":"{ viewer { name } }"}'
    const post = (headers: Record<string, string>) =>
      send(gateway.url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
    const proxied = await post({ host: 'gateway.example.com', origin: 'https://console.example.com' })
    expect([proxied.status, proxied.headers['access-control-allow-origin']]).toEqual([
      200,
      'https://console.example.com',
    ])
    expect((await post({ host: 'other.example.com' })).status).toBe(403)
    expect((await post({ origin: 'https://other.example.com' })).status).toBe(403)
  })

  it('the folder, whose kubeconfig only its owner can read', () => {
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    expect(statSync(join(dir, 'kubeconfig')).mode & 0o777).toBe(0o600)
  })

  it('the log, which is lines of JSON on stderr', () => {
    const lines = gateway.child.stderr.trim().split('\n').filter(Boolean)
    expect(lines.map((line) => typeof JSON.parse(line).level)).toEqual(lines.map(() => 'number'))
  })
})
