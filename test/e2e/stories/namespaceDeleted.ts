// Somebody deletes the namespace, which takes the plans, the archives and helm's records with it and lets nothing new
// be made in it, not even a Lease: an uninstall that has begun is finished, and other releases leave the list.
import assert from 'node:assert/strict'
import { askUninstall, isAuditedOnce, rowBecomes, rowsOf, runsOf, uninstallIt } from '../checks.ts'
import { GOES_WELL, Phases } from '../phases.ts'
import { installRelease, makePlan, podsOf } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'

export const namespaceDeleted: Story = { name: 'namespace-deleted', helm: ['4', '3'], run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const { kube } = cluster
  const doomed = `${namespace}-doomed`
  await context.makeNamespace(doomed)
  const going = { namespace: doomed, name: 'going' }
  const installed = { namespace: doomed, name: 'installed' }
  const elsewhere = { namespace, name: 'elsewhere' }
  for (const { name } of [going, installed]) {
    await installRelease(context, doomed, name)
    await makePlan(kube, doomed, name, { archives: [1], autoscale: true })
  }
  await makePlan(kube, namespace, elsewhere.name)
  const gateway = await context.gateway({ namespaces: [namespace, doomed] })
  const streams = {
    going: await Phases.follow(context, gateway, going),
    installed: await Phases.follow(context, gateway, installed),
    elsewhere: await Phases.follow(context, gateway, elsewhere),
  }
  await uninstallIt(gateway, going, { waitFor: 'HELM', note: 'before the namespace goes' })
  await rowBecomes(context, gateway, going, 'pods go', (r) => r.deletion?.stage === 'PODS_TERMINATING')
  let podsAtGone: Promise<string[]> | undefined
  await Phases.follow(context, gateway, going, (event) => {
    if (event.phase === 'GONE') podsAtGone = podsOf(kube, doomed, going.name)
  })

  // Something that holds the namespace, so that there is time to ask for what cannot be had in it.
  await kube.create(`/api/v1/namespaces/${doomed}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'holds-the-namespace', finalizers: ['swiss-e2e/held'] },
  })
  await kube.delete(`/api/v1/namespaces/${doomed}`)
  const deleted = performance.now()
  const refused = await askUninstall(gateway, installed)
  note(`an uninstall in a namespace that goes: ${refused.__typename}: ${refused.message ?? refused.output}`)
  const gone = await streams.going.reaches('GONE')
  note(`GONE ${seconds(deleted, gone.arrived)} after the namespace was deleted`)
  assert.deepEqual(await podsAtGone, [])
  streams.going.told(...GOES_WELL)
  await isAuditedOnce(gateway, going, { note: 'before the namespace goes' })

  const left = await streams.installed.reaches('GONE')
  note(`the other one left: ${left.goneBecause}; ${streams.installed.steps().join(', ')}`)
  assert.deepEqual(await rowsOf(gateway, doomed), [])
  for (const run of await runsOf(gateway, installed)) assert.notEqual(run.outcome, 'STARTED')
  await kube.patch(`/api/v1/namespaces/${doomed}/configmaps/holds-the-namespace`, {
    metadata: { finalizers: [] },
  })
  await until('the namespace has gone', 120_000, async () =>
    (await kube.find(`/api/v1/namespaces/${doomed}`)) === undefined ? true : undefined,
  )

  // The other namespace is as it was, and the gateway at work.
  streams.elsewhere.told()
  await kube.delete(`/api/v1/namespaces/${namespace}/configmaps/swiss-plan-${elsewhere.name}`)
  await streams.elsewhere.reaches('GONE')
  assert.equal(await gateway.stop(60_000), 'exit 0')
}
