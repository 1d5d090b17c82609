// The story this project exists for: helm says "uninstalled" at once, the pods take 8 s, and the release stays
// visible, with what holds it back, until the last of them has left the API server.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Gateway } from '../gateway.ts'
import { installRelease, makePlan, POD_TIME_MS, podsOf, watchPods } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'
import {
  LIST,
  type ListData,
  type PhaseEvent,
  type Row,
  RUNS,
  type RunsData,
  STREAM,
  type StreamData,
  UNINSTALL,
  type UninstallData,
} from './uninstallQueries.ts'

const NAME = 'chat'
const NOTE = 'end-to-end story'
/** A read of the list while the release was going, and when its answer came. */
type Read = { row: Row; at: number }

export const uninstall: Story = { name: 'uninstall', helm: ['4', '3'], run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const before = await cluster.kube.everythingIn(namespace)
  assert.deepEqual(before, ['ConfigMap/kube-root-ca.crt', 'ServiceAccount/default'])
  await installRelease(context, namespace, NAME)
  await makePlan(cluster.kube, namespace, NAME)
  const starting = performance.now()
  const gateway = await context.gateway()
  note(`the gateway ready after ${seconds(starting)}`)
  await isListed(gateway, namespace)

  // Two watchers of the same end: the gateway's stream, and a bare watch of the pods beside it.
  const stream = await follow(context, gateway)
  const pods = await watchPods(cluster.kube, namespace, NAME)

  const start = performance.now()
  const { uninstallRelease: answer } = await gateway.ask<UninstallData>(UNINSTALL, {
    input: { namespace, name: NAME, waitFor: 'ACCEPTED', note: NOTE },
  })
  note(`accepted after ${seconds(start)}`)
  assert.equal(answer.__typename, 'UninstallReleasePayload', JSON.stringify(answer))
  assert.deepEqual([answer.alreadyInProgress, answer.deployment?.phase], [false, 'UNINSTALLING'])

  const reads = await readUntilGone(gateway, namespace, stream, start)
  const gone = stream.gone()
  assert(gone)
  note(`GONE after ${seconds(start, gone.at)}, ${reads.length} reads of the list until then`)
  assert.deepEqual(await gone.pods, [], 'GONE came while the API server still had pods of the release')
  const lastPodAt = pods.lastDeletedAt()
  note(`GONE ${Math.round(gone.at - lastPodAt)} ms after the last pod's DELETED at a bare watcher`)
  assert(gone.at - start >= POD_TIME_MS, `GONE before the ${POD_TIME_MS} ms that the pods take were over`)

  showsWhatHoldsItBack(reads, lastPodAt)
  saysEachStepOnce(stream.events)
  await leavesNothing(context, gateway, before)
  await isAuditedOnce(gateway, namespace)

  pods.stop()
  stream.healthy()
  await stream.stop()
  const stopping = performance.now()
  assert.equal(await gateway.stop(60_000), 'exit 0', 'how the gateway ended at SIGTERM')
  note(`the gateway ended ${seconds(stopping)} after SIGTERM`)
}

async function list(gateway: Gateway, namespace: string): Promise<Row[]> {
  return (await gateway.ask<ListData>(LIST, { ns: namespace })).deployments.nodes
}

async function isListed(gateway: Gateway, namespace: string): Promise<void> {
  const [row, ...others] = await list(gateway, namespace)
  assert(row, 'the release is not on the list')
  assert.deepEqual(others, [])
  assert.deepEqual(
    [row.name, row.phase, row.backend, row.revision, row.helmStatus, row.chart?.name],
    [NAME, 'APPLIED', 'HELM', 1, 'deployed', 'e2e-model'],
  )
  // `counting` is about an uninstall, and there is none yet.
  assert.deepEqual({ ...row.pods, counting: 0 }, { total: 3, ready: 3, terminating: 0, counting: 0, gpus: 3 })
  assert.equal(row.deletion, null)
}

