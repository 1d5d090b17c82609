import { timeOf } from '../api/times.ts'
import { LLM_SERVICE, SECRET } from '../resourceTypes.ts'
import { type Context, confirm, withReady, writeStatus } from './context.ts'
import { isStale } from './errors.ts'
import { type Deletion, finalizer, type LlmService, type Outcome } from './llmService.ts'
import { forceDelete, podReport, podsOf } from './pods.ts'
import { markRecord, readable, readRecords } from './records.ts'
import { dropSnapshots } from './revisions.ts'
import { type Steering, steeringOf } from './steering.ts'
import { deleteOwned, headsOf, readOwned } from './workload.ts'

/** How often pods that are going are looked at without being told of them, in milliseconds. */
const lookAgainMs = 1_000
/** A timer of Node takes no more than 24 days. */
const longestPauseMs = 3_600_000

/** A step leads to the object as it has been written, for the next one; or to a pause (none: it is over). */
type Step = LlmService | { afterMs: number | undefined }

/**
 * Takes an LLMService away stage by stage. Where it stands is in `status.deletion` alone, and every stage may be
 * begun again. Answers with milliseconds after which to look again, undefined when the finalizer is off.
 */
export async function tearDown(context: Context, found: LlmService): Promise<number | undefined> {
  let step: Step = found
  while (!('afterMs' in step)) step = await nextStep(context, step as LlmService)
  return (step as { afterMs: number | undefined }).afterMs
}

async function nextStep(context: Context, service: LlmService): Promise<Step> {
  const now = context.clock.now()
  const steering = steeringOf(service)
  const present = service.status?.deletion
  if (!present?.startedAt) {
    return begin(context, service, steering, new Date(now).toISOString())
  }
  const startedAt = timeOf(present.startedAt) ?? now
  const deletion = { ...present, deadline: new Date(startedAt + steering.maxWaitMs).toISOString() }
  if (deletion.stage === 'RouteSettling') {
    if (steering.orphan) return finalize(context, service, deletion, 'Orphaned')
    const leftMs = startedAt + steering.routeSettleMs - now
    if (leftMs <= 0) {
      return write(context, service, {
        ...deletion,
        stage: 'HelmUninstalling',
        message: 'helm uninstalls the release',
      })
    }
    await write(context, service, { ...deletion, message: settling(steering) })
    return { afterMs: Math.min(leftMs, longestPauseMs) }
  }
  if (deletion.stage === 'PodsTerminating')
    return waitForPods(context, service, deletion, steering, startedAt)
  if (deletion.stage === 'Finalizing') {
    await release(context, service)
    return { afterMs: undefined }
  }
  return uninstall(context, service, deletion)
}

function begin(
  context: Context,
  service: LlmService,
  steering: Steering,
  startedAt: string,
): Promise<LlmService> {
  const deadline = new Date(Date.parse(startedAt) + steering.maxWaitMs).toISOString()
  const deletion: Deletion = { stage: 'RouteSettling', startedAt, deadline, message: settling(steering) }
  return steering.orphan
    ? finalize(context, service, deletion, 'Orphaned')
    : write(context, service, deletion)
}

function settling({ routeSettleMs, problems }: Steering): string {
  return [`the route has ${routeSettleMs / 1000} s to settle`, ...problems].join('; ')
}

async function uninstall(context: Context, service: LlmService, deletion: Deletion): Promise<LlmService> {
  try {
    await uninstallRelease(context, service)
  } catch (error) {
    // Said before it is tried again; another writer is no failure.
    if (!isStale(error)) await write(context, service, { ...deletion, message: (error as Error).message })
    throw error
  }
  const report = podReport(await podsOf(context, service), context.clock.now())
  return write(context, service, {
    ...deletion,
    stage: 'PodsTerminating',
    ...report,
    message: left(report.podsRemaining ?? 0),
  })
}

