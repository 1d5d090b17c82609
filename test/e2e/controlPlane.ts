// A real Kubernetes on loopback, without root and containers: etcd, API server, controller-manager, scheduler, and
// kwok in the place of the kubelets. About four seconds to ready.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Component } from './component.ts'
import { Kube, type KubeObject } from './kube.ts'
import { kubeconfigText } from './kubeconfigText.ts'
import { freePorts } from './ports.ts'
import type { Processes } from './processes.ts'
import type { Tools } from './tools.ts'
import { until } from './wait.ts'

/** What a story may want otherwise; flags are added to those that every cluster has, and win over them. */
export type ClusterOptions = {
  apiServer?: string[]
  etcd?: string[]
  controllerManager?: string[]
  /** Instead of `*,-node-ipam-controller`. */
  controllers?: string
  /** Nodes, each with a kwok of its own, which is the way to lose one: kill `kubelets[name]`. Default: one for all. */
  nodes?: string[]
  /** CustomResourceDefinitions that are there from the start (default: LLMService); `[]` for none. */
  crds?: object[]
}

export type ControlPlane = {
  /** Of a member of system:masters. */
  kubeconfig: string
  server: string
  /** PEM of the API server's certificate, which is its own CA. */
  ca: string
  kube: Kube
  /** One JSON event a line, level Metadata, stage ResponseComplete (watches: ResponseStarted, too). Outlives the cluster. */
  auditLog: string
  etcdUrl: string
  /** The key that signs the tokens of service accounts (PEM, RSA), for tokens of one's own. */
  signingKey: string
  apiServer: Component
  etcd: Component
  kubelets: Record<string, Component>
  /** Resolves when the API server says that it is ready, for a story that has killed it and started it again. */
  ready: () => Promise<void>
  /** Throws when a component has ended by itself: whatever is seen after that says nothing about the gateway. */
  check: () => void
  components: Component[]
  stop: () => Promise<void>
}

export const NODE = 'e2e-node'

const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
}

/** `name` is the folder of its files in the run's folder. */
export async function startControlPlane(
  processes: Processes,
  tools: Tools,
  name: string,
  options: ClusterOptions = {},
): Promise<ControlPlane> {
  const dir = processes.folder(name)
  const [etcdPort, peerPort, apiPort, ...kwokPorts] = await freePorts(4 + (options.nodes?.length ?? 0))
  const components: Component[] = []
  const component = (what: string, tool: string, args: string[]): Component => {
    const one = new Component(processes, join(name, what), tools[tool] ?? fail(`no ${tool} was built`), args)
    components.push(one)
    return one
  }
  const check = (): void => {
    for (const one of components) one.check()
  }
  const wait = <T>(what: string, ask: () => Promise<T | undefined> | T | undefined): Promise<T> =>
    until(what, 120_000, () => {
      check()
      return ask()
    })

  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const peer = `http://127.0.0.1:${peerPort}`
  const etcd = component('etcd', 'etcd', [
    `--data-dir=${join(dir, 'etcd')}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync', // the data is thrown away
    '--log-level=warn',
    ...(options.etcd ?? []),
  ])
  etcd.start()

  const token = randomBytes(24).toString('hex')
  const tokens = processes.file(join(name, 'tokens.csv'), `${token},e2e-admin,e2e-admin,"system:masters"\n`)
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signingKey = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  const key = processes.file(join(name, 'sa.key'), signingKey)
  const policy = processes.file(join(name, 'audit-policy.yaml'), JSON.stringify(AUDIT_POLICY))
  const auditLog = join(dir, 'audit.log')
  const server = `https://127.0.0.1:${apiPort}`
  const certs = join(dir, 'certs')
  const apiServer = component('kube-apiserver', 'kube-apiserver', [
    `--etcd-servers=${etcdUrl}`,
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
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${auditLog}`,
    '--audit-log-maxsize=4000', // MB: never in pieces
    ...(options.apiServer ?? []),
  ])
  apiServer.start()

  // The API server signs a certificate for itself.
  const caFile = join(certs, 'apiserver.crt')
  const ca = await wait('the API server writes its certificate', () =>
    existsSync(caFile) ? readFileSync(caFile, 'utf8') : undefined,
  )
  const kubeconfig = processes.file(join(name, 'kubeconfig'), kubeconfigText(server, ca, token))
  const kube = new Kube(server, token, ca)
  const ready = async (): Promise<void> => {
    await wait('the API server is ready', async () =>
      (await kube.text('/readyz')) === 'ok' ? true : undefined,
    )
  }
  await ready()

  component('kube-controller-manager', 'kube-controller-manager', [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--secure-port=0',
    `--controllers=${options.controllers ?? '*,-node-ipam-controller'}`,
    ...(options.controllerManager ?? []),
  ]).start()
  component('kube-scheduler', 'kube-scheduler', [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--secure-port=0',
  ]).start()

  const kwok = (what: string, port: number | undefined, args: string[]): Component => {
    const one = component(what, 'kwok', [
      `--kubeconfig=${kubeconfig}`,
      `--config=${join(import.meta.dirname, 'stages.yaml')}`,
      '--node-lease-duration-seconds=40',
      '--node-ip=127.0.0.1',
      `--server-address=127.0.0.1:${port}`,
      ...args,
    ])
    one.start()
    return one
  }
  const kubelets: Record<string, Component> = {}
  if (options.nodes === undefined) kubelets[NODE] = kwok('kwok', kwokPorts[0], ['--manage-all-nodes'])
  for (const [i, node] of (options.nodes ?? []).entries()) {
    kubelets[node] = kwok(`kwok-${node}`, kwokPorts[i], [`--manage-single-node=${node}`])
  }
  for (const crd of options.crds ?? [])
    await kube.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
  for (const node of Object.keys(kubelets)) {
    await kube.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: node, labels: { 'kubernetes.io/hostname': node } },
    })
  }
  for (const node of Object.keys(kubelets)) {
    await wait(`the node ${node} takes pods`, async () => {
      const object = await kube.get(`/api/v1/nodes/${node}`)
      return isReady(object) && object.spec?.taints === undefined ? true : undefined
    })
  }
  await wait('the controllers run', () => kube.get('/api/v1/namespaces/default/serviceaccounts/default'))

  const stop = async (): Promise<void> => {
    kube.close()
    await Promise.all(components.map((one) => one.kill()))
  }
  return {
    ...{ kubeconfig, server, ca, kube, auditLog, etcdUrl, signingKey },
    ...{ apiServer, etcd, kubelets, ready, check, components, stop },
  }
}

export function isReady(object: KubeObject): boolean {
  const conditions = (object.status?.conditions ?? []) as { type: string; status: string }[]
  return conditions.some((c) => c.type === 'Ready' && c.status === 'True')
}

function fail(message: string): never {
  throw new Error(message)
}
