// A release that Swiss itself installs, upgrades, fails to upgrade, rolls back, loses half-way with its gateway and
// brings back again, and takes away at the end: with the real helm, which has its own opinion at each step.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { change, changed, compose, composeForm } from '../changes.ts'
import { leavesNothing, type Ref, rowBecomes, runsOf, uninstallIt } from '../checks.ts'
import { isReady } from '../controlPlane.ts'
import type { Gateway } from '../gateway.ts'
import { Phases } from '../phases.ts'
import { APPLY, ROLLBACK } from '../queries.ts'
import { podsOf } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'

const NAME = 'chat'
const CHART = join(import.meta.dirname, '../chart')

export const upgrade: Story = { name: 'upgrade', helm: ['4', '3'], run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const ref = { namespace, name: NAME }
  const before = await cluster.kube.everythingIn(namespace)
  const first = await context.gateway()
  const stream = await Phases.follow(context, first, ref)

  await installs(context, first, ref)
  await upgrades(context, first, ref)
  await fails(context, first, ref)
  await rollsBack(context, first, ref)
  stream.told(
    'null > APPLYING',
    'APPLYING > APPLIED',
    'APPLIED > APPLYING',
    'APPLYING > APPLIED',
    'APPLIED > APPLYING',
    'APPLYING > FAILED',
    'FAILED > APPLYING',
    'APPLYING > APPLIED',
  )
  await stream.stop()

  const second = await isKilledHalfWay(context, first, ref)
  await findsTheWayOut(context, second, ref)
  const runs = await runsOf(second, ref)
  assert.deepEqual(runs.map(({ action, outcome }) => `${action} ${outcome}`).reverse(), [
    'INSTALL SUCCEEDED',
    'APPLY SUCCEEDED',
    // After which nothing differed.
    'APPLY SUCCEEDED',
    'APPLY FAILED',
    'ROLLBACK SUCCEEDED',
    'APPLY FAILED',
    'APPLY FAILED',
    'ROLLBACK SUCCEEDED',
    'APPLY SUCCEEDED',
  ])

  // The hook's Job is nobody's but helm's, and helm leaves it.
  await context.kubectl('delete', 'job', '--all', '--namespace', namespace, '--cascade=foreground')
  await uninstallIt(second, ref, { waitFor: 'GONE' })
  await leavesNothing(context, namespace, before)
  note('taken away, and nothing left')
}

async function installs(context: StoryContext, gateway: Gateway, ref: Ref): Promise<void> {
  const start = performance.now()
  const hash = await compose(gateway, {
    ...ref,
    plan: {
      chart: { name: 'e2e-model', version: '0.1.0', path: CHART },
      source: { model: 'none' },
      engine: 'vllm',
      layers: [{ name: 'catalog', values: { replicas: 2, takes: '1s', preDeleteHook: false } }],
    },
  })
  await changed(gateway, APPLY, { ...ref, planHash: hash }, 1, 'INSTALL')
  context.note(`installed after ${seconds(start)}`)
  await runsPods(context, ref, 2)
}

async function upgrades(context: StoryContext, gateway: Gateway, ref: Ref): Promise<void> {
  const hash = await composeForm(gateway, ref, { replicas: 3 })
  await changed(gateway, APPLY, { ...ref, planHash: hash, expectedRevision: 1, note: 'more' }, 2, 'APPLY')
  await runsPods(context, ref, 3)
  assert.deepEqual(await valuesOf(context, ref), { replicas: 3, takes: '1s', preDeleteHook: false })
  // The same again changes nothing, and helm is not asked.
  const again = await change(gateway, APPLY, { ...ref, planHash: hash })
  assert.deepEqual([again.revision, again.run?.changed], [2, false], JSON.stringify(again))
  assert.equal((await archivesOf(context, ref)).join(), 'v1')
}

