/**
 * `kill -9` of a gateway in the middle of two uninstalls, one while helm runs and one while pods terminate; the
 * gateway that is started after it finishes both.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ClusterEye } from './support/cluster.ts'
import { type Cluster, type Gateway, startCluster, startServe } from './support/gateway.ts'
import { changesOf, type Follower, followSocket } from './support/phases.ts'
import { Processes } from './support/processes.ts'
import { descendantsOf, isAlive } from './support/processTree.ts'
import { type HelmCall, SlowHelm } from './support/slowHelm.ts'
import { until } from './support/until.ts'

// A lock outlives its dead holder by 30 s.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 120_000 })

const namespace = 'fleet-1'
/** Killed while its pods terminate. */
const podsLeaving = 'model-00001'
/** Killed while its helm runs. */
const helmRunning = 'model-00002'

const processes = new Processes()
let cluster: Cluster
let eye: ClusterEye
let helm: SlowHelm
let gateway: Gateway
let follower: Follower
let call: HelmCall
/** Ids of the runs that the first gateway began. */
const runs: Record<string, string> = {}

/** The line that the sandbox prints, but for a helm that waits. */
const serve = () => startServe(processes, [...cluster.serveArgs, '--helm-bin', helm.path])

beforeAll(async () => {
  cluster = await startCluster(processes, ['--releases', '2'])
  eye = new ClusterEye(cluster.kubeconfig)
  helm = new SlowHelm(processes.dir, cluster.helm)
  gateway = await serve()
})

afterAll(async () => {
  await follower?.stop()
  eye?.close()
  await processes.stop()
})

describe('a gateway that is killed', () => {
  it('was uninstalling one release that waits for its pods', async () => {
    await eye.holdPods(namespace, podsLeaving)
    const answer = await gateway.uninstall({ namespace, name: podsLeaving, waitFor: 'HELM', note: 'first' })
    expect(answer).toMatchObject({ alreadyInProgress: false, run: { outcome: 'STARTED' } })
    runs[podsLeaving] = answer.run.id
    await until('its pods terminate', async () => {
      const row = await gateway.row(namespace, podsLeaving, 'deletion { stage pods { deletionTimestamp } }')
      const { stage, pods } = row.deletion
      return stage === 'PODS_TERMINATING' && pods.every((pod: object) => Object.values(pod)[0] !== null)
    })
  })

  it('was uninstalling another one whose helm was running', async () => {
    helm.hold()
    const answer = await gateway.uninstall({ namespace, name: helmRunning, note: 'second' })
    expect(answer).toMatchObject({ alreadyInProgress: false, run: { outcome: 'STARTED' } })
    runs[helmRunning] = answer.run.id
    call = await helm.called(helmRunning)
    expect(call.args).toBe(`uninstall ${helmRunning} --namespace ${namespace}`)
    const row = await gateway.row(namespace, helmRunning, 'phase deletion { stage blockers { kind } }')
    expect(row).toMatchObject({
      phase: 'UNINSTALLING',
      deletion: { stage: 'HELM_UNINSTALL', blockers: expect.arrayContaining([{ kind: 'HELM' }]) },
    })
  })

  it('takes helm and all its children with it within two seconds', async () => {
    const below = descendantsOf(gateway.child.pid).map(({ pid }) => pid)
    expect(below).toContain(call.pid)
    const killed = performance.now()
    gateway.child.kill('SIGKILL')
    await until('helm is dead', () => !isAlive(call.pid), 10_000)
    expect(performance.now() - killed).toBeLessThan(2000)
    expect(await gateway.child.ended).toBe('SIGKILL')
    await until('nothing of it is left', () => !below.some(isAlive), 10_000)
    // helm had not begun: the release is as it was.
    expect(await eye.leftOf(namespace, helmRunning)).toContain(`Secret/sh.helm.release.v1.${helmRunning}.v1`)
  })
})

describe('the gateway that is started after it', () => {
  it('shows both releases as uninstalling, with what was asked for', async () => {
    helm.release()
    gateway = await serve()
    follower = await followSocket(gateway.url).synced()
    for (const [name, note] of [
      [podsLeaving, 'first'],
      [helmRunning, 'second'],
    ]) {
      const snapshot = follower.events.find((event) => event.name === name)
      expect(snapshot).toMatchObject({ kind: 'SNAPSHOT', phase: 'UNINSTALLING' })
      const row = await gateway.row(namespace, name ?? '', 'phase deletion { note requestedBy }')
      expect(row).toMatchObject({ phase: 'UNINSTALLING', deletion: { note, requestedBy: 'anonymous' } })
    }
  })

  it('finishes the one whose pods were leaving, when the last of them has left', async () => {
    const row = await gateway.row(
      namespace,
      podsLeaving,
      'deletion { stage podsRemaining blockers { kind } }',
    )
    expect(row.deletion).toMatchObject({ stage: 'PODS_TERMINATING', podsRemaining: 2 })
    expect(changesOf(follower.events, podsLeaving)).toEqual([])
    await eye.letPodsGo(namespace, podsLeaving)
    await follower.reaches(podsLeaving, 'GONE')
  })

  it('runs the other one’s helm again, and finishes it too', async () => {
    await follower.reaches(helmRunning, 'GONE')
    expect(helm.calls(podsLeaving)).toHaveLength(1)
    expect(helm.calls(helmRunning)).toHaveLength(2)
  })

  it.each([podsLeaving, helmRunning])('leaves nothing of %s, and one final run', async (name) => {
    expect(changesOf(follower.events, name)).toEqual(['UNINSTALLING>GONE'])
    expect(await gateway.row(namespace, name, 'phase')).toBeNull()
    // The Lease of the lock goes last.
    await until('nothing is left', async () => (await eye.leftOf(namespace, name)).length === 0, 20_000)
    expect(await gateway.runs(namespace, name)).toMatchObject([
      { id: runs[name], action: 'UNINSTALL', outcome: 'SUCCEEDED', endedAt: expect.any(String) },
    ])
  })
})
