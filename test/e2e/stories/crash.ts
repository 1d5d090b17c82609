// `kill -9` of the gateway at each named point of an uninstall; the one that is started after it finishes the job,
// says each step once, leaves nothing behind, and closes the one run.
import assert from 'node:assert/strict'
import { askUninstall, isAuditedOnce, leavesNothing, rowsOf } from '../checks.ts'
import { HelmLog } from '../helmLog.ts'
import { Phases } from '../phases.ts'
import { installRelease, makePlan, podsOf } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'

/**
 * The points of server/crashAt.ts in the order of an uninstall, and one of our own: while helm waits for its hook.
 * At `during-helm` the supervisor has just been started, and helm may or may not have begun.
 */
const HELM_WORKS = 'helm-works'
const POINTS: readonly { at: string; helmRuns: readonly number[] }[] = [
  { at: 'after-mark', helmRuns: [1] },
  { at: 'before-helm', helmRuns: [1] },
  { at: 'during-helm', helmRuns: [1, 2] },
  { at: HELM_WORKS, helmRuns: [2] },
  { at: 'after-helm', helmRuns: [1] },
  { at: 'after-archives', helmRuns: [1] },
  { at: 'after-autoscale', helmRuns: [1] },
  { at: 'before-plan-delete', helmRuns: [1] },
  { at: 'before-audit', helmRuns: [1] },
]
const NAME = 'chat'
const NOTE = 'the gateway will crash'
/** Gateways at once. */
const AT_ONCE = 4

export const crash: Story = { name: 'crash', run }

async function run(context: StoryContext): Promise<void> {
  const left = POINTS.values()
  const worker = async (): Promise<void> => {
    for (const point of left) {
      try {
        await crashAt(context, point)
      } catch (error) {
        throw new Error(`at ${point.at}: ${(error as Error).message}`, { cause: error })
      }
    }
  }
  // All of them are waited for: what they start is stopped when the story is over.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => worker()))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** In a namespace of its own: gateways of one namespace finish each other's jobs. */
async function crashAt(context: StoryContext, { at, helmRuns }: (typeof POINTS)[number]): Promise<void> {
  const { cluster } = context
  const namespace = `${context.namespace}-${at}`
  const ref = { namespace, name: NAME }
  await context.makeNamespace(namespace)
  const before = await cluster.kube.everythingIn(namespace)
  await installRelease(context, namespace, NAME, '--set', 'takes=1s')
  await makePlan(cluster.kube, namespace, NAME, { archives: [1], autoscale: true })
  const helm = new HelmLog(context, at)
  const common = { name: at, namespaces: [namespace], helmBin: helm.path }
  const flags = ['--gateway-namespace', namespace]

  const first = await context.gateway({ ...common, flags, env: { SWISS_CRASH_AT: at } })
  const accepted = await askUninstall(first, ref, { note: NOTE }).then(
    (answer) => answer.__typename,
    // It may die before it has answered.
    () => 'no answer',
  )
  assert(['UninstallReleasePayload', 'no answer'].includes(accepted), accepted)
  const crashing = performance.now()
  if (at === HELM_WORKS) {
    await until('helm has begun', 60_000, () => helm.uninstalls(NAME)[0], 20)
    first.process.kill()
  }
  assert.equal(await within(120_000, `the crash at ${at}`, first.process.exited), 'SIGKILL')

  const second = await context.gateway({ ...common, flags })
  const restarted = performance.now()
  // What is left may be over before anybody can follow it.
  const stream = await Phases.follow(context, second, ref)
  if ((await rowsOf(second, namespace)).length > 0) {
    const gone = await stream.reaches('GONE')
    assert.equal(gone.goneBecause, 'UNINSTALLED')
  }
  assert.deepEqual(await podsOf(cluster.kube, namespace, NAME), [])
  assert.deepEqual(await rowsOf(second, namespace), [])
  await leavesNothing(context, namespace, [...before, 'Lease/swiss-gateway-leader'])
  await isAuditedOnce(second, ref, { backend: 'HELM', note: NOTE })
  const calls = helm.uninstalls(NAME)
  assert(helmRuns.includes(calls.length), `helm runs: ${JSON.stringify(calls)}`)
  if (at === HELM_WORKS) assert.equal(calls[0]?.ended, null, 'helm has outlived its gateway')
  context.note(
    `${at}: the next was ready after ${seconds(crashing, restarted)}, all done ${seconds(restarted)} later`,
  )
  assert.equal(await second.stop(60_000), 'exit 0')
}

function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${ms / 1000} s`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
