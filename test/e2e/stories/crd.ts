// The CRD of LLMServices is installed while the gateway runs, taken away while it is watched, and installed again.
import assert from 'node:assert/strict'
import { rowBecomes, rowOf, rowsOf, runsOf, uninstallIt } from '../checks.ts'
import { LLM_SERVICE_CRD } from '../crds.ts'
import type { Gateway } from '../gateway.ts'
import { llmServicesPath, makeLlmService } from '../llmService.ts'
import { GOES_WELL, Phases } from '../phases.ts'
import { CLUSTER, type ClusterData } from '../queries.ts'
import { installRelease, makePlan } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const NAME = 'llmservices.serving.modelsphere.dev'
const HELD = { finalizers: ['swiss-e2e/held'] }

export const crd: Story = { name: 'crd', cluster: { crds: [] }, run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const { kube } = cluster
  const chat = { namespace, name: 'chat' }
  const stays = { namespace, name: 'stays' }
  for (const { name } of [chat, stays]) {
    await installRelease(context, namespace, name, '--set', 'takes=1s')
    await makePlan(kube, namespace, name)
  }
  const gateway = await context.gateway()
  const follow = (name: string): Promise<Phases> => Phases.follow(context, gateway, { namespace, name })
  const staysStream = await follow(stays.name)
  await served(gateway, false)
  const chatStream = await follow(chat.name)
  await uninstallIt(gateway, chat)
  await chatStream.reaches('GONE')
  chatStream.told(...GOES_WELL)

  // It comes.
  const [asked, unasked] = [await follow('asked'), await follow('unasked')]
  await kube.create(CRDS, LLM_SERVICE_CRD)
  const created = performance.now()
  await established(context)
  await makeLlmService(context, namespace, 'asked', HELD)
  await makeLlmService(context, namespace, 'unasked', HELD)
  for (const name of ['asked', 'unasked']) {
    const ref = { namespace, name }
    const row = await rowBecomes(context, gateway, ref, 'is listed', (r) => r.backend === 'LLMSERVICE')
    assert.equal(row.phase, 'APPLYING')
  }
  note(`listed ${seconds(created)} after the CRD was made`)
  await served(gateway, true)

  // It goes, with all objects: one that Swiss was asked for, and one that nobody asked it for.
  await uninstallIt(gateway, { namespace, name: 'asked' }, { note: 'before the CRD went' })
  await kube.delete(`${CRDS}/${NAME}`)
  await unasked.reaches('UNINSTALLING')
  for (const name of ['asked', 'unasked']) {
    await kube.patch(`${llmServicesPath(namespace)}/${name}`, { metadata: { finalizers: [] } })
  }
  await until('the CRD has gone', 120_000, async () =>
    (await kube.find(`${CRDS}/${NAME}`)) === undefined ? true : undefined,
  )
  await until('the one that nobody asked for has left', 120_000, async () =>
    (await rowOf(gateway, { namespace, name: 'unasked' })) === undefined ? true : undefined,
  )
  await served(gateway, false)
  const end = await until('its stream says so', 30_000, () =>
    unasked.events.find((e) => e.kind === 'REMOVED' || e.phase === 'GONE'),
  )
  note(`without its CRD, the one that nobody asked for left as ${end.phase ?? end.kind}`)
  const row = await rowOf(gateway, { namespace, name: 'asked' })
  note(`the one that was asked for: ${row ? JSON.stringify(row.deletion?.blockers) : 'GONE'}`)
  if (row !== undefined) {
    assert.equal(row.phase, 'UNINSTALLING')
    assert(row.deletion?.blockers.some((b) => b.kind === 'LOOKUP_FAILED'))
    assert.equal(asked.gone(), undefined)
  }

  // And it comes again: what could not be looked up can be, and new objects are listed.
  await kube.create(CRDS, LLM_SERVICE_CRD)
  await established(context)
  await makeLlmService(context, namespace, 'new')
  await rowBecomes(context, gateway, { namespace, name: 'new' }, 'is listed', () => true)
  await served(gateway, true)
  await asked.reaches('GONE')
  asked.told('null > APPLYING', 'APPLYING > UNINSTALLING', 'UNINSTALLING > GONE')
  const runs = await runsOf(gateway, { namespace, name: 'asked' })
  assert.deepEqual(
    runs.map((r) => [r.outcome, r.note]),
    [['SUCCEEDED', 'before the CRD went']],
  )
  assert.deepEqual((await rowsOf(gateway, namespace)).map((r) => r.name).sort(), ['new', 'stays'])
  // Helm releases have nothing to do with it.
  staysStream.told()
  await uninstallIt(gateway, stays)
  await staysStream.reaches('GONE')
  staysStream.told(...GOES_WELL)
  assert.equal(await gateway.stop(60_000), 'exit 0')
}

/** What the gateway says of LLMServices, with a warning when there are none. */
async function served(gateway: Gateway, expected: boolean): Promise<void> {
  await until(`LLMServices are ${expected ? '' : 'not '}served`, 120_000, async () => {
    const { cluster } = await gateway.ask<ClusterData>(CLUSTER)
    const warned = cluster.warnings.some((warning) => /LLMService/.test(warning))
    if (cluster.llmServicesServed === expected && warned === !expected) return true
    throw new Error(JSON.stringify(cluster))
  })
}

async function established({ cluster }: StoryContext): Promise<void> {
  await until('the kind is served', 60_000, () => cluster.kube.find(llmServicesPath('default')))
}
