import { timestamp } from '../api/times.ts'
import { LLM_SERVICE } from '../resourceTypes.ts'
import { type Context, withReady, writeStatus } from './context.ts'
import {
  appliedHash,
  finalizer,
  type HistoryEntry,
  isSettled,
  type LlmService,
  planAnnotation,
  planAnnotations,
  revisionHash,
  specOf,
} from './llmService.ts'
import { applyRelease } from './release.ts'
import { render } from './render.ts'
import { isNewestRevision, keepSnapshot, keptRevisions, trimSnapshots } from './revisions.ts'

/** Brings an LLMService that is not being deleted to Applied, or to Failed with a reason. */
export async function bringUp(context: Context, found: LlmService): Promise<void> {
  let service = await holdByFinalizer(context, found)
  if (isSettled(service)) return
  const { clock } = context
  if (!service.status?.phase) {
    service = await writeStatus(context, service, {
      ...service.status,
      phase: 'Pending',
      message: 'waits to be applied',
      conditions: withReady(service, { status: 'False', reason: 'Pending', message: '' }, clock.now()),
    })
  }
  const isKnown = service.status?.phase === 'Applied' && (await isNewestRevision(context, service))
  const observed = isKnown ? { observedGeneration: service.metadata.generation ?? 0 } : {}
  if (specOf(service).suspend === true) {
    await writeStatus(context, service, { ...service.status, ...observed, message: 'suspended' })
    return
  }
  if (isKnown) {
    const { message: _message, ...status } = service.status ?? {}
    await writeStatus(context, service, { ...status, ...observed })
    return
  }
  await apply(context, service)
}

async function holdByFinalizer({ client }: Context, service: LlmService): Promise<LlmService> {
  const { namespace = '', name, resourceVersion, finalizers = [] } = service.metadata
  if (finalizers.includes(finalizer)) return service
  return client.patch(LLM_SERVICE, namespace, name, {
    metadata: { resourceVersion, finalizers: [...finalizers, finalizer] },
  })
}

async function apply(context: Context, found: LlmService): Promise<void> {
  const { clock } = context
  const rendered = render(found)
  if ('problem' in rendered) return fail(context, found, rendered.problem)
  const isUpgrade = (found.status?.history?.length ?? 0) > 0
  const message = isUpgrade ? 'the release is being upgraded' : 'the release is being installed'
  const { failedHash: _failed, ...present } = found.status ?? {}
  const service = await writeStatus(context, found, {
    ...present,
    phase: 'Applying',
    message,
    conditions: withReady(found, { status: 'False', reason: 'Applying', message }, clock.now()),
  })
  const applied = await applyRelease(context, service, rendered)
  const { revision } = applied
  if ('refused' in applied) {
    return fail(context, service, applied.refused, { helm: { revision, status: 'failed' } })
  }
  const { name, version } = rendered.chart
  const history = await historyWith(context, service, revision)
  const { message: _message, ...status } = service.status ?? {}
  await writeStatus(context, service, {
    ...status,
    phase: 'Applied',
    observedGeneration: service.metadata.generation ?? 0,
    appliedHash: appliedHash(service),
    chart: { name, version },
    helm: { revision, status: 'deployed' },
    conditions: withReady(service, { status: 'True', reason: 'Applied', message: '' }, clock.now()),
    history,
  })
  await trimSnapshots(context, service, history)
}

async function historyWith(context: Context, service: LlmService, revision: number): Promise<HistoryEntry[]> {
  const history = service.status?.history ?? []
  const entry: HistoryEntry = {
    revision,
    hash: appliedHash(service),
    appliedAt: timestamp(context.clock.now()),
    controllerRevision: await keepSnapshot(context, service, revision),
    annotations: planAnnotations(service),
    action: planAnnotation(service, 'action') ?? (history.length === 0 ? 'install' : 'apply'),
  }
  return [entry, ...history.filter((it) => it.revision !== revision)].slice(0, keptRevisions)
}

async function fail(
  context: Context,
  service: LlmService,
  message: string,
  more: Pick<NonNullable<LlmService['status']>, 'helm'> = {},
): Promise<void> {
  await writeStatus(context, service, {
    ...service.status,
    ...more,
    phase: 'Failed',
    message,
    failedHash: revisionHash(service),
    observedGeneration: service.metadata.generation ?? 0,
    conditions: withReady(service, { status: 'False', reason: 'Failed', message }, context.clock.now()),
  })
}
