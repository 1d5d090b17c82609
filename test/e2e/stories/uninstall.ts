// The story this project exists for: helm says "uninstalled" at once, the pods take 8 s, and the release stays
// visible, with what holds it back, until the last of them has left the API server.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAuditedOnce, leavesNothing, rowsOf, uninstallIt } from '../checks.ts'
import type { Gateway } from '../gateway.ts'
import { GOES_WELL, Phases } from '../phases.ts'
import type { Row } from '../queries.ts'
import { installRelease, makePlan, POD_TIME_MS, podsOf, watchPods } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'

const NAME = 'chat'
const HOOK = `${NAME}-e2e-model-post-install`
const NOTE = 'end-to-end story'
/** A read of the list while the release was going, and when its answer came. */
type Read = { row: Row; at: number }

export const uninstall: Story = { name: 'uninstall', helm: ['4', '3'], run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const ref = { namespace, name: NAME }
  const before = await cluster.kube.everythingIn(namespace)
  assert.deepEqual(before, ['ConfigMap/kube-root-ca.crt', 'ServiceAccount/default'])
  await installRelease(context, namespace, NAME, '--set', 'postInstallHook=true')
  const finished = await finishedHook(context)
  await makePlan(cluster.kube, namespace, NAME)
  const starting = performance.now()
  const gateway = await context.gateway()
  note(`the gateway ready after ${seconds(starting)}`)
  await isListed(gateway, namespace)

  // Two watchers of the same end: the gateway's stream, and a bare watch of the pods beside it. The moment GONE
  // arrives, the API server is asked for the pods.
  let podsAtGone: Promise<string[]> | undefined
  const stream = await Phases.follow(context, gateway, ref, (event) => {
    if (event.phase === 'GONE') podsAtGone = podsOf(cluster.kube, namespace, NAME)
  })
  const pods = await watchPods(cluster.kube, namespace, NAME)

  const start = performance.now()
  const answer = await uninstallIt(gateway, ref, { waitFor: 'ACCEPTED', note: NOTE })
  note(`accepted after ${seconds(start)}`)
  assert.equal(answer.deployment?.phase, 'UNINSTALLING')

  const reads = await readUntilGone(gateway, namespace, stream, start)
  const gone = stream.gone()
  assert(gone)
  note(`GONE after ${seconds(start, gone.arrived)}, ${reads.length} reads of the list until then`)
  assert.deepEqual(await podsAtGone, [], 'GONE came while the API server still had pods of the release')
  const lastPodAt = pods.lastDeletedAt()
  note(`GONE ${Math.round(gone.arrived - lastPodAt)} ms after the last pod's DELETED at a bare watcher`)
  assert(
    gone.arrived - start >= POD_TIME_MS,
    `GONE before the ${POD_TIME_MS} ms that the pods take were over`,
  )

  showsWhatHoldsItBack(reads, lastPodAt, finished)
  saysEachStepOnce(stream)
  assert.deepEqual(await rowsOf(gateway, namespace), [])
  assert.equal(await context.helm('list', '--short', '--namespace', namespace), '')
  await leavesNothing(context, namespace, [...before, `Job/${HOOK}`, `Pod/${finished}`])
  await isAuditedOnce(gateway, ref, { backend: 'HELM', note: NOTE })

  pods.stop()
  stream.healthy()
  await stream.stop()
  const stopping = performance.now()
  assert.equal(await gateway.stop(60_000), 'exit 0', 'how the gateway ended at SIGTERM')
  note(`the gateway ended ${seconds(stopping)} after SIGTERM`)
}

/** The pod of the post-install hook, which helm leaves to itself: it has the release's labels, and holds nothing. */
async function finishedHook({ cluster, namespace }: StoryContext): Promise<string> {
  const pods = await cluster.kube.list(`/api/v1/namespaces/${namespace}/pods`, `job-name=${HOOK}`)
  assert.deepEqual(
    pods.map((p) => p.status?.phase),
    ['Succeeded'],
  )
  return pods[0]?.metadata.name ?? ''
}

async function isListed(gateway: Gateway, namespace: string): Promise<void> {
  const [row, ...others] = await rowsOf(gateway, namespace)
  assert(row, 'the release is not on the list')
  assert.deepEqual(others, [])
  assert.deepEqual(
    [row.name, row.phase, row.backend, row.revision, row.helmStatus, row.chart?.name],
    [NAME, 'APPLIED', 'HELM', 1, 'deployed', 'e2e-model'],
  )
  // `counting` is about an uninstall, and there is none yet.
  assert.deepEqual({ ...row.pods, counting: 0 }, { total: 4, ready: 3, terminating: 0, counting: 0, gpus: 3 })
  assert.equal(row.deletion, null)
}

/** Reads the list again and again: until GONE the row must be on it, every time. */
async function readUntilGone(
  gateway: Gateway,
  namespace: string,
  stream: Phases,
  start: number,
): Promise<Read[]> {
  const reads: Read[] = []
  for (;;) {
    stream.healthy()
    const rows = await rowsOf(gateway, namespace)
    const at = performance.now()
    const [row] = rows
    if (row === undefined) {
      // HTTP and WebSocket are two connections: the empty list may be here a moment before the event is.
      await until('GONE, after the row has left the list', 30_000, () => stream.gone(), 10)
    }
    if (stream.gone() !== undefined) return reads
    assert(row)
    assert.equal(row.phase, 'UNINSTALLING')
    assert.equal(row.deletion?.note, NOTE)
    reads.push({ row, at })
    assert(at - start < 120_000, `no GONE within 120 s; the row: ${JSON.stringify(row)}`)
    await sleep(200)
  }
}

function showsWhatHoldsItBack(reads: Read[], lastPodAt: number, finished: string): void {
  // Just before a pod goes its kubelet deletes it once more with grace 0: the last moment looks different.
  const waiting = reads.filter(
    ({ row, at }) => row.pods.terminating === 3 && row.helmStatus === null && at < lastPodAt - 500,
  )
  assert(
    waiting.length > 5,
    `only ${waiting.length} of ${reads.length} reads show the row without helm's record`,
  )
  for (const { row } of waiting) {
    assert.equal(row.deletion?.stage, 'PODS_TERMINATING')
    // The pod of the pre-delete hook has finished and is nobody's concern, whether it is still there or not.
    const all = (row.deletion.pods ?? []).filter((p) => !p.name.includes('pre-delete'))
    const done = all.find((p) => p.name === finished)
    assert.deepEqual([done?.counts, done?.reason], [false, 'FINISHED'])
    assert(row.deletion.leftBehind.some((one) => one.kind === 'Pod' && one.name === finished))
    const pods = all.filter((p) => p !== done)
    assert.deepEqual(
      pods.map((p) => [p.counts, p.reason, p.node, p.deletionTimestamp !== null]),
      Array.from({ length: 3 }, () => [true, 'WITHIN_GRACE', 'e2e-node', true]),
    )
    assert.deepEqual([row.deletion.podsRemaining, row.pods.counting, row.pods.gpus], [3, 3, 3])
    const blockers = row.deletion.blockers.filter((b) => b.kind === 'POD').map((b) => b.name)
    assert.deepEqual(blockers.sort(), pods.map((p) => p.name).sort())
  }
}

function saysEachStepOnce(stream: Phases): void {
  stream.told(...GOES_WELL)
  const steps = stream.events.filter((e) => e.kind === 'CHANGED')
  assert(steps[0]?.deployment?.deletion, 'the event says UNINSTALLING, its row has no deletion')
  assert.deepEqual([steps[1]?.goneBecause, steps[1]?.deployment], ['UNINSTALLED', null])
}
