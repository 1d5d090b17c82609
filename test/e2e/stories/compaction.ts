// The gateway is cut off, things happen, and etcd forgets them: the watches begin again at a version that is too old
// (a real 410), and what was missed is told all the same, each thing once.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAuditedOnce, leavesNothing, rowBecomes, rowsOf, uninstallIt } from '../checks.ts'
import { compact } from '../etcd.ts'
import type { Kube } from '../kube.ts'
import { kubeconfigText } from '../kubeconfigText.ts'
import { GOES_WELL, Phases } from '../phases.ts'
import { installRelease, makePlan, podsOf } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'
import { Wire } from '../wire.ts'

export const compaction: Story = {
  name: 'compaction',
  helm: ['4', '3'],
  // Without its own cache the API server has no more of the past than etcd.
  cluster: { apiServer: ['--watch-cache=false'] },
  run,
}

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const { kube } = cluster
  const before = await kube.everythingIn(namespace)
  const going = { namespace, name: 'going' }
  const dropped = { namespace, name: 'dropped' }
  const added = { namespace, name: 'added' }
  await installRelease(context, namespace, going.name)
  await makePlan(kube, namespace, going.name, { archives: [1], autoscale: true })
  await makePlan(kube, namespace, dropped.name)

  const wire = await Wire.start(cluster.server)
  context.atEnd(() => wire.stop())
  const kubeconfig = join(context.dir, 'wire.kubeconfig')
  writeFileSync(kubeconfig, kubeconfigText(wire.server, cluster.ca, context.gatewayToken), { mode: 0o600 })
  const gateway = await context.gateway({ kubeconfig })
  const streams = {
    going: await Phases.follow(context, gateway, going),
    dropped: await Phases.follow(context, gateway, dropped),
    added: await Phases.follow(context, gateway, added),
  }
  await uninstallIt(gateway, going, { waitFor: 'HELM' })
  await rowBecomes(context, gateway, going, 'pods go', (r) => r.deletion?.stage === 'PODS_TERMINATING')
  const old = await versionOf(kube, namespace)

  wire.cut()
  await kube.delete(`/api/v1/namespaces/${namespace}/configmaps/swiss-plan-${dropped.name}`)
  await makePlan(kube, namespace, added.name)
  await until('the pods have gone', 120_000, async () =>
    (await podsOf(kube, namespace, going.name)).length === 0 ? true : undefined,
  )
  assert.deepEqual(streams.going.steps(), ['APPLIED > UNINSTALLING'])
  await compact(cluster.etcdUrl)
  assert.equal(await watchStatus(kube, namespace, old), 410, 'a watch from before is not too old')
  wire.mend()
  const mended = performance.now()

  const gone = await streams.going.reaches('GONE')
  note(`GONE ${seconds(mended, gone.arrived)} after the gateway could reach the API server again`)
  assert.equal((await streams.dropped.reaches('GONE')).goneBecause, 'PLAN_REMOVED')
  await streams.added.reaches('APPLIED')
  streams.going.told(...GOES_WELL)
  streams.dropped.told('APPLIED > GONE')
  streams.added.told('null > APPLIED')
  assert.deepEqual(
    (await rowsOf(gateway, namespace)).map((row) => row.name),
    [added.name],
  )
  await isAuditedOnce(gateway, going)
  // And it watches on.
  await kube.delete(`/api/v1/namespaces/${namespace}/configmaps/swiss-plan-${added.name}`)
  await streams.added.reaches('GONE')
  await leavesNothing(context, namespace, before)
  assert.equal(await gateway.stop(60_000), 'exit 0')
}

async function versionOf(kube: Kube, namespace: string): Promise<string> {
  const list = await kube.get<{ metadata: { resourceVersion: string } }>(
    `/api/v1/namespaces/${namespace}/configmaps?limit=1`,
  )
  return list.metadata.resourceVersion
}

/** What a watch from that version is answered: the code of the error, as HTTP status or in the stream. */
async function watchStatus(kube: Kube, namespace: string, version: string): Promise<number> {
  const path = `/api/v1/namespaces/${namespace}/configmaps?watch=true&timeoutSeconds=5&resourceVersion=${version}`
  const text = await kube.text(path)
  const event = JSON.parse(text.split('\n')[0] ?? '') as { type: string; object: { code?: number } }
  return event.type === 'ERROR' ? (event.object.code ?? 0) : 200
}
