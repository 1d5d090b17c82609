// LLMServices with the real CRD machinery and an operator that is a plain client of this API server: asked for through
// the gateway, deleted by somebody else, and gone while no gateway ran.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAuditedOnce, leavesNothing, type Ref, rowBecomes, rowOf, uninstallIt } from '../checks.ts'
import type { Gateway } from '../gateway.ts'
import { llmServicesPath, makeLlmService, startOperator } from '../llmService.ts'
import { GOES_WELL, Phases } from '../phases.ts'
import { makePlan, podsOf } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'

export const llmService: Story = { name: 'llmservice', run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace } = context
  const { kube } = cluster
  const before = await kube.everythingIn(namespace)
  await startOperator(context, 'operator', namespace)
  const gateway = await context.gateway()
  for (const name of ['asked', 'planned', 'deleted', 'orphaned']) {
    await makeLlmService(context, namespace, name)
    const row = await rowBecomes(context, gateway, { namespace, name }, 'two pods ready', (r) => {
      return r.phase === 'APPLIED' && r.pods.ready === 2
    })
    assert.deepEqual([row.backend, row.revision, row.chart?.name], ['LLMSERVICE', 1, 'vllm'])
  }
  await makePlan(kube, namespace, 'planned', { archives: [1, 2], autoscale: true })

  await Promise.all([
    goes(context, gateway, { namespace, name: 'asked' }),
    goes(context, gateway, { namespace, name: 'planned' }),
    deletedByHand(context, gateway, { namespace, name: 'deleted' }),
  ])
  const next = await goneWithoutGateway(context, gateway, { namespace, name: 'orphaned' })
  await leavesNothing(context, namespace, before)
  await unstaged(context)
  assert.equal(await next.stop(60_000), 'exit 0')
}

/** Asked for through the gateway: the operator's stages are shown, and GONE is when the object is gone. */
async function goes(context: StoryContext, gateway: Gateway, ref: Ref): Promise<void> {
  const { kube } = context.cluster
  const object = `${llmServicesPath(ref.namespace)}/${ref.name}`
  let atGone: Promise<unknown[]> | undefined
  const stream = await Phases.follow(context, gateway, ref, (event) => {
    if (event.phase === 'GONE')
      atGone = Promise.all([kube.find(object), podsOf(kube, ref.namespace, ref.name)])
  })
  const start = performance.now()
  const answer = await uninstallIt(gateway, ref, { note: `for ${ref.name}` })
  assert.equal(answer.deployment?.phase, 'UNINSTALLING')
  const stages = new Set<string>()
  while (stream.gone() === undefined) {
    stream.healthy()
    const row = await rowOf(gateway, ref)
    if (row !== undefined) {
      assert.deepEqual([row.phase, row.backend], ['UNINSTALLING', 'LLMSERVICE'])
      assert.equal(row.deletion?.note, `for ${ref.name}`)
      stages.add(row.deletion.stage ?? 'none yet')
      for (const pod of row.deletion.pods ?? []) assert.equal(pod.counts, null, 'the operator counts')
    }
    assert(performance.now() - start < 120_000, `no GONE; the row: ${JSON.stringify(row)}`)
    await sleep(200)
  }
  context.note(
    `${ref.name}: GONE after ${seconds(start, stream.gone()?.arrived)}, stages ${[...stages].join(', ')}`,
  )
  assert.deepEqual(await atGone, [undefined, []])
  assert(stages.has('PodsTerminating'), 'the stage in which the pods go was not shown')
  stream.told(...GOES_WELL)
  assert.equal(stream.gone()?.goneBecause, 'UNINSTALLED')
  await isAuditedOnce(gateway, ref, { backend: 'LLMSERVICE', note: `for ${ref.name}` })
}

async function deletedByHand(context: StoryContext, gateway: Gateway, ref: Ref): Promise<void> {
  const stream = await Phases.follow(context, gateway, ref)
  await context.kubectl('delete', 'llmservice', ref.name, '--namespace', ref.namespace, '--wait=false')
  const gone = await stream.reaches('GONE')
  assert.equal(gone.goneBecause, 'UNINSTALLED')
  stream.told(...GOES_WELL)
  await isAuditedOnce(gateway, ref, { backend: 'LLMSERVICE', actor: null })
}

/** The gateway is killed once the uninstall is accepted, and the object vanishes before the next one starts. */
async function goneWithoutGateway(context: StoryContext, gateway: Gateway, ref: Ref): Promise<Gateway> {
  const { kube } = context.cluster
  await uninstallIt(gateway, ref, { note: 'nobody will see it go' })
  gateway.process.kill()
  await gateway.process.exited
  await until('the LLMService has gone', 120_000, async () => {
    const object = await kube.find(`${llmServicesPath(ref.namespace)}/${ref.name}`)
    return object === undefined ? true : undefined
  })
  const next = await context.gateway()
  await until('its row has left', 120_000, async () =>
    (await rowOf(next, ref)) === undefined ? true : undefined,
  )
  await isAuditedOnce(next, ref, { backend: 'LLMSERVICE', note: 'nobody will see it go' })
  return next
}

/** An operator that says nothing of its teardown and drops the object almost at once. */
async function unstaged(context: StoryContext): Promise<void> {
  const namespace = `${context.namespace}-unstaged`
  await context.makeNamespace(namespace)
  const before = await context.cluster.kube.everythingIn(namespace)
  await startOperator(context, 'unstaged-operator', namespace, '--unstaged')
  const gateway = await context.gateway({ name: 'unstaged', namespaces: [namespace] })
  const ref = { namespace, name: 'quick' }
  await makeLlmService(context, namespace, ref.name)
  await rowBecomes(context, gateway, ref, 'applied, two pods ready', (r) => {
    return r.phase === 'APPLIED' && r.pods.ready === 2
  })
  const stream = await Phases.follow(context, gateway, ref)
  await uninstallIt(gateway, ref)
  await stream.reaches('GONE')
  stream.told(...GOES_WELL)
  await isAuditedOnce(gateway, ref, { backend: 'LLMSERVICE' })
  await leavesNothing(context, namespace, before)
  assert.equal(await gateway.stop(60_000), 'exit 0')
}
