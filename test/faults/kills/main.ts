/**
 * Two gateways uninstall releases on one sandbox cluster, and one of them is killed with -9 again and again, at a
 * random moment or at a named point, each time while something is unfinished. At the end every release must be
 * gone without a trace, helm must never have run twice at once for one, and each uninstall must have exactly one
 * final row.
 *
 *     npm run kills -- [KILLS]      default 200; about three seconds each
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loggingHelm, readHelmLog } from './helmLog.ts'
import { HOME, Releases } from './releases.ts'
import { pause, Replica, ROOT } from './replica.ts'

const POINTS = [
  'after-mark',
  'before-helm',
  'during-helm',
  'after-helm',
  'after-archives',
  'after-autoscale',
  'before-plan-delete',
  'before-audit',
]
/** New releases are made whenever fewer are unfinished. */
const UNFINISHED = 10
const POINT_MS = 20_000
const DRAIN_MS = 180_000

const kills = Number(process.argv[2] ?? 200)
if (!Number.isInteger(kills) || kills < 1) {
  console.error('How many kills? A number, such as 200.')
  process.exit(2)
}

const dir = mkdtempSync(join(tmpdir(), 'swiss-kills-'))
const sandbox = spawn(process.execPath, [join(ROOT, 'dist/sandbox/main.js'), '--with-parent', '--dir', dir], {
  stdio: ['pipe', 'pipe', 'inherit'],
})
const replicas: Replica[] = []
const problems: string[] = []
try {
  const { kubeconfig, helm } = await place(sandbox)
  const { helm: logging, log } = loggingHelm(dir, helm)
  const releases = new Releases(kubeconfig)
  await releases.makeNamespace()
  const flags = ['--kubeconfig', kubeconfig, '--helm-bin', logging, '--namespace', HOME]
  const audit = ['--audit-db', join(dir, 'audit.db'), '--gateway-namespace', HOME]
  for (let count = 0; count < 2; count++) replicas.push(new Replica([...flags, ...audit]))
  await Promise.all(replicas.map((replica) => replica.start()))

  const asked = new Set<string>()
  const fell = new Map<string, number>()
  for (let kill = 0; kill < kills; kill++) {
    await keepBusy(releases, asked)
    const victim = replicas[kill % 2] as Replica
    const point = kill % 2 === 0 || kill % 4 === 1 ? POINTS[(kill >> 1) % POINTS.length] : undefined
    const where = point === undefined ? await atRandom(victim) : await atPoint(victim, point, releases, asked)
    fell.set(where, (fell.get(where) ?? 0) + 1)
    await victim.start()
    if (kill % 20 === 19) console.log(`${kill + 1} kills, ${asked.size} uninstalls asked for`)
  }

  const left = await drained(releases)
  if (left.length > 0) problems.push(`left in the cluster: ${left.join(', ')}`)
  const record = readHelmLog(log)
  if (record.overlaps.length > 0) problems.push(`two helm runs at once: ${record.overlaps.join('; ')}`)
  if (record.alive.length > 0) problems.push(`helm still runs: ${record.alive.join(', ')}`)
  problems.push(...(await wrongRuns(asked)))

  console.log('\nWhere the kills fell')
  for (const name of ['a random moment', ...POINTS])
    console.log(`  ${name.padEnd(20)} ${fell.get(name) ?? 0}`)
  console.log(
    `${asked.size} uninstalls; helm began ${record.begun} times and ended ${record.ended} times by itself`,
  )
  const rare = kills >= 100 ? POINTS.filter((name) => (fell.get(name) ?? 0) < 5) : []
  if (rare.length > 0) problems.push(`fewer than five kills at ${rare.join(', ')}`)
  releases.close()
} finally {
  await Promise.all(replicas.map((replica) => replica.stop()))
  sandbox.stdin?.end()
  await once(sandbox, 'exit')
  rmSync(dir, { recursive: true, force: true })
}
for (const problem of problems) console.error(`FAIL ${problem}`)
console.log(`${problems.length === 0 ? 1 : 0} passed, ${problems.length === 0 ? 0 : 1} failed, 0 skipped`)
process.exitCode = problems.length === 0 ? 0 : 1