/** The stream, once its snapshot is over. The moment GONE arrives, the API server is asked for the pods. */
async function follow({ cluster, namespace }: StoryContext, gateway: Gateway) {
  const events: PhaseEvent[] = []
  const broken: unknown[] = []
  let gone: { at: number; pods: Promise<string[]> } | undefined
  const stop = gateway.subscribe<StreamData>(
    STREAM,
    { ns: namespace, name: NAME },
    ({ deploymentPhaseChanged: event }) => {
      events.push(event)
      if (event.phase === 'GONE')
        gone ??= { at: performance.now(), pods: podsOf(cluster.kube, namespace, NAME) }
    },
    (error) => broken.push(error),
  )
  const healthy = (): void => {
    cluster.check()
    assert.deepEqual(broken, [], 'the subscription broke')
  }
  await until('the snapshot is over', 60_000, () => {
    healthy()
    return events.some((e) => e.kind === 'SNAPSHOT_COMPLETE') ? true : undefined
  })
  return { events, gone: () => gone, healthy, stop }
}

/** Reads the list again and again: until GONE the row must be on it, every time. */
async function readUntilGone(
  gateway: Gateway,
  namespace: string,
  stream: Awaited<ReturnType<typeof follow>>,
  start: number,
): Promise<Read[]> {
  const reads: Read[] = []
  for (;;) {
    stream.healthy()
    const rows = await list(gateway, namespace)
    const at = performance.now()
    const [row] = rows
    if (row === undefined) {
      // HTTP and WebSocket are two connections: the empty list may be here a moment before the event is.
      await until('GONE, after the row has left the list', 30_000, stream.gone, 10)
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

function showsWhatHoldsItBack(reads: Read[], lastPodAt: number): void {
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
    // The hook's pod has finished and is nobody's concern, whether it is still there or not.
    const pods = row.deletion.pods.filter((p) => !p.name.includes('pre-delete'))
    assert.deepEqual(
      pods.map((p) => [p.counts, p.reason, p.node, p.deletionTimestamp !== null]),
      Array.from({ length: 3 }, () => [true, 'WITHIN_GRACE', 'e2e-node', true]),
    )
    assert.deepEqual([row.deletion.podsRemaining, row.pods.counting, row.pods.gpus], [3, 3, 3])
    const blockers = row.deletion.blockers.filter((b) => b.kind === 'POD').map((b) => b.name)
    assert.deepEqual(blockers.sort(), pods.map((p) => p.name).sort())
  }
}

function saysEachStepOnce(events: PhaseEvent[]): void {
  const steps = events.filter((e) => e.kind === 'CHANGED')
  assert.deepEqual(
    steps.map((e) => `${e.previousPhase} > ${e.phase}`),
    ['APPLIED > UNINSTALLING', 'UNINSTALLING > GONE'],
  )
  assert(steps[0]?.deployment?.deletion, 'the event says UNINSTALLING, its row has no deletion')
  assert.deepEqual([steps[1]?.goneBecause, steps[1]?.deployment], ['UNINSTALLED', null])
}

/** Not on the list, not in helm, and in the namespace nothing that was not there before the install. */
async function leavesNothing(context: StoryContext, gateway: Gateway, before: string[]): Promise<void> {
  const { cluster, helm, namespace } = context
  assert.deepEqual(await list(gateway, namespace), [])
  assert.equal(await helm('list', '--short', '--namespace', namespace), '')
  // Kubernetes' own garbage collector, and the Lease of the uninstall, may take a moment.
  await until('the namespace is as it was before the install', 120_000, async () => {
    const left = (await cluster.kube.everythingIn(namespace)).filter((o) => !before.includes(o))
    if (left.length > 0) throw new Error(`left: ${left.join(', ')}`)
    return true
  })
}

async function isAuditedOnce(gateway: Gateway, namespace: string): Promise<void> {
  const { runs } = await gateway.ask<RunsData>(RUNS, { ns: namespace, name: NAME })
  assert.equal(runs.available, true)
  assert.deepEqual(
    runs.nodes.map((r) => [r.action, r.outcome, r.backend, r.note, r.error, r.endedAt !== null]),
    [['UNINSTALL', 'SUCCEEDED', 'HELM', NOTE, null, true]],
  )
}
