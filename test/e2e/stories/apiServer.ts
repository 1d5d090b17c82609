// kube-apiserver is killed in mid-stream and comes back: while it is away the gateway answers from what it has seen,
// accepts nothing, and says nothing that it does not know; afterwards everything is finished.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  askUninstall,
  isAuditedOnce,
  leavesNothing,
  rowBecomes,
  rowOf,
  runsOf,
  uninstallIt,
} from '../checks.ts'
import { HelmLog } from '../helmLog.ts'
import { GOES_WELL, Phases } from '../phases.ts'
import { installRelease, makePlan, podsOf } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'

export const apiServer: Story = { name: 'api-server', helm: ['4', '3'], cluster: {}, run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const before = await cluster.kube.everythingIn(namespace)
  const going = { namespace, name: 'going' }
  const later = { namespace, name: 'later' }
  const cut = { namespace, name: 'cut' }
  for (const { name } of [going, later, cut]) {
    await installRelease(context, namespace, name)
    await makePlan(cluster.kube, namespace, name, { archives: [1], autoscale: true })
  }
  const helm = new HelmLog(context)
  const gateway = await context.gateway({ helmBin: helm.path })
  const streams = {
    going: await Phases.follow(context, gateway, going),
    later: await Phases.follow(context, gateway, later),
    cut: await Phases.follow(context, gateway, cut),
  }

  await uninstallIt(gateway, going, { waitFor: 'HELM' })
  await rowBecomes(context, gateway, going, 'pods go', (r) => r.deletion?.stage === 'PODS_TERMINATING')
  await cluster.apiServer.kill()
  const killed = performance.now()
  const refused = await askUninstall(gateway, later)
  assert.deepEqual(
    [refused.__typename, refused.retryable],
    ['ClusterUnavailableError', true],
    JSON.stringify(refused),
  )
  note(`an uninstall without an API server is refused after ${seconds(killed)}`)
  for (let reads = 0; reads < 10; reads += 1) {
    assert.equal((await rowOf(gateway, going))?.phase, 'UNINSTALLING')
    assert.equal((await rowOf(gateway, later))?.phase, 'APPLIED')
    await sleep(500)
  }
  streams.going.told('APPLIED > UNINSTALLING')
  streams.later.told()
  cluster.apiServer.start()
  await cluster.ready()
  const back = performance.now()
  const gone = await streams.going.reaches('GONE')
  note(`GONE ${seconds(back, gone.arrived)} after the API server was ready again`)
  assert.deepEqual(await podsOf(cluster.kube, namespace, going.name), [])
  streams.going.told(...GOES_WELL)
  streams.later.told()
  await isAuditedOnce(gateway, going)
  assert.deepEqual(await runsOf(gateway, later), [], 'a refusal leaves no trace')

  await helmLosesIt(context, gateway, cut, helm, streams.cut)

  await uninstallIt(gateway, later)
  await streams.later.reaches('GONE')
  streams.later.told(...GOES_WELL)
  await isAuditedOnce(gateway, later)
  await cluster.kube.delete(`/apis/batch/v1/namespaces/${namespace}/jobs/${cut.name}-e2e-model-pre-delete`, {
    propagationPolicy: 'Background',
  })
  await leavesNothing(context, namespace, before)
  assert.equal(await gateway.stop(60_000), 'exit 0')
  await startsFirst(context)
}

/** A gateway that starts while there is no API server waits for it, and is not ready before it knows what there is. */
async function startsFirst(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const early = { namespace, name: 'early' }
  await makePlan(cluster.kube, namespace, early.name)
  await cluster.apiServer.kill()
  const gateway = await context.gateway({ name: 'early', waitReady: false })
  assert.notEqual((await gateway.fetch('/readyz')).status, 200)
  cluster.apiServer.start()
  await cluster.ready()
  const back = performance.now()
  await gateway.ready(120_000)
  const ready = performance.now()
  await rowBecomes(context, gateway, early, 'is listed', (row) => row.phase === 'APPLIED')
  note(
    `started before the API server: ready ${seconds(back, ready)} after it, its release listed ${seconds(ready)} later`,
  )
  assert.equal(await gateway.stop(60_000), 'exit 0')
}

/**
 * The API server goes while helm works. Whether helm gets over it is helm's affair; the release is either gone or
 * FAILED with what helm said, and then it can be asked for again.
 */
async function helmLosesIt(
  context: StoryContext,
  gateway: Awaited<ReturnType<StoryContext['gateway']>>,
  ref: { namespace: string; name: string },
  helm: HelmLog,
  stream: Phases,
): Promise<void> {
  const { cluster, note } = context
  await uninstallIt(gateway, ref)
  const hook = `/apis/batch/v1/namespaces/${ref.namespace}/jobs/${ref.name}-e2e-model-pre-delete`
  await until('helm waits for its hook', 60_000, () => cluster.kube.find(hook), 5)
  await cluster.apiServer.kill()
  await sleep(3000)
  cluster.apiServer.start()
  await cluster.ready()
  const end = await until(
    'helm is over, and the release gone or FAILED',
    360_000, // helm waits for its hook for five minutes
    () => {
      stream.healthy()
      return stream.gone('FAILED') ?? stream.gone('GONE')
    },
  )
  const calls = helm.uninstalls(ref.name)
  note(`helm without an API server: ${end.phase}, exits ${calls.map((c) => c.exit).join(', ')}`)
  if (end.phase === 'GONE') {
    stream.told(...GOES_WELL)
    await isAuditedOnce(gateway, ref)
    return
  }
  const [failed] = await runsOf(gateway, ref)
  assert.equal(failed?.outcome, 'FAILED')
  assert(failed.error)
  note(`helm says: ${failed.error.slice(0, 150)}`)
  // A lock that could not be given back runs out after half a minute.
  await until('the next uninstall is accepted', 60_000, async () => {
    const again = await askUninstall(gateway, ref)
    if (again.__typename !== 'UninstallReleasePayload') throw new Error(JSON.stringify(again))
    return true
  })
  await stream.reaches('GONE', 360_000)
  assert.deepEqual(
    (await runsOf(gateway, ref)).map((r) => r.outcome),
    ['SUCCEEDED', 'FAILED'],
  )
}
