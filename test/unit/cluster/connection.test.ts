import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { selfSigned } from '../../../sandbox/api/certificate.ts'
import { KubeClient } from '../../../services/cluster/client.ts'
import {
  ConnectionError,
  type ConnectionOptions,
  loadConnection,
} from '../../../services/cluster/connection.ts'
import { Kinds } from '../../../services/cluster/kinds.ts'
import { proxyFromEnvironment } from '../../../services/cluster/proxy.ts'
import { FakeClock } from '../support/fakeClock.ts'
import { listLogger } from './support/harness.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'swiss-connection-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Writes a kubeconfig (JSON is YAML) and returns its path. */
function kubeconfig(parts: {
  server?: string
  cluster?: object
  user?: object | null
  context?: object
  file?: object
  path?: string
}): string {
  const path = parts.path ?? join(folder(), 'config')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    clusters: [{ name: 'c', cluster: { server: parts.server ?? 'http://127.0.0.1:1', ...parts.cluster } }],
    users: parts.user === null ? [] : [{ name: 'u', user: { token: 'secret-1', ...parts.user } }],
    contexts: [
      {
        name: 'main',
        context: { cluster: 'c', ...(parts.user !== null && { user: 'u' }), ...parts.context },
      },
      { name: 'other', context: { cluster: 'c', user: 'u', namespace: 'team-b' } },
    ],
    ...parts.file,
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

function load(options: ConnectionOptions) {
  const connection = loadConnection(options)
  onTestFinished(() => connection.close())
  return connection
}

const headersOf = async (options: ConnectionOptions) => (await load(options).headers()).Authorization

function problemOf(options: ConnectionOptions): string {
  try {
    loadConnection(options)
  } catch (error) {
    expect(error).toBeInstanceOf(ConnectionError)
    return (error as Error).message
  }
  throw new Error('no problem was found')
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** An API server that notes who asks, over which connection. */
function api() {
  const requests: {
    method: string
    authorization: string | undefined
    port: number | undefined
    watch: boolean
  }[] = []
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const watch = request.url?.includes('watch=true') === true
    requests.push({
      method: request.method ?? '',
      authorization: request.headers.authorization,
      port: request.socket.remotePort,
      watch,
    })
    response.writeHead(200, { 'Content-Type': 'application/json' })
    if (watch) response.flushHeaders()
    else response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] }))
  }
  return { requests, handle }
}

function clientOf(options: ConnectionOptions) {
  const connection = load(options)
  const client = new KubeClient({
    connection,
    clock: new FakeClock(),
    logger: listLogger().logger,
    userAgent: 'test',
  })
  return { connection, client }
}

/** LIST, WATCH and PATCH, which all have to take the same way. */
async function listWatchPatch(client: KubeClient) {
  await client.list(Kinds.Pod)
  const stop = new AbortController()
  const watch = await client.watch(
    Kinds.Pod,
    { resourceVersion: '1', timeoutSeconds: 240, idleLimitMs: 75_000, signal: stop.signal },
    { onEvent: () => {} },
  )
  await client.patch(Kinds.ConfigMap, { namespace: 'team-a', name: 'x' }, 'merge', {})
  stop.abort()
  await watch.ended
}

