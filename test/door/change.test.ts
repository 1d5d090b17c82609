/**
 * A canary-owned service from its upgrade to its end, as the README tells it: composed, applied, rolled back, taken
 * away, by one gateway and by two of which each step goes to the other one.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Cluster, type Gateway, startCluster, startServe } from './support/gateway.ts'
import { changesOf, type Follower, followEvents, followSocket } from './support/phases.ts'
import { Processes } from './support/processes.ts'
import { blocksOf, README } from './support/readme.ts'
import { until } from './support/until.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

/** What a document selects is known to whoever wrote it. */
type Data = Awaited<ReturnType<Gateway['ask']>>

const namespace = 'team-b'
const name = 'assistant-canary'

/** The operations of the README's story by name, word for word. */
const operations = new Map(
  blocksOf(README)
    .filter(({ language }) => language === 'graphql')
    .map(({ text }) => [/^mutation (\w+)/.exec(text)?.[1] ?? '', text]),
)

describe.each([
  ['one gateway', 1],
  ['two gateways in turn', 2],
])('%s', (_what, count) => {
  const processes = new Processes()
  let cluster: Cluster
  const gateways: Gateway[] = []
  const followers: Follower[] = []
  let steps = 0
  let plan = ''

  /** The next step goes to the next gateway. */
  const next = () => gateways[steps++ % gateways.length] as Gateway
  const tell = async (operation: string, variables: object = {}) => {
    const text = operations.get(operation)
    if (!text) throw new Error(`the README has no operation ${operation}`)
    const [answer]: Data[] = Object.values(await next().ask(text, variables))
    return answer
  }
  const row = () =>
    next().row(
      namespace,
      name,
      'phase revision drift { kind } canary { state verified } pods { total ready }',
    )
  const becomes = (what: string, fits: (row: Data) => boolean) =>
    until(what, async () => {
      const found = await row()
      return found && fits(found) && found
    })

  beforeAll(async () => {
    cluster = await startCluster(processes)
    for (let number = 1; number <= count; number++) {
      const flags = ['--audit-db', `${processes.dir}/runs-${number}.db`]
      gateways.push(await startServe(processes, [...cluster.serveArgs, ...flags]))
    }
    for (const { url } of gateways) followers.push(followSocket(url), await followEvents(url))
    for (const follower of followers) await follower.synced()
  })

  afterAll(async () => {
    for (const follower of followers) await follower.stop()
    await processes.stop()
  })

  it('shows what an upgrade would change, and changes nothing', async () => {
    const before = await row()
    expect(before).toMatchObject({ phase: 'APPLIED', revision: 1, canary: { state: 'OWNED' } })
    const composed = await tell('Compose')
    expect(composed).toMatchObject({
      __typename: 'ComposePlanPayload',
      changes: [{ path: 'replicaCount', from: 1, to: 2 }],
      warnings: [],
    })
    plan = composed.plan.hash
    expect(await row()).toEqual(before)
  })

  it('applies it when the revision is the expected one, and everybody sees it go', async () => {
    expect(await tell('Apply', { plan })).toMatchObject({
      __typename: 'ApplyPlanPayload',
      run: { outcome: 'SUCCEEDED', changed: true },
    })
    for (const follower of followers) await follower.reaches(name, 'APPLYING')
    for (const follower of followers) await follower.reaches(name, 'APPLIED')
    const upgraded = await becomes(
      'two pods',
      ({ revision, pods: { ready } }) => revision === 2 && ready === 2,
    )
    expect(upgraded).toMatchObject({ drift: null, canary: { state: 'OWNED', verified: true } })
    // It was composed for the revision that it has replaced.
    expect(await tell('Apply', { plan })).toMatchObject({ code: 'PRECONDITION_FAILED' })
  })

  it('rolls it back', async () => {
    expect(await tell('Back')).toMatchObject({
      __typename: 'ApplyPlanPayload',
      run: { outcome: 'SUCCEEDED', changed: true },
    })
    const back = await becomes(
      'one pod',
      ({ phase, revision, pods: { total } }) => phase === 'APPLIED' && revision === 3 && total === 1,
    )
    expect(back).toMatchObject({ drift: null, canary: { state: 'OWNED' } })
    const query = `{ release(namespace: "${namespace}", name: "${name}") { revisions { nodes { revision current planHash } } } }`
    const { nodes } = (await next().ask(query)).release.revisions
    expect(nodes.map(({ revision }: { revision: number }) => revision)).toEqual([3, 2, 1])
    expect(nodes[1].planHash).toBe(plan)
    expect(nodes[0].planHash).toBe(nodes[2].planHash)
  })

  it('takes it away, and has told each phase once and in order', async () => {
    const answer = await next().uninstall({ namespace, name })
    expect(answer).toMatchObject({ __typename: 'UninstallReleasePayload', alreadyInProgress: false })
    expect(await tell('Back')).toMatchObject({ code: 'RELEASE_UNINSTALLING' })
    for (const follower of followers) {
      await follower.reaches(name, 'GONE')
      expect(changesOf(follower.events, name)).toEqual([
        'APPLIED>APPLYING',
        'APPLYING>APPLIED',
        'APPLIED>APPLYING',
        'APPLYING>APPLIED',
        'APPLIED>UNINSTALLING',
        'UNINSTALLING>GONE',
      ])
    }
    expect(await row()).toBeNull()
  })
})
