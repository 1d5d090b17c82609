// A cluster of 2,000 releases with four pods each: one page costs no call to the API server, and the start-up is
// measured against a bare process that reads and parses the same lists.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { auditPosition, requestsSince } from '../auditLog.ts'
import type { Gateway } from '../gateway.ts'
import { tail } from '../processes.ts'
import { LIST, type ListData } from '../queries.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'
import { NAMESPACES, nameOf, PODS_EACH, RELEASES, write } from './releases.ts'

const ROUNDS = 3
const READS = 20

export const load: Story = { name: 'load', byHand: true, cluster: {}, run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, note } = context
  const writing = performance.now()
  await write(context)
  note(`${RELEASES} releases with ${PODS_EACH} pods each written in ${seconds(writing)}`)
  await until('all pods run', 600_000, () => allRun(context), 2000)
  note(`all pods run after ${seconds(writing)}`)

  const position = auditPosition(cluster.auditLog)
  const first = await timedStart(context)
  const lists = await listsOf(context, position)
  await isRight(first.gateway)
  await costsNothing(context, first.gateway)
  await first.gateway.stop(60_000)

  const gateways = [first.took]
  const bares: Took[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    bares.push(await timedBare(context, lists))
    if (round === ROUNDS - 1) break
    const { gateway, took } = await timedStart(context)
    gateways.push(took)
    await gateway.stop(60_000)
  }
  note(`a gateway from its start to ready, against a bare process that reads the same ${lists.length} lists:`)
  for (const [what, of] of [
    ['by the clock', (took: Took): number => took.ms],
    ['processor time', (took: Took): number => took.cpuMs],
  ] as const) {
    const [ours, bare] = [median(gateways.map(of)), median(bares.map(of))]
    note(
      `  ${what}: ${seconds(0, ours)} against ${seconds(0, bare)} (medians of ${ROUNDS}), ratio ${(ours / bare).toFixed(2)}`,
    )
  }
}

/** Milliseconds; `cpuMs` is that of the process itself, without its children. */
type Took = { ms: number; cpuMs: number }

async function allRun({ cluster }: StoryContext): Promise<true | undefined> {
  cluster.check()
  for (let i = 0; i < NAMESPACES; i += 1) {
    const pods = await cluster.kube.list(`/api/v1/namespaces/load-${i}/pods`)
    if (pods.some((pod) => pod.status?.phase !== 'Running')) return undefined
  }
  return true
}

/** From the start of the process until `/readyz` is 200. */
async function timedStart(context: StoryContext): Promise<{ gateway: Gateway; took: Took }> {
  const start = performance.now()
  const gateway = await context.gateway({ waitReady: false })
  await until(
    'the gateway is ready',
    300_000,
    async () => (await gateway.fetch('/readyz')).ok || undefined,
    20,
  )
  const ms = performance.now() - start
  return { gateway, took: { ms, cpuMs: cpuMs(gateway.process.pid) } }
}

/** The lists that a gateway has read at its start, as the audit log has them, each without its later pages. */
async function listsOf(context: StoryContext, position: number): Promise<{ path: string; accept: string }[]> {
  const requests = await requestsSince(context.cluster.auditLog, position)
  const paths = requests
    .filter((event) => event.verb === 'list' && !event.requestURI.includes('continue='))
    .map((event) => event.requestURI)
  const metadataOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
  return [...new Set(paths)].map((path) => ({
    path,
    accept: path.includes('/secrets?') ? metadataOnly : 'application/json',
  }))
}

/** What is listed is what was written. */
async function isRight(gateway: Gateway): Promise<void> {
  let total = 0
  for (let i = 0; i < NAMESPACES; i += 1) {
    const { deployments } = await gateway.ask<ListData>(LIST, { ns: `load-${i}` })
    total += deployments.totalCount
    for (const row of deployments.nodes) {
      assert.deepEqual([row.phase, row.pods.total, row.pods.ready], ['APPLIED', PODS_EACH, PODS_EACH])
    }
    assert(deployments.nodes.some((row) => row.name === nameOf(i)))
  }
  assert.equal(total, RELEASES)
}

/** Pages are answered from memory: the audit log has no request of the gateway's but for its leader Lease. */
async function costsNothing({ cluster, note }: StoryContext, gateway: Gateway): Promise<void> {
  const before = auditPosition(cluster.auditLog)
  const start = performance.now()
  for (let i = 0; i < READS; i += 1) await gateway.ask<ListData>(LIST, { ns: `load-${i % NAMESPACES}` })
  const took = performance.now() - start
  // The API server writes what it has answered; watches that end of themselves come in time, not with reads.
  await sleep(1000)
  const requests = await requestsSince(cluster.auditLog, before)
  const calls = requests.filter((e) => e.verb !== 'watch' && e.objectRef?.resource !== 'leases')
  assert.deepEqual(
    calls.map((e) => `${e.verb} ${e.requestURI}`),
    [],
  )
  note(`${READS} pages in ${seconds(0, took)} and no call to the API server`)
}

/** Of a process that runs, from Linux' /proc in its hundredths of a second; NaN elsewhere. */
function cpuMs(pid: number): number {
  if (!existsSync('/proc/self/stat')) return Number.NaN
  // The name in parentheses may have blanks of its own.
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const fields = rest.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function timedBare(context: StoryContext, lists: object[]): Promise<Took> {
  const { server, ca } = context.cluster
  const file = join(context.dir, 'bare.json')
  writeFileSync(file, JSON.stringify({ server, ca, token: context.gatewayToken, lists }), { mode: 0o600 })
  const start = performance.now()
  const bare = context.start('bare', process.execPath, [join(import.meta.dirname, 'bare.mjs'), file])
  assert.equal(await bare.exited, 'exit 0')
  const ms = performance.now() - start
  const said = JSON.parse(tail(bare.log, 1)) as { objects: number; cpuMs: number }
  assert(said.objects >= RELEASES * (2 + PODS_EACH), `the bare process found ${said.objects} objects`)
  return { ms, cpuMs: said.cpuMs }
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