async function waitForPods(
  context: Context,
  service: LlmService,
  deletion: Deletion,
  { maxWaitMs, forceAfterMs }: Steering,
  startedAt: number,
): Promise<Step> {
  const pods = await podsOf(context, service)
  const now = context.clock.now()
  const seen = { ...deletion, ...podReport(pods, now), message: left(pods.length) }
  if (pods.length === 0) {
    return finalize(context, service, seen, deletion.forceDeleted ? 'Forced' : 'Completed')
  }
  const leftMs = startedAt + maxWaitMs - now
  if (leftMs <= 0) return finalize(context, service, seen, 'TimedOut')
  const forceMs = forceAfterMs === undefined ? Number.POSITIVE_INFINITY : startedAt + forceAfterMs - now
  if (forceMs > 0) {
    await write(context, service, seen)
    return { afterMs: Math.min(lookAgainMs, leftMs, forceMs) }
  }
  // Told first, so that it is known even if this process ends in the middle.
  await write(context, service, { ...seen, forceDeleted: true })
  await forceDelete(context, pods)
  return { afterMs: Math.min(lookAgainMs, leftMs) }
}

const left = (pods: number) => (pods === 1 ? '1 pod left' : `${pods} pods left`)

const endings: Record<Outcome, string> = {
  Completed: 'the release is gone',
  Forced: 'the release is gone, its pods were deleted by force',
  TimedOut: 'pods were still there when the wait was over',
  Orphaned: 'the workload stays, by its deletion policy',
}

function finalize(
  context: Context,
  service: LlmService,
  deletion: Deletion,
  outcome: Outcome,
): Promise<LlmService> {
  return write(context, service, { ...deletion, stage: 'Finalizing', outcome, message: endings[outcome] })
}

function write(context: Context, service: LlmService, deletion: Deletion): Promise<LlmService> {
  const { message = '' } = deletion
  const gone = deletion.stage === 'PodsTerminating' && service.status?.helm
  return writeStatus(context, service, {
    ...service.status,
    ...(gone
      ? {
          helm: {
            ...service.status?.helm,
            revision: service.status?.helm?.revision ?? 0,
            status: 'uninstalled',
          },
        }
      : {}),
    phase: 'Deleting',
    message,
    conditions: withReady(service, { status: 'False', reason: 'Deleting', message: '' }, context.clock.now()),
    deletion,
  })
}

/** For an operator that does not stage: the release goes and the finalizer with it, and nothing is said. */
export async function dropAtOnce(context: Context, service: LlmService): Promise<void> {
  if (!steeringOf(service).orphan) await uninstallRelease(context, service)
  await release(context, service)
}

/** The last step: the history goes, and the finalizer comes off. */
async function release(context: Context, service: LlmService): Promise<void> {
  const { namespace = '', name, resourceVersion, finalizers = [] } = service.metadata
  await dropSnapshots(context, service)
  await context.client.patch(LLM_SERVICE, namespace, name, {
    metadata: { resourceVersion, finalizers: finalizers.filter((it) => it !== finalizer) },
  })
}

/**
 * Takes helm's release away as `helm uninstall` does, without waiting for pods. Nothing that a successor of this
 * LLMService has made is touched: objects are read while it is still there, and deleted by their uids.
 */
async function uninstallRelease(context: Context, service: LlmService): Promise<void> {
  const { client } = context
  const { namespace = '', name } = service.metadata
  const records = await readRecords(client, namespace, name)
  if (records.length === 0) return
  // After the list: what it has shown is not a successor's.
  await confirm(context, service)
  const known = readable(records)
  const newest = known.at(-1)
  if (!newest) throw new Error(`no record of the release ${name} can be read`)
  if (newest.status !== 'uninstalling') {
    await markRecord(client, newest, 'uninstalling', 'Deletion in progress (or silently failed)')
  }
  const owned = await readOwned(client, { namespace, name }, headsOf(known))
  await confirm(context, service)
  await deleteOwned(client, owned)
  for (const { secret } of records) {
    const { uid } = secret.metadata
    await client.delete(SECRET, namespace, secret.metadata.name, uid ? { uid } : {})
  }
}
