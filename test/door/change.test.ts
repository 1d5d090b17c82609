/**
 * A canary-owned service from its upgrade to its end, as the README tells it: composed, applied, rolled back, scaled by
 * a metric, taken away, by one gateway and by two of which each step goes to the other one.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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
  /** A Prometheus with one sample, which is twice the target, for the query that it knows. */
  const prometheus = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://prometheus').searchParams.get('query')
    const isKnown = query === `avg(queue_length{namespace="${namespace}", release="${name}"})`
    const result = isKnown ? [{ metric: {}, value: [Date.now() / 1000, '16'] }] : []
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }))
  })
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
    await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(prometheus.address() as AddressInfo).port}`
    cluster = await startCluster(processes)
    for (let number = 1; number <= count; number++) {
      const flags = ['--audit-db', `${processes.dir}/runs-${number}.db`, '--prometheus-url', url]
      gateways.push(await startServe(processes, [...cluster.serveArgs, ...flags]))
    }
    for (const { url } of gateways) followers.push(followSocket(url), await followEvents(url))
    for (const follower of followers) await follower.synced()
  })

  afterAll(async () => {
    for (const follower of followers) await follower.stop()
    await processes.stop()
    prometheus.close()
  })

  it('shows what an upgrade would change, and changes nothing', async () => {
    const before = await row()
    expect(before).toMatchObject({ phase: 'APPLIED', revision: 1, canary: { state: 'OWNED' } })
    const composed = await tell('Compose')
    expect(composed).toMatchObject({
      __typename: 'ComposePlanPayload',
      changes: [{ path: 'pd.decode.replicas', from: 1, to: 2 }],
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
      'three pods',
      ({ revision, pods: { ready } }) => revision === 2 && ready === 3,
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
      'two pods',
      ({ phase, revision, pods: { total } }) => phase === 'APPLIED' && revision === 3 && total === 2,
    )
    expect(back).toMatchObject({ drift: null, canary: { state: 'OWNED' } })
    const query = `{ release(namespace: "${namespace}", name: "${name}") { revisions { nodes { revision current planHash } } } }`
    const { nodes } = (await next().ask(query)).release.revisions
    expect(nodes.map(({ revision }: { revision: number }) => revision)).toEqual([3, 2, 1])
    expect(nodes[1].planHash).toBe(plan)
    expect(nodes[0].planHash).toBe(nodes[2].planHash)
  })

  it('scales its decode pool by a metric', async () => {
    expect(await tell('Scale')).toMatchObject({
      __typename: 'SetAutoscalePayload',
      deployment: { autoscale: { enabled: true, pools: [{ name: 'decode', min: 1, max: 2 }] } },
    })
    const scaled = await becomes(
      'three pods',
      ({ phase, revision, pods: { ready } }) => phase === 'APPLIED' && revision === 4 && ready === 3,
    )
    expect(scaled).toMatchObject({ drift: null, canary: { state: 'OWNED', verified: true } })
    const runs = await Promise.all(gateways.map((gateway) => gateway.runs(namespace, name)))
    expect(runs.flat().filter(({ action }) => action === 'AUTOSCALE')).toMatchObject([
      { outcome: 'SUCCEEDED', actor: 'autoscaler' },
    ])
  })

  it('takes it away, and has told each phase once and in order', async () => {
    const answer = await next().uninstall({ namespace, name })
    expect(answer).toMatchObject({ __typename: 'UninstallReleasePayload', alreadyInProgress: false })
    expect(await tell('Back')).toMatchObject({ code: 'RELEASE_UNINSTALLING' })
    for (const follower of followers) {
      await follower.reaches(name, 'GONE')
      expect(changesOf(follower.events, name)).toEqual([
        ...['APPLIED>APPLYING', 'APPLYING>APPLIED'],
        ...['APPLIED>APPLYING', 'APPLYING>APPLIED'],
        ...['APPLIED>APPLYING', 'APPLYING>APPLIED'],
        'APPLIED>UNINSTALLING',
        'UNINSTALLING>GONE',
      ])
    }
    expect(await row()).toBeNull()
  })
})