async function fails(context: StoryContext, gateway: Gateway, ref: Ref): Promise<void> {
  const hash = await composeForm(gateway, ref, { replicas: 'many' })
  const answer = await change(gateway, APPLY, { ...ref, planHash: hash })
  assert.equal(answer.__typename, 'HelmFailedError', JSON.stringify(answer))
  assert.match(answer.output ?? '', /UPGRADE FAILED/)
  context.note(`helm refused: ${answer.message?.slice(0, 120)}…`)
  const row = await rowBecomes(context, gateway, ref, 'failed', ({ phase }) => phase === 'FAILED')
  assert.deepEqual([row.revision, row.helmStatus, row.drift?.kind], [3, 'failed', 'LAST_APPLY_FAILED'])
}

async function rollsBack(context: StoryContext, gateway: Gateway, ref: Ref): Promise<void> {
  await changed(gateway, ROLLBACK, { ...ref, toRevision: 2 }, 4, 'ROLLBACK')
  assert.deepEqual(await valuesOf(context, ref), { replicas: 3, takes: '1s', preDeleteHook: false })
  const plan = await context.kubectl(
    'get',
    'configmap',
    `swiss-plan-${NAME}`,
    '-n',
    ref.namespace,
    '-o',
    'yaml',
  )
  assert.match(plan, /replicas: 3/)
  assert.doesNotMatch(plan, /many/)
  await runsPods(context, ref, 3)
}

/** `kill -9` of the gateway while helm waits for a hook; the next one tells what is left. */
async function isKilledHalfWay(context: StoryContext, gateway: Gateway, ref: Ref): Promise<Gateway> {
  const hash = await composeForm(gateway, ref, { preUpgradeHookStuck: true })
  change(gateway, APPLY, { ...ref, planHash: hash }).catch(() => undefined)
  await rowBecomes(context, gateway, ref, 'pending', ({ helmStatus }) => helmStatus === 'pending-upgrade')
  const killing = performance.now()
  gateway.process.kill()
  await gateway.process.exited
  const next = await context.gateway()
  await rowBecomes(context, next, ref, 'unfinished', ({ drift }) => drift?.kind === 'APPLY_UNFINISHED')
  context.note(`shown as unfinished ${seconds(killing)} after the kill`)
  await until('the lost run is closed', 120_000, async () => {
    const [run] = await runsOf(next, ref)
    return run?.outcome === 'FAILED' && run.error === 'lost with its gateway' ? true : undefined
  })
  return next
}

/** helm goes on with no upgrade while its newest record is pending; a rollback is the way out. */
async function findsTheWayOut(context: StoryContext, gateway: Gateway, ref: Ref): Promise<void> {
  const hash = await composeForm(gateway, ref, { preUpgradeHookStuck: false, replicas: 2 })
  const refused = await change(gateway, APPLY, { ...ref, planHash: hash })
  assert.equal(refused.__typename, 'HelmFailedError', JSON.stringify(refused))
  assert.match(refused.message ?? '', /another operation .* is in progress; roll it back to a revision/)
  assert.equal((await archivesOf(context, ref)).join(), 'v1,v2,v4')
  await changed(gateway, ROLLBACK, { ...ref, toRevision: 4 }, 6, 'ROLLBACK')
  const again = await composeForm(gateway, ref, { replicas: 2 })
  await changed(gateway, APPLY, { ...ref, planHash: again }, 7, 'APPLY')
  await runsPods(context, ref, 2)
}

async function runsPods({ cluster }: StoryContext, { namespace, name }: Ref, count: number): Promise<void> {
  await until(`${count} pods of ${name} run`, 120_000, async () => {
    cluster.check()
    const pods = await cluster.kube.list(
      `/api/v1/namespaces/${namespace}/pods`,
      `app.kubernetes.io/instance=${name}`,
    )
    const names = await podsOf(cluster.kube, namespace, name)
    return names.length === count && pods.filter(isReady).length === count ? true : undefined
  })
}

async function valuesOf({ helm }: StoryContext, { namespace, name }: Ref): Promise<unknown> {
  return JSON.parse(await helm('get', 'values', name, '--namespace', namespace, '--output', 'json'))
}

/** `v1`, `v2` … */
async function archivesOf({ kubectl }: StoryContext, { namespace }: Ref): Promise<string[]> {
  const names = await kubectl('get', 'secrets', '-n', namespace, '-l', 'owner=swiss', '-o', 'name')
  return names.split('\n').flatMap((line) => /\.(v\d+)$/.exec(line.trim())?.[1] ?? [])
}
