// An LLMService that Swiss upgrades and rolls back: the API server holds the object, its operator applies it and keeps
// the revisions, and what Swiss writes has to stand beside what both of them write.
import assert from 'node:assert/strict'
import { change, compose, composeForm } from '../changes.ts'
import { leavesNothing, type Ref, rowBecomes, runsOf, uninstallIt } from '../checks.ts'
import type { Gateway } from '../gateway.ts'
import { llmServicesPath, makeLlmService, startOperator } from '../llmService.ts'
import { Phases } from '../phases.ts'
import { APPLY, ROLLBACK } from '../queries.ts'
import type { Story, StoryContext } from '../story.ts'

const ROUTE_SETTLE = { 'serving.modelsphere.dev/route-settle': '1s' }
const OWN = { 'swiss.modelsphere.dev/profile': 'lab', 'example.test/owner': 'blue', ...ROUTE_SETTLE }
/** JSON readers make 9007199254740992 of it. */
const DIGITS = '9007199254740993'

export const serviceUpgrade: Story = { name: 'service-upgrade', run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, kubectl } = context
  const ref = { namespace, name: 'chat' }
  const before = await cluster.kube.everythingIn(namespace)
  await startOperator(context, 'operator', namespace)
  const gateway = await context.gateway()
  await makeLlmService(context, namespace, 'foreign')
  const made = await makeLlmService(context, namespace, ref.name, {
    annotations: OWN,
    labels: { team: 'blue' },
  })
  await runs(context, gateway, ref, 1, 2)
  await runs(context, gateway, { namespace, name: 'foreign' }, 1, 2)
  const foreign = await composeForm(gateway, { namespace, name: 'foreign' }, { replicaCount: 1 })
  const refused = await change(gateway, APPLY, { namespace, name: 'foreign', planHash: foreign })
  assert.equal(refused.__typename, 'ExternalReleaseError', JSON.stringify(refused))

  const stream = await Phases.follow(context, gateway, ref)
  const plan = await compose(gateway, {
    namespace,
    fromRelease: ref.name,
    formYaml: `replicaCount: 3\nseed: ${DIGITS}\n`,
  })
  const accepted = await change(gateway, APPLY, { ...ref, planHash: plan, expectedRevision: 1 })
  assert.deepEqual([accepted.__typename, accepted.run?.changed], ['ApplyPlanPayload', true])
  await runs(context, gateway, ref, 2, 3)
  const text = await kubectl('get', 'llmservice', ref.name, '-n', namespace, '-o', 'json')
  assert(text.includes(`"seed": ${DIGITS}`), 'the digits of a large integer')
  const object = await cluster.kube.get(`${llmServicesPath(namespace)}/${ref.name}`)
  assert.equal(object.metadata.uid, made.metadata.uid)
  assert.equal(object.metadata.labels?.team, 'blue')
  assert.deepEqual(
    { ...object.metadata.annotations, ...OWN, 'swiss.modelsphere.dev/action': 'apply' },
    object.metadata.annotations,
  )

  const unknown = await change(gateway, ROLLBACK, { ...ref, toRevision: 9 })
  assert.equal(unknown.__typename, 'RevisionNotFoundError', JSON.stringify(unknown))
  const back = await change(gateway, ROLLBACK, { ...ref, toRevision: 1, expectedRevision: 2 })
  assert.deepEqual([back.__typename, back.run?.changed], ['ApplyPlanPayload', true], JSON.stringify(back))
  await runs(context, gateway, ref, 3, 2)
  const restored = await cluster.kube.get(`${llmServicesPath(namespace)}/${ref.name}`)
  assert.deepEqual(restored.spec, made.spec)
  stream.told('APPLIED > APPLYING', 'APPLYING > APPLIED', 'APPLIED > APPLYING', 'APPLYING > APPLIED')
  await stream.stop()
  assert.deepEqual(
    (await runsOf(gateway, ref)).map(({ action, outcome }) => `${action} ${outcome}`).reverse(),
    ['APPLY SUCCEEDED', 'ROLLBACK SUCCEEDED'],
  )

  for (const name of [ref.name, 'foreign']) {
    await uninstallIt(gateway, { namespace, name }, { waitFor: 'GONE' })
  }
  await leavesNothing(context, namespace, before)
}

async function runs(
  context: StoryContext,
  gateway: Gateway,
  ref: Ref,
  revision: number,
  pods: number,
): Promise<void> {
  await rowBecomes(context, gateway, ref, `revision ${revision} with ${pods} pods`, (row) => {
    const { ready, total } = row.pods
    return row.phase === 'APPLIED' && row.revision === revision && ready === pods && total === pods
  })
}