describe('which cluster', () => {
  test('the given path, its current context, or the one that is asked for', () => {
    const path = kubeconfig({ server: 'http://127.0.0.1:8001/' })
    expect(load({ kubeconfig: path })).toMatchObject({
      server: 'http://127.0.0.1:8001',
      contextName: 'main',
      user: 'u',
      defaultNamespace: null,
      kubeconfigPath: path,
    })
    expect(load({ kubeconfig: path, context: 'other' })).toMatchObject({
      contextName: 'other',
      defaultNamespace: 'team-b',
    })
  })

  test('the given path, then KUBECONFIG, then the home folder, then the service account', async () => {
    const home = folder()
    mkdirSync(join(home, '.kube'))
    kubeconfig({ path: join(home, '.kube', 'config'), user: { token: 'from-home' } })
    const listed = kubeconfig({ user: { token: 'from-variable' } })
    const given = kubeconfig({ user: { token: 'from-flag' } })
    const account = folder()
    for (const [name, text] of [
      ['token', 'from-pod\n'],
      ['namespace', 'swiss-system'],
    ] as const)
      writeFileSync(join(account, name), text)
    const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
    const environment = { KUBECONFIG: listed, HOME: home, ...pod }
    expect(await headersOf({ kubeconfig: given, environment })).toBe('Bearer from-flag')
    expect(await headersOf({ environment })).toBe('Bearer from-variable')
    expect(await headersOf({ environment: { HOME: home, ...pod } })).toBe('Bearer from-home')
    const inCluster = load({ environment: pod, serviceAccountPath: account })
    expect(await inCluster.headers()).toMatchObject({ Authorization: 'Bearer from-pod' })
    expect(inCluster).toMatchObject({
      server: 'https://10.0.0.1:443',
      contextName: 'in-cluster',
      defaultNamespace: 'swiss-system',
      kubeconfigPath: null,
    })
    expect(load({ inCluster: true, environment, serviceAccountPath: account }).contextName).toBe('in-cluster')
    expect(
      load({ environment: { KUBERNETES_SERVICE_HOST: 'fd00::1' }, serviceAccountPath: account }).server,
    ).toBe('https://[fd00::1]:443')
  })

  test('several files in KUBECONFIG are merged, the first to define a name wins, missing ones are skipped', async () => {
    const first = kubeconfig({
      user: { token: 'first' },
      file: { 'current-context': undefined, contexts: [] },
    })
    const second = kubeconfig({ user: { token: 'second' }, file: { 'current-context': 'other' } })
    const list = [join(folder(), 'missing'), first, second].join(':')
    const connection = load({ environment: { KUBECONFIG: list } })
    expect(connection).toMatchObject({ contextName: 'other', kubeconfigPath: list })
    expect((await connection.headers()).Authorization).toBe('Bearer first')
    // A user is taken from one file as a whole.
    const third = kubeconfig({ user: { token: undefined, tokenFile: 'token' } })
    writeFileSync(join(third, '..', 'token'), 'from-file')
    expect(await headersOf({ environment: { KUBECONFIG: `${first}:${second}:${third}` } })).toBe(
      'Bearer first',
    )
    expect(await headersOf({ environment: { KUBECONFIG: `${third}:${second}` } })).toBe('Bearer from-file')
  })

  test.each([
    [
      'a path that does not exist',
      () => ({ kubeconfig: '/nowhere/config' }),
      /\/nowhere\/config does not exist; give another/,
    ],
    [
      'KUBECONFIG that names nothing',
      () => ({ environment: { KUBECONFIG: '/nowhere/a:/nowhere/b' } }),
      /no such file exists/,
    ],
    ['no cluster at all', () => ({ environment: {} }), /No cluster found: .*--kubeconfig/],
    ['no service account', () => ({ inCluster: true, environment: {} }), /not a pod/],
    [
      'a context that is not there',
      () => ({ kubeconfig: kubeconfig({}), context: 'prod' }),
      /no context prod; choose another with --context \(there are: main, other\)/,
    ],
    [
      'no current context',
      () => ({ kubeconfig: kubeconfig({ file: { 'current-context': '' } }) }),
      /has no current context; choose one with --context/,
    ],
    [
      'a cluster that is not defined',
      () => ({ kubeconfig: kubeconfig({ context: { cluster: 'gone' } }) }),
      /names the cluster gone/,
    ],
    [
      'a user that is not defined',
      () => ({ kubeconfig: kubeconfig({ context: { user: 'gone' } }) }),
      /names the user gone/,
    ],
    [
      'a server that is no address',
      () => ({ kubeconfig: kubeconfig({ server: 'ftp://x' }) }),
      /no http or https address/,
    ],
    [
      'a certificate that is not there',
      () => ({ kubeconfig: kubeconfig({ cluster: { 'certificate-authority': 'ca.pem' } }) }),
      /needs the file .*ca\.pem, which cannot be read/,
    ],
    [
      'a proxy of an unknown sort',
      () => ({ kubeconfig: kubeconfig({ cluster: { 'proxy-url': 'gopher://x' } }) }),
      /proxy-url is no http, https or socks5/,
    ],
  ])('%s: one sentence that says what to do', (_, options, text) => {
    const problem = problemOf(options())
    expect(problem).toMatch(text)
    expect(problem).toMatch(/^[^\n]*\.$/)
  })

  test.each([
    '',
    'a: [b',
    'users: [{name: u, user: {token: "s3cr3t}]',
    '[]',
    'users: [{user: {token: s3cr3t}}]',
    '7',
  ])('a file that is no kubeconfig (%j) is refused without quoting it', (text) => {
    const path = join(folder(), 'config')
    writeFileSync(path, text)
    const problem = problemOf({ kubeconfig: path })
    expect(problem).not.toContain('s3cr3t')
    expect(problem).toContain(path)
  })
})

