// A real Kubernetes on loopback, without root and containers: etcd, API server, controller-manager, scheduler, and
// kwok in the place of the kubelets. About four seconds to ready.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { Kube, type KubeObject } from './kube.ts'
import type { Managed, Processes } from './processes.ts'
import type { Tools } from './tools.ts'
import { Fatal, until } from './wait.ts'

export type ControlPlane = {
  /** Of a member of system:masters. */
  kubeconfig: string
  kube: Kube
  /** Throws when a component has ended: whatever is seen after that says nothing about the gateway. */
  check: () => void
}

const NODE = 'e2e-node'

export async function startControlPlane(processes: Processes, tools: Tools): Promise<ControlPlane> {
  const [etcdPort, peerPort, apiPort, kwokPort] = await freePorts(4)
  const tool = (name: string): string => tools[name] ?? fail(`no ${name} was built`)
  const components: Managed[] = []
  const run = (name: string, args: string[]): void => {
    components.push(processes.start(name, tool(name), args))
  }
  const check = (): void => {
    const ended = components.find((c) => c.ended() !== null)
    if (ended !== undefined) throw new Fatal(`${ended.name} has ended (${ended.ended()})`)
  }
  const wait = <T>(what: string, ask: () => Promise<T | undefined> | T | undefined): Promise<T> =>
    until(what, 60_000, () => {
      check()
      return ask()
    })

  const etcd = `http://127.0.0.1:${etcdPort}`
  const peer = `http://127.0.0.1:${peerPort}`
  run('etcd', [
    `--data-dir=${join(processes.dir, 'etcd')}`,
    `--listen-client-urls=${etcd}`,
    `--advertise-client-urls=${etcd}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync', // the data is thrown away
    '--log-level=warn',
  ])

  const token = randomBytes(24).toString('hex')
  const tokens = processes.file('tokens.csv', `${token},e2e-admin,e2e-admin,"system:masters"\n`)
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = processes.file('sa.key', rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())
  const server = `https://127.0.0.1:${apiPort}`
  const certs = join(processes.dir, 'certs')
  run('kube-apiserver', [
    `--etcd-servers=${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${apiPort}`,
    `--cert-dir=${certs}`,
    `--service-account-issuer=${server}`,
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    `--token-auth-file=${tokens}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    // Pods need no token here: nothing runs in them.
    '--disable-admission-plugins=ServiceAccount',
    // It would publish an address of this machine as the endpoint of the Service `kubernetes`.
    '--endpoint-reconciler-type=none',
  ])

  // The API server signs a certificate for itself, which is its own CA.
  const caFile = join(certs, 'apiserver.crt')
  const ca = await wait('the API server writes its certificate', () =>
    existsSync(caFile) ? readFileSync(caFile, 'utf8') : undefined,
  )
  const kubeconfig = processes.file('kubeconfig', kubeconfigText(server, ca, token))
  const kube = new Kube(server, token, ca)
  await wait('the API server is ready', async () =>
    (await kube.text('/readyz')) === 'ok' ? true : undefined,
  )

  run('kube-controller-manager', [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--secure-port=0',
    '--controllers=*,-node-ipam-controller',
  ])
  run('kube-scheduler', [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'])
  run('kwok', [
    `--kubeconfig=${kubeconfig}`,
    `--config=${join(import.meta.dirname, 'stages.yaml')}`,
    '--manage-all-nodes',
    '--node-lease-duration-seconds=40',
    '--node-ip=127.0.0.1',
    `--server-address=127.0.0.1:${kwokPort}`,
  ])
  await kube.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } })
  await wait('the node takes pods', async () => {
    const node = await kube.get(`/api/v1/nodes/${NODE}`)
    return isReady(node) && node.spec?.taints === undefined ? true : undefined
  })
  await wait('the controllers run', () => kube.get('/api/v1/namespaces/default/serviceaccounts/default'))
  return { kubeconfig, kube, check }
}

export function isReady(object: KubeObject): boolean {
  const conditions = (object.status?.conditions ?? []) as { type: string; status: string }[]
  return conditions.some((c) => c.type === 'Ready' && c.status === 'True')
}

/** JSON, which is YAML. */
function kubeconfigText(server: string, ca: string, token: string): string {
  const name = 'e2e'
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [
      { name, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name, user: { token } }],
  })
}

/** Ports that were free a moment ago. All are held at once, so that no two are the same. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listenAnywhere()))
  return Promise.all(servers.map((server) => portAndClose(server)))
}

function listenAnywhere(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

function portAndClose(server: Server): Promise<number> {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return new Promise((resolve) => server.close(() => resolve(port)))
}

function fail(message: string): never {
  throw new Error(message)
}
