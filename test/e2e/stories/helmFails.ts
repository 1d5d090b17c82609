// A helm that fails: the pre-delete hook of the chart ends with an error. The release is FAILED with helm's own words,
// nothing else is touched, and it can be asked for again.
import assert from 'node:assert/strict'
import { askUninstall, leavesNothing, rowBecomes, runsOf, uninstallIt } from '../checks.ts'
import { Phases } from '../phases.ts'
import { installRelease, makePlan, podsOf } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'

const NAME = 'chat'

export const helmFails: Story = { name: 'helm-fails', helm: ['4', '3'], run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const ref = { namespace, name: NAME }
  const before = await cluster.kube.everythingIn(namespace)
  await installRelease(context, namespace, NAME, '--set', 'preDeleteHookFails=true')
  await makePlan(cluster.kube, namespace, NAME, { archives: [1, 2], autoscale: true })
  const installed = await cluster.kube.everythingIn(namespace)
  const gateway = await context.gateway()
  const stream = await Phases.follow(context, gateway, ref)

  const answer = await askUninstall(gateway, ref, { waitFor: 'HELM' })
  assert.equal(answer.__typename, 'HelmFailedError', JSON.stringify(answer))
  note(`helm says: ${answer.message?.slice(0, 150)}`)
  const row = await rowBecomes(context, gateway, ref, 'FAILED', (now) => now.phase === 'FAILED')
  assert.deepEqual([row.drift?.kind, row.deletion], ['LAST_UNINSTALL_FAILED', null])
  assert.deepEqual(stream.steps(), ['APPLIED > UNINSTALLING', 'UNINSTALLING > FAILED'])
  assert.equal((await podsOf(cluster.kube, namespace, NAME)).length, 3)
  // The hook's Job and its pod are helm's to leave; everything that was there is there.
  const now = await cluster.kube.everythingIn(namespace)
  assert.deepEqual(
    installed.filter((one) => !now.includes(one)),
    [],
  )
  const plan = await cluster.kube.get(`/api/v1/namespaces/${namespace}/configmaps/swiss-plan-${NAME}`)
  assert.equal(plan.metadata.labels?.['swiss.modelsphere.dev/phase'], undefined)
  const [failed, ...others] = await runsOf(gateway, ref)
  assert.deepEqual([failed?.outcome, others], ['FAILED', []])
  assert.match(failed?.error ?? '', /fail/i)

  // Once more; without a wait, the answer is the payload.
  await uninstallIt(gateway, ref)
  await rowBecomes(context, gateway, ref, 'FAILED again', (r) => r.phase === 'FAILED')
  assert.deepEqual(stream.steps().slice(2), ['FAILED > UNINSTALLING', 'UNINSTALLING > FAILED'])
  assert.equal((await runsOf(gateway, ref)).length, 2)

  // Somebody takes it away by hand; what is left is a plan without a release, and one more uninstall ends it.
  await context.helm('uninstall', NAME, '--namespace', namespace, '--no-hooks')
  await rowBecomes(context, gateway, ref, 'helm has dropped it', (r) => r.helmStatus === null)
  await uninstallIt(gateway, ref)
  const gone = await stream.reaches('GONE')
  assert.equal(gone.goneBecause, 'UNINSTALLED')
  assert.deepEqual(await podsOf(cluster.kube, namespace, NAME), [])
  const outcomes = (await runsOf(gateway, ref)).map((r) => r.outcome).sort()
  assert.deepEqual(outcomes, ['FAILED', 'FAILED', 'SUCCEEDED'])
  await cluster.kube.delete(`/apis/batch/v1/namespaces/${namespace}/jobs/${NAME}-e2e-model-pre-delete`, {
    propagationPolicy: 'Background',
  })
  await leavesNothing(context, namespace, before)
  assert.equal(await gateway.stop(60_000), 'exit 0')
}