describe('credentials', () => {
  test('tokens, basic authentication, impersonation and none', async () => {
    expect(await headersOf({ kubeconfig: kubeconfig({}) })).toBe('Bearer secret-1')
    const basic = kubeconfig({ user: { token: undefined, username: 'ann', password: 'pw' } })
    expect(await headersOf({ kubeconfig: basic })).toBe(`Basic ${Buffer.from('ann:pw').toString('base64')}`)
    const as = await load({ kubeconfig: kubeconfig({ user: { as: 'bob' } }) }).headers()
    expect(as).toMatchObject({ 'Impersonate-User': 'bob', Authorization: 'Bearer secret-1' })
    expect(await headersOf({ kubeconfig: kubeconfig({ user: null }) })).toBeUndefined()
  })

  test('B048 a token file that is replaced is read for the next request', async () => {
    const path = kubeconfig({ user: { token: undefined, tokenFile: 'token' } })
    const tokenFile = join(path, '..', 'token')
    writeFileSync(tokenFile, 'token-1\n')
    const connection = load({ kubeconfig: path })
    expect((await connection.headers()).Authorization).toBe('Bearer token-1')
    writeFileSync(tokenFile, 'token-2\n')
    expect((await connection.headers()).Authorization).toBe('Bearer token-2')
  })

  test('B048 an exec plug-in is asked once for many requests, and again after a 401', async () => {
    const path = kubeconfig({
      user: {
        token: undefined,
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin' },
      },
    })
    const plugin = join(path, '..', 'plugin')
    const credential = `{"kind":"ExecCredential","status":{"token":"exec-'$n'"}}`
    writeFileSync(
      plugin,
      `#!/bin/sh\ncd "$(dirname "$0")"\necho x >> runs\nn=$(wc -l < runs | tr -d ' ')\necho '${credential}'\n`,
    )
    chmodSync(plugin, 0o755)
    const connection = load({ kubeconfig: path })
    const all = await Promise.all([connection.headers(), connection.headers(), connection.headers()])
    expect(all.map(({ Authorization }) => Authorization)).toEqual(Array(3).fill('Bearer exec-1'))
    expect((await connection.headers()).Authorization).toBe('Bearer exec-1')
    connection.unauthorized()
    expect((await connection.headers()).Authorization).toBe('Bearer exec-2')
  })

  test('an exec plug-in that fails is an unavailable cluster that says why, and no crash', async () => {
    const path = kubeconfig({
      user: {
        token: undefined,
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: '/bin/sh',
          args: ['-c', 'echo "please log in" >&2; exit 1'],
        },
      },
    })
    const { client } = clientOf({ kubeconfig: path })
    await expect(client.list(Kinds.Pod)).rejects.toMatchObject({
      reason: 'Unavailable',
      message: expect.stringContaining('please log in'),
    })
  })

  test('a 401 of the API server drops what was cached', async () => {
    const { handle } = api()
    const server = createHttpServer((request, response) => {
      if (request.headers.authorization === 'Bearer fresh') return handle(request, response)
      response.writeHead(401)
      response.end()
    })
    const port = await listen(server)
    const connection = load({ kubeconfig: kubeconfig({ server: `http://127.0.0.1:${port}` }) })
    let fresh = false
    const client = new KubeClient({
      connection: {
        ...connection,
        headers: async () => ({ Authorization: fresh ? 'Bearer fresh' : 'Bearer old' }),
        unauthorized: () => {
          fresh = true
        },
      },
      clock: new FakeClock(),
      logger: listLogger().logger,
      userAgent: 'test',
    })
    await expect(client.list(Kinds.Pod)).rejects.toMatchObject({ reason: 'Unauthorized' })
    await expect(client.list(Kinds.Pod)).resolves.toMatchObject({ items: [] })
  })
})