async function place(child: ChildProcess): Promise<{ kubeconfig: string; helm: string }> {
  let text = ''
  for await (const chunk of child.stdout as NodeJS.ReadableStream) {
    text += chunk
    if (text.includes('\n')) return JSON.parse(text) as { kubeconfig: string; helm: string }
  }
  throw new Error('the sandbox did not start')
}

/** Makes releases and asks for their uninstall until enough are unfinished. */
async function keepBusy(releases: Releases, asked: Set<string>): Promise<void> {
  const unfinished = await releases.unfinished()
  // What was asked of a gateway that died before its mark was written is asked again.
  for (const name of unfinished) if (!asked.has(name) || Math.random() < 0.2) await ask(name, asked)
  for (let count = unfinished.length; count < UNFINISHED; count++) {
    await ask(await releases.make(1 + (count % 3)), asked)
  }
}

async function ask(name: string, asked: Set<string>): Promise<void> {
  const input = `{ namespace: "${HOME}", name: "${name}" }`
  for (const replica of replicas.filter(({ alive }) => alive)) {
    const data = await replica.ask<{ uninstallRelease: { __typename: string } }>(
      `mutation { uninstallRelease(input: ${input}) { __typename } }`,
    )
    if (data?.uninstallRelease.__typename === 'UninstallReleasePayload') {
      asked.add(name)
      return
    }
  }
}

async function atRandom(victim: Replica): Promise<string> {
  await pause(Math.random() * 1500)
  await victim.kill()
  return 'a random moment'
}

/** Starts the victim anew with a crash armed, and gives it something to do until it falls. */
async function atPoint(
  victim: Replica,
  point: string,
  releases: Releases,
  asked: Set<string>,
): Promise<string> {
  await victim.stop()
  await victim.start(point)
  for (const until = Date.now() + POINT_MS; Date.now() < until; ) {
    if (await victim.diedWithin(0)) return point
    const name = await releases.make(1)
    await victim.ask(
      `mutation { uninstallRelease(input: { namespace: "${HOME}", name: "${name}" }) { __typename } }`,
    )
    asked.add(name)
    if (await victim.diedWithin(3000)) return point
  }
  await victim.kill()
  return 'a random moment'
}

/** What is still there when nothing more goes. */
async function drained(releases: Releases): Promise<string[]> {
  for (const until = Date.now() + DRAIN_MS; Date.now() < until; ) {
    for (const name of await releases.unfinished()) await ask(name, new Set())
    const left = (await releases.leftOver()).filter((name) => name !== 'Lease/swiss-gateway-leader')
    if (left.length === 0) return []
    await pause(1000)
  }
  return (await releases.leftOver()).filter((name) => name !== 'Lease/swiss-gateway-leader')
}

/** Uninstalls that have not exactly one final row. */
async function wrongRuns(asked: ReadonlySet<string>): Promise<string[]> {
  const rows = new Map<string, string[]>()
  const replica = replicas.find(({ alive }) => alive) as Replica
  for (let after = ''; ; ) {
    const data = await replica.ask<{
      runs: {
        nodes: { name: string; outcome: string }[]
        pageInfo: { hasNextPage: boolean; endCursor: string }
      }
    }>(
      `{ runs(first: 500${after && `, after: "${after}"`}) { nodes { name outcome } pageInfo { hasNextPage endCursor } } }`,
    )
    if (!data) return ['the runs cannot be read']
    for (const { name, outcome } of data.runs.nodes) rows.set(name, [...(rows.get(name) ?? []), outcome])
    if (!data.runs.pageInfo.hasNextPage) break
    after = data.runs.pageInfo.endCursor
  }
  return [...asked].flatMap((name) => {
    const outcomes = rows.get(name) ?? []
    return outcomes.length === 1 && outcomes[0] === 'SUCCEEDED'
      ? []
      : [`the runs of ${name} are ${outcomes.join(', ') || 'none'}`]
  })
}
