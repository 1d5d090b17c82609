// Two gateways on one cluster: what one is asked for the other one shows, only one helm runs, and when the one that
// accepted an uninstall is killed the other one finishes it.
import assert from 'node:assert/strict'
import { askUninstall, isAuditedOnce, leavesNothing, type Ref, rowBecomes, uninstallIt } from '../checks.ts'
import type { Gateway } from '../gateway.ts'
import { HelmLog } from '../helmLog.ts'
import { GOES_WELL, Phases } from '../phases.ts'
import { installRelease, makePlan, podsOf } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds } from '../wait.ts'

export const replicas: Story = { name: 'replicas', run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const before = await cluster.kube.everythingIn(namespace)
  const both = { namespace, name: 'asked-of-both' }
  const survivor = { namespace, name: 'outlives-one' }
  for (const { name } of [both, survivor]) {
    await installRelease(context, namespace, name)
    await makePlan(cluster.kube, namespace, name, { archives: [1], autoscale: true })
  }
  const helm = new HelmLog(context)
  // One file of runs for both, as one database would be.
  const options = { helmBin: helm.path, audit: `${context.dir}/runs.db` }
  const a = await context.gateway({ ...options, name: 'a' })
  const b = await context.gateway({ ...options, name: 'b' })

  await askedOfBoth(context, [a, b], both)
  assert.equal(helm.uninstalls(both.name).length, 1)

  const [streamB] = await Promise.all([Phases.follow(context, b, survivor)])
  await uninstallIt(a, survivor, { waitFor: 'HELM', note: 'its gateway will be killed' })
  await rowBecomes(context, b, survivor, 'pods go', (row) => row.deletion?.stage === 'PODS_TERMINATING')
  a.process.kill()
  const killed = performance.now()
  const gone = await streamB.reaches('GONE')
  note(`GONE ${seconds(killed, gone.arrived)} after the one that had accepted it was killed`)
  streamB.told(...GOES_WELL)
  assert.deepEqual(await podsOf(cluster.kube, namespace, survivor.name), [])
  await isAuditedOnce(b, survivor, { note: 'its gateway will be killed' })
  assert.equal(helm.uninstalls(survivor.name).length, 1)
  await leavesNothing(context, namespace, before)
  assert.equal(await b.stop(60_000), 'exit 0')
}

/** At the same moment: one accepts, and the other one says that it is on its way, or that somebody is at it. */
async function askedOfBoth(context: StoryContext, [a, b]: [Gateway, Gateway], ref: Ref): Promise<void> {
  const streams = await Promise.all([Phases.follow(context, a, ref), Phases.follow(context, b, ref)])
  const answers = await Promise.all([askUninstall(a, ref), askUninstall(b, ref)])
  const said = answers.map((answer) => `${answer.__typename} ${answer.alreadyInProgress ?? ''}`.trim()).sort()
  context.note(`asked of both at once: ${said.join(', ')}`)
  assert.equal(said.filter((one) => one === 'UninstallReleasePayload false').length, 1)
  assert(
    said.some((one) => ['UninstallReleasePayload true', 'ApplyInProgressError'].includes(one)),
    JSON.stringify(answers),
  )
  for (const stream of streams) {
    const gone = await stream.reaches('GONE')
    assert.equal(gone.goneBecause, 'UNINSTALLED')
    stream.told(...GOES_WELL)
    await stream.stop()
  }
  const [one, other] = [await isAuditedOnce(a, ref), await isAuditedOnce(b, ref)]
  assert.deepEqual(one, other)
}
