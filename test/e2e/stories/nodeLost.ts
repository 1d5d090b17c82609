// A node that is lost takes its pods with it: they stay Terminating for ever, and the release does not wait for
// them. Nobody deletes them (the controller that would is off here), so the Pod objects are there at GONE.
import assert from 'node:assert/strict'
import { isAuditedOnce, leavesNothing, rowBecomes, uninstallIt } from '../checks.ts'
import { isReady } from '../controlPlane.ts'
import type { Kube, KubeObject } from '../kube.ts'
import { GOES_WELL, Phases } from '../phases.ts'
import { installRelease, makePlan } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'

const HELD = 'swiss-e2e/held'
const NAME = 'chat'

export const nodeLost: Story = {
  name: 'node-lost',
  helm: ['4', '3'],
  cluster: {
    nodes: ['lost', 'alive'],
    controllers: '*,-node-ipam-controller,-pod-garbage-collector-controller',
    controllerManager: ['--node-monitor-grace-period=10s'],
  },
  run,
}

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const { kube } = cluster
  const ref = { namespace, name: NAME }
  const before = await kube.everythingIn(namespace)
  // Without the hook: its pod might be sent to the node that is lost.
  const values = ['terminationGracePeriodSeconds=10', 'preDeleteHook=false']
  await installRelease(context, namespace, NAME, ...values.flatMap((v) => ['--set', v]))
  await makePlan(kube, namespace, NAME)
  const [onLost, onAlive] = await podsByNode(kube, namespace)
  assert(onLost.length > 0 && onAlive.length > 0, 'the scheduler has not used both nodes')
  // The pods on the node that lives on are held, so that there is time to look at the others.
  for (const pod of onAlive) await setFinalizers(kube, namespace, pod, [HELD])
  const gateway = await context.gateway()
  let podsAtGone: Promise<[string[], string[]]> | undefined
  const stream = await Phases.follow(context, gateway, ref, (event) => {
    if (event.phase === 'GONE') podsAtGone = podsByNode(kube, namespace)
  })

  await cluster.kubelets.lost?.kill()
  const lost = performance.now()
  await uninstallIt(gateway, ref, { waitFor: 'HELM' })
  const row = await rowBecomes(context, gateway, ref, 'the pods of the lost node do not count', (now) => {
    const pods = now.deletion?.pods ?? []
    return onLost.every((name) => pods.some((p) => p.name === name && p.reason === 'NODE_LOST'))
  })
  note(`NODE_LOST ${seconds(lost)} after the node`)
  assert.equal(isReady(await kube.get('/api/v1/nodes/lost')), false)
  assert(row.deletion?.pods)
  for (const pod of row.deletion.pods) {
    const isLost = onLost.includes(pod.name)
    assert.deepEqual([pod.counts, pod.node], [!isLost, isLost ? 'lost' : 'alive'])
    assert.notEqual(pod.deletionTimestamp, null)
  }
  assert.deepEqual([row.deletion.stage, row.deletion.podsRemaining], ['PODS_TERMINATING', onAlive.length])
  const left = row.deletion.leftBehind.filter((one) => one.kind === 'Pod').map((one) => one.name)
  assert.deepEqual(left.sort(), onLost)
  assert.equal(stream.gone(), undefined)

  for (const pod of onAlive) await setFinalizers(kube, namespace, pod, [])
  await stream.reaches('GONE')
  assert.deepEqual(await podsAtGone, [onLost, []], 'the pods that were there at GONE')
  stream.told(...GOES_WELL)
  await isAuditedOnce(gateway, ref)
  await leavesNothing(context, namespace, [...before, ...onLost.map((name) => `Pod/${name}`)])
  assert.equal(await gateway.stop(60_000), 'exit 0')
}

/** Names of the pods on the two nodes, sorted. */
async function podsByNode(kube: Kube, namespace: string): Promise<[lost: string[], alive: string[]]> {
  const pods = await kube.list(`/api/v1/namespaces/${namespace}/pods`)
  const on = (node: string): string[] =>
    pods
      .filter((pod) => pod.spec?.nodeName === node)
      .map((pod) => pod.metadata.name)
      .sort()
  return [on('lost'), on('alive')]
}

/** The kubelet may write to the pod at the same time. */
function setFinalizers(
  kube: Kube,
  namespace: string,
  pod: string,
  finalizers: string[],
): Promise<KubeObject> {
  return until(`the finalizers of ${pod}`, 30_000, () =>
    kube.patch(`/api/v1/namespaces/${namespace}/pods/${pod}`, { metadata: { finalizers } }),
  )
}
