/** Two gateways on one cluster: what one of them accepts, the other sees. And how a gateway ends when it is asked to. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { EventSource } from '../unit/server/eventSource.ts'
import { SocketClient } from '../unit/server/socketClient.ts'
import { ClusterEye, kubeconfigWithDecoy } from './support/cluster.ts'
import { type Cluster, type Gateway, startCluster, startServe } from './support/gateway.ts'
import { changesOf, type Follower, followEvents, followSocket } from './support/phases.ts'
import { Processes } from './support/processes.ts'
import { descendantsOf, isAlive } from './support/processTree.ts'
import { SlowHelm } from './support/slowHelm.ts'
import { until, within } from './support/until.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const namespace = 'fleet-1'
const name = 'model-00001'

const processes = new Processes()
let cluster: Cluster
let eye: ClusterEye
let helm: SlowHelm
let one: Gateway
let two: Gateway
const followers: Follower[] = []

beforeAll(async () => {
  cluster = await startCluster(processes, ['--releases', '2'])
  eye = new ClusterEye(cluster.kubeconfig)
  helm = new SlowHelm(processes.dir, cluster.helm)
  const kubeconfig = kubeconfigWithDecoy(processes.dir, cluster.kubeconfig)
  const args = ['--kubeconfig', kubeconfig, '--context', 'swiss-sandbox', '--helm-bin', helm.path]
  const auditDb = ['--audit-db', join(processes.dir, 'audit.db')]
  ;[one, two] = await Promise.all([
    startServe(processes, [...args, ...auditDb, '--cluster-name', 'production']),
    startServe(processes, [...args, ...auditDb, '--namespace', namespace, '--namespace', 'team-b']),
  ])
})

afterAll(async () => {
  for (const follower of followers) await follower.stop()
  eye?.close()
  await processes.stop()
})

describe('serve', () => {
  it('is what the sandbox without a gateway tells how to run', () => {
    const { serveArgs, kubeconfig, helm: itsHelm } = cluster
    expect(serveArgs.slice(0, 5)).toEqual(['--kubeconfig', kubeconfig, '--helm-bin', itsHelm, '--audit-db'])
    expect(cluster.child.stdout).toContain(`npm run serve -- ${serveArgs.join(' ')}\n`)
  })

  it('says which cluster it is about to use before it listens', () => {
    const [before = '', after = ''] = one.child.stdout.split('Listening at ')
    expect(before).toMatch(/^ *server +https:\/\/127\.0\.0\.1:\d+$/m)
    expect(before).toMatch(/^ *context +swiss-sandbox$/m)
    expect(before).toMatch(/^ *user +admin$/m)
    expect(before).toMatch(/^ *namespaces +all$/m)
    expect(before).toMatch(/^ *helm +v4/m)
    expect(after).toBe(`${one.url}\n`)
    expect(two.child.stdout).toMatch(new RegExp(`^ *namespaces +${namespace}, team-b$`, 'm'))
  })

  it('knows its cluster by name', async () => {
    const query =
      '{ cluster { name kubernetesVersion helmVersion readOnly llmServicesServed warnings leader } }'
    const { cluster: seen } = await until('the versions are known', async () => {
      const data = await one.ask(query)
      return data.cluster.helmVersion && data.cluster.kubernetesVersion && data.cluster.leader && data
    })
    expect(seen).toMatchObject({ name: 'production', readOnly: false, llmServicesServed: true, warnings: [] })
    expect((await two.ask(query)).cluster.name).toBe('swiss-sandbox')
  })

  it('neither sees nor touches what is outside its namespaces', async () => {
    const { deployments } = await two.ask('{ deployments { nodes { namespace } } }')
    const namespaces = deployments.nodes.map((row: { namespace: string }) => row.namespace)
    expect(new Set(namespaces)).toEqual(new Set([namespace, 'team-b']))
    expect(await two.uninstall({ namespace: 'team-a', name: 'chat' })).toMatchObject({
      __typename: 'ReleaseNotFoundError',
    })
    expect(await one.row('team-a', 'chat', 'phase')).toMatchObject({ phase: 'APPLIED' })
  })
})

describe('an uninstall that one gateway has accepted', () => {
  it('is seen by the other while helm runs, and is not begun twice', async () => {
    followers.push(followSocket(one.url), followSocket(two.url), await followEvents(two.url))
    await Promise.all(followers.map((follower) => follower.synced()))
    helm.hold()
    const accepted = await one.uninstall({ namespace, name, note: 'seen by both' })
    expect(accepted).toMatchObject({ __typename: 'UninstallReleasePayload', alreadyInProgress: false })
    await Promise.all(followers.map((follower) => follower.reaches(name, 'UNINSTALLING')))
    await helm.called(name)
    expect(await two.row(namespace, name, 'phase deletion { note requestedBy }')).toMatchObject({
      phase: 'UNINSTALLING',
      deletion: { note: 'seen by both', requestedBy: 'anonymous' },
    })
    expect(await two.uninstall({ namespace, name })).toMatchObject({
      __typename: 'UninstallReleasePayload',
      alreadyInProgress: true,
    })
  })

  it('is seen to its end by both, each change once', async () => {
    helm.release()
    const waited = await two.uninstall({ namespace, name, waitFor: 'GONE' })
    expect(waited).toMatchObject({ __typename: 'UninstallReleasePayload', alreadyInProgress: true })
    await Promise.all(followers.map((follower) => follower.reaches(name, 'GONE')))
    for (const { events } of followers) {
      expect(changesOf(events, name)).toEqual(['APPLIED>UNINSTALLING', 'UNINSTALLING>GONE'])
    }
    await until('nothing is left', async () => (await eye.leftOf(namespace, name)).length === 0, 20_000)
    expect(helm.calls(name)).toMatchObject([
      { context: 'swiss-sandbox', args: `uninstall ${name} --namespace ${namespace}` },
    ])
  })

  it('is one run, whoever is asked', async () => {
    for (const gateway of [one, two]) {
      expect(await gateway.runs(namespace, name)).toMatchObject([
        { action: 'UNINSTALL', outcome: 'SUCCEEDED', note: 'seen by both' },
      ])
    }
  })
})

describe('SIGTERM', () => {
  it('ends a gateway in time, with its streams and its helm, and the other one goes on', async () => {
    const socket = await SocketClient.open(one.url)
    socket.subscribe('subscription { deploymentPhaseChanged(snapshot: true) { kind } }')
    await socket.next()
    const events = await EventSource.open(one.url, 'subscription { deploymentPhaseChanged { kind } }')
    await events.next()
    helm.hold()
    await one.uninstall({ namespace, name: 'model-00002' })
    const { pid } = await helm.called('model-00002')
    const below = descendantsOf(one.child.pid).map((process) => process.pid)
    expect(below).toContain(pid)

    one.child.kill('SIGTERM')
    expect(await within('the close of the socket', socket.closed, 10_000)).toMatchObject({ code: 1001 })
    expect(await within('the end of the events', drain(events), 10_000)).toBe(true)
    expect(await within('the end of the process', one.child.ended, 15_000)).toBe(0)
    expect(below.filter(isAlive)).toEqual([])
    await expect(fetch(one.url)).rejects.toThrow()

    // The lock was given back: the other gateway runs helm again, without waiting for it to run out.
    helm.release()
    const gone = followers[1]?.reaches('model-00002', 'GONE')
    expect(await gone).toMatchObject({ goneBecause: 'UNINSTALLED' })
    expect(helm.calls('model-00002')).toHaveLength(2)
  })
})

/** Reads a stream to its end; false when that end says `complete`, which would tell a client not to come back. */
async function drain(events: EventSource): Promise<boolean> {
  for (;;) {
    const frame = await events.next()
    if (frame === null) return true
    if (frame.event === 'complete') return false
  }
}
