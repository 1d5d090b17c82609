/** The end of a schedule: all faults end, everything is let go, time passes until it is quiet, and then it is judged. */
import { isMarkedPlan, isThere, leftovers, markRef, planRef, serviceRef } from './cluster.ts'
import type { Life } from './lives.ts'
import { auditProblems } from './requests.ts'
import type { ReleasePlan } from './schedule.ts'
import type { World } from './world.ts'

/** A pass of the loop is due in each of these. */
const ROUND_MS = 5000
/** Enough for Leases and back-offs to run out, and for a silent stream to be given up. */
const ROUNDS = 48
/** After so many rounds without an end somebody asks again for what is left. */
const ASK_AGAIN = 10

interface Listed {
  namespace: string
  name: string
  uid: string
  phase: string
  backend: string
}

export async function finish(world: World): Promise<void> {
  await endFaults(world)
  let problems: string[] = ['not looked at']
  for (let round = 0; round < ROUNDS; round++) {
    world.cluster.letGo()
    if (round % ASK_AGAIN === ASK_AGAIN - 1) askAgain(world, round)
    await world.advance(round === 0 ? 0 : ROUND_MS)
    await world.settle()
    problems = await openEnds(world)
    if (problems.length === 0) break
  }
  for (const problem of problems) world.violate('it comes to an end', problem)
  const rows = (await world.audit.page({ first: 1000 })).edges.map(({ run }) => run)
  for (const problem of auditProblems(world.requests, rows)) world.violate('one final audit row', problem)
  for (const release of world.schedule.releases) untouched(world, release)
}

async function endFaults(world: World): Promise<void> {
  const { api, rules, lives, helm, guard, schedule } = world
  lives.disarm()
  rules.clear()
  api.clearFaults()
  guard.arm()
  helm.behaviour = 'ok'
  api.setServed(['LLMService'])
  await world.start('a')
  // Now and then the other one stays away: whatever it had begun is finished by the one that is there.
  if (schedule.replicas === 2 && schedule.seed % 2 === 0) await world.start('b')
  await world.settle()
}

/** What is not over yet; empty when all is quiet and everybody sees the same. */
async function openEnds(world: World): Promise<string[]> {
  const { cluster, helm, requests, schedule } = world
  const ends: string[] = []
  for (const release of schedule.releases) {
    const key = `${release.namespace}/${release.name}`
    const plan = cluster.store.get(planRef(release))
    if (plan && isMarkedPlan(plan)) ends.push(`${key} is still marked`)
    if (cluster.store.get(markRef(release))) ends.push(`${key} still has a mark of its own`)
    if (cluster.store.get(serviceRef(release))?.metadata.deletionTimestamp) ends.push(`${key} still goes`)
    if (!isThere(cluster.store, release)) ends.push(...orphans(world, release))
  }
  for (const { note, answer } of requests) if (answer === undefined) ends.push(`${note} has no answer`)
  for (const { note, id } of await world.audit.open()) ends.push(`the run ${id} (${note}) is open`)
  if (helm.running > 0) ends.push(`${helm.running} helm runs`)
  if (ends.length > 0) return ends
  for (const life of world.lives.all) ends.push(...(await disagreements(world, life)))
  return ends
}

/** What is left of a release that is gone, unless others have taken it apart in their own way. */
function orphans({ cluster }: World, release: ReleasePlan): string[] {
  const key = `${release.namespace}/${release.name}`
  // Nobody uninstalled the release whose plan was deleted or replaced by others.
  const others = cluster.didMeddle(
    key,
    'planDeleted',
    'planRecreated',
    'overwritten',
    'recreated',
    'markDeleted',
  )
  return leftovers(cluster.store, release)
    .filter((left) => !others || left === 'lock' || left === 'mark')
    .map((left) => `${key} is gone and has left its ${left}`)
}

/** Where a subscriber believes something else than a fresh query says, or the query something else than the cluster. */
async function disagreements(world: World, life: Life): Promise<string[]> {
  const query = '{ deployments(first: 100) { nodes { namespace name uid phase backend } } }'
  const { data, errors } = await world.lives.ask(life, { query }, 'reader')
  if (errors !== undefined) return [`gateway ${life.name} answers ${JSON.stringify(errors)}`]
  const { nodes } = (data as unknown as { deployments: { nodes: Listed[] } }).deployments
  const subscriber = world.subscribers.get(life.name)
  await world.settle()
  await subscriber?.drain()
  const listed = new Map(nodes.map((row) => [`${row.namespace}/${row.name}`, row]))
  const beside = new Set(
    world.schedule.releases
      .filter(({ kind }) => kind === 'servicePlan')
      .map(({ namespace, name }) => `${namespace}/${name}`),
  )
  const found: string[] = []
  for (const key of new Set([...listed.keys(), ...(subscriber?.rows.keys() ?? [])])) {
    const row = listed.get(key)
    const folded = subscriber?.rows.get(key)
    // One that goes and comes back beside its plan is another backend in between, and no phase has changed.
    const free = row?.backend !== folded?.backend || beside.has(key)
    const same = row?.phase === folded?.phase && (free || row?.uid === folded?.uid)
    if (!same)
      found.push(`subscriber of ${life.name}: ${key} is ${say(folded)}, a fresh query says ${say(row)}`)
  }
  for (const release of world.schedule.releases) {
    const key = `${release.namespace}/${release.name}`
    const service = world.cluster.store.get(serviceRef(release))
    const uid = (service ?? world.cluster.store.get(planRef(release)))?.metadata.uid
    const row = listed.get(key)
    if (row?.uid !== uid) found.push(`gateway ${life.name}: ${key} is ${say(row)}, the cluster has ${uid}`)
  }
  return found
}

const say = (row: { phase: string | null; uid: string | null } | undefined) =>
  row ? `${row.phase} (${row.uid})` : 'not there'

/** What helm has kept is uninstalled once more, as its message says. */
function askAgain(world: World, round: number): void {
  for (const release of world.schedule.releases) {
    const plan = world.cluster.store.get(planRef(release))
    if (!(plan && isMarkedPlan(plan)) && !world.cluster.store.get(markRef(release))) continue
    const note = `again ${round} ${release.name}`
    world.ask({ release, on: 'a', note, actor: 'finisher' }, { waitFor: 'ACCEPTED' }, null)
  }
}

/** What nobody asked to uninstall is all there. */
function untouched(world: World, release: ReleasePlan): void {
  const key = `${release.namespace}/${release.name}`
  const asked = world.requests.some((request) => request.key === key && request.wrong === null)
  if (asked || world.cluster.didMeddle(key) || release.kind === 'untracked' || release.kind === 'service')
    return
  const { store } = world.cluster
  const left = leftovers(store, release).filter((what) => what !== 'lock')
  if (!store.get(planRef(release)) || left.length !== 3) {
    world.violate(
      'nothing is deleted that was not asked for',
      `${key} has only ${left.join(', ') || 'nothing'}`,
    )
  }
}