describe('B052 the way to the API server', () => {
  test('(c) a plain http server works for list, watch and patch', async () => {
    const { requests, handle } = api()
    const port = await listen(createHttpServer(handle))
    const { client } = clientOf({ kubeconfig: kubeconfig({ server: `http://127.0.0.1:${port}` }) })
    await listWatchPatch(client)
    expect(requests.map(({ authorization }) => authorization)).toEqual(Array(3).fill('Bearer secret-1'))
  })

  test('B041 TCP keep-alive is on, for every connection', async () => {
    const { handle } = api()
    const port = await listen(createHttpServer(handle))
    const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive')
    onTestFinished(() => keepAlive.mockRestore())
    const { client } = clientOf({ kubeconfig: kubeconfig({ server: `http://127.0.0.1:${port}` }) })
    await client.list(Kinds.Pod)
    expect(keepAlive).toHaveBeenCalledWith(true, 30_000)
  })

  test('TLS with the CA of the kubeconfig: one connection for many calls', async () => {
    const { requests, handle } = api()
    const certificate = selfSigned(Date.now())
    const port = await listen(createTlsServer(certificate, handle))
    const ca = Buffer.from(certificate.cert).toString('base64')
    const { client } = clientOf({
      kubeconfig: kubeconfig({
        server: `https://127.0.0.1:${port}`,
        cluster: { 'certificate-authority-data': ca },
      }),
    })
    for (let count = 0; count < 10; count++) await client.list(Kinds.Pod)
    expect(new Set(requests.map(({ port: from }) => from)).size).toBeLessThanOrEqual(2)
    await listWatchPatch(client)
  })

  test('a client certificate is presented, and one that is replaced is used for the next connection', async () => {
    const ours = selfSigned(Date.now())
    const [first, second] = [selfSigned(Date.now()), selfSigned(Date.now())]
    const seen: string[] = []
    const options = { ...ours, requestCert: true, rejectUnauthorized: false }
    const server = createTlsServer(options, (request, response) => {
      const socket = request.socket as Socket & {
        getPeerX509Certificate(): { toString(): string } | undefined
      }
      const peer = socket.getPeerX509Certificate()?.toString().trim()
      seen.push(peer === first.cert.trim() ? 'first' : peer === second.cert.trim() ? 'second' : 'none')
      response.writeHead(200, { 'Content-Type': 'application/json', Connection: 'close' })
      response.end('{"metadata":{},"items":[]}')
    })
    const port = await listen(server)
    const place = folder()
    const write = (certificate: typeof first) => {
      writeFileSync(join(place, 'client.crt'), certificate.cert)
      writeFileSync(join(place, 'client.key'), certificate.key)
    }
    write(first)
    const { client } = clientOf({
      kubeconfig: kubeconfig({
        path: join(place, 'config'),
        server: `https://127.0.0.1:${port}`,
        cluster: { 'certificate-authority-data': Buffer.from(ours.cert).toString('base64') },
        user: { token: undefined, 'client-certificate': 'client.crt', 'client-key': 'client.key' },
      }),
    })
    await client.list(Kinds.Pod)
    write(second)
    await client.list(Kinds.Pod)
    expect(seen).toEqual(['first', 'second'])
  })

  test('(d) a certificate for another name, or of nobody we trust: a clear error each time, and it stays verified', async () => {
    const { requests, handle } = api()
    const certificate = selfSigned(Date.now())
    const port = await listen(createTlsServer(certificate, handle))
    const server = `https://127.0.0.1:${port}`
    const ca = { 'certificate-authority-data': Buffer.from(certificate.cert).toString('base64') }
    const wrongName = clientOf({
      kubeconfig: kubeconfig({ server, cluster: { ...ca, 'tls-server-name': 'other.example' } }),
    })
    const untrusted = clientOf({ kubeconfig: kubeconfig({ server }) })
    for (let count = 0; count < 2; count++) {
      await expect(wrongName.client.list(Kinds.Pod)).rejects.toMatchObject({
        reason: 'Unavailable',
        status: null,
        message: expect.stringContaining('altnames'),
      })
      await expect(untrusted.client.list(Kinds.Pod)).rejects.toMatchObject({
        reason: 'Unavailable',
        message: expect.stringMatching(/self-signed certificate/),
      })
    }
    expect(requests).toEqual([])
    const named = clientOf({
      kubeconfig: kubeconfig({ server, cluster: { ...ca, 'tls-server-name': 'localhost' } }),
    })
    await expect(named.client.list(Kinds.Pod)).resolves.toBeDefined()
    const asked = clientOf({
      kubeconfig: kubeconfig({ server, cluster: { 'insecure-skip-tls-verify': true } }),
    })
    await expect(asked.client.list(Kinds.Pod)).resolves.toBeDefined()
  })

  test('(b) a proxy-url is used for list, watch and patch alike, with TLS and without', async () => {
    const certificate = selfSigned(Date.now())
    for (const tls of [false, true]) {
      const { requests, handle } = api()
      const port = await listen(tls ? createTlsServer(certificate, handle) : createHttpServer(handle))
      const tunnels: (string | undefined)[] = []
      const proxy = createHttpServer((_, response) => response.writeHead(500).end())
      proxy.on('connect', (request, client: Socket) => {
        tunnels.push(request.url)
        const upstream = connect(port, '127.0.0.1', () => {
          client.write('HTTP/1.1 200 Connection established\r\n\r\n')
          upstream.pipe(client).pipe(upstream)
        })
        for (const socket of [client, upstream]) socket.on('error', () => {})
      })
      const proxyPort = await listen(proxy)
      const { client, connection } = clientOf({
        kubeconfig: kubeconfig({
          server: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
          cluster: {
            'proxy-url': `http://127.0.0.1:${proxyPort}`,
            ...(tls && { 'certificate-authority-data': Buffer.from(certificate.cert).toString('base64') }),
          },
        }),
      })
      await listWatchPatch(client)
      expect(requests.map(({ method, watch }) => `${method} ${watch}`)).toEqual([
        'GET false',
        'GET true',
        'PATCH false',
      ])
      expect(tunnels.length).toBeGreaterThan(0)
      expect(new Set(tunnels)).toEqual(new Set([`127.0.0.1:${port}`]))
      await connection.close()
    }
  })

  test('(a) the proxy variables: by scheme, unless NO_PROXY names the host; never for loopback', () => {
    const proxy = 'http://proxy:3128'
    const way = (server: string, more: object = {}) =>
      proxyFromEnvironment(server, { HTTPS_PROXY: proxy, ...more }) === null ? 'direct' : 'proxy'
    expect(way('https://api.example:6443')).toBe('proxy')
    expect(way('http://api.example:8080')).toBe('direct')
    for (const excluded of [
      '*',
      'api.example',
      '.example',
      '*.example',
      'x, api.example ',
      'api.example:6443',
      'EXAMPLE',
    ]) {
      expect(way('https://api.example:6443', { NO_PROXY: excluded }), excluded).toBe('direct')
    }
    for (const other of ['example.com', 'pi.example', 'api.example:443', '10.0.0.0/8', '']) {
      expect(way('https://api.example:6443', { NO_PROXY: other }), other).toBe('proxy')
    }
    expect(way('https://10.1.2.3:6443', { NO_PROXY: '10.0.0.0/8' })).toBe('direct')
    expect(way('https://11.1.2.3:6443', { NO_PROXY: '10.0.0.0/8,10.0.0.0/99,300.0.0.0/8' })).toBe('proxy')
    expect(way('https://10.1.2.3:6443', { NO_PROXY: '10.1.2.3/32' })).toBe('direct')
    for (const loopback of ['https://127.0.0.1:6443', 'https://localhost:6443', 'https://[::1]:6443']) {
      expect(way(loopback)).toBe('direct')
    }
    expect(proxyFromEnvironment('https://x', { https_proxy: 'proxy:3128' })).toBe(proxy)
    expect(proxyFromEnvironment('https://x', {})).toBeNull()
  })
})
