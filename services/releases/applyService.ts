/**
 * Changing an LLMService (contract, section 7): the write of the object is the plan, and has succeeded when it is
 * accepted. Its operator applies it; what that comes to is the row's phase.
 */
import { isDeepStrictEqual } from 'node:util'
import type { AuditLog, Run } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError, KubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import type { ClusterCaches } from '../deployments/caches.ts'
import { isDeleting, trimLLMService } from '../deployments/llmService.ts'
import { type ReleaseRef, releaseKey } from '../deployments/row.ts'
import type { DeploymentView } from '../deployments/view.ts'
import { readLayers, readPlan } from '../plans/document.ts'
import { serviceOfPlan } from '../plans/servicePlan.ts'
import type { Checkpoint } from '../runtime/checkpoint.ts'
import type { Clock } from '../runtime/clock.ts'
import type { LiveRelease } from './liveRelease.ts'
import type { Made, Operation } from './operation.ts'
import type { ApplyOutcome, ApplyRefusal } from './outcome.ts'
import { changedMeanwhile, invalid, notFound, uninstalling } from './refusals.ts'
import { succeeded } from './runs.ts'
import { untilSeen } from './seen.ts'

const WRITTEN = 'the LLMService is written; its operator applies it'
/** Writes that meet a newer resourceVersion are tried once more, since the operator writes status all the time. */
const WRITES = 2

export interface ApplyServiceOptions {
  client: KubeClient
  audit: AuditLog
  caches: ClusterCaches
  view: DeploymentView
  clock: Clock
  checkpoint: Checkpoint
  newId: () => string
}

/** What is to become of an LLMService. */
type MadeService = Extract<Made, { plan: unknown } | { service: unknown }>

export class ApplyService {
  readonly #options: ApplyServiceOptions

  constructor(options: ApplyServiceOptions) {
    this.#options = options
  }

  /** Runs under the lock. Throws KubeError when the write has not happened. */
  async apply(
    operation: Operation,
    live: LiveRelease,
    made: MadeService,
    position: number,
  ): Promise<ApplyOutcome> {
    const { audit, client, view, checkpoint } = this.#options
    const { ref } = operation
    const refusal = wrongWith(operation, made)
    if (refusal) return refusal
    const startedAt = new Date(client.now()).toISOString()
    const unattribute = view.attribute(ref, operation.action === 'autoscale' ? 'AUTOSCALE' : 'MUTATION')
    try {
      const written = await this.#write(operation, live, made)
      if ('refusal' in written) return written.refusal
      const run = this.#run(operation, live, made, startedAt)
      const end = succeeded(new Date(client.now()).toISOString(), WRITTEN)
      await checkpoint('before-audit', ref)
      audit.finish(run, end)
      await this.#seen(ref, written.service)
      const row = view.get(ref) ?? null
      return {
        kind: 'Apply',
        ...ref,
        changed: true,
        revision: row?.revision ?? live.revision,
        output: WRITTEN,
        row,
        run: { ...run, ...end },
        position,
      }
    } finally {
      unattribute()
    }
  }

  /** At most two writes in all; the second over a fresh read that shows the same spec and plan. */
  async #write(
    operation: Operation,
    live: LiveRelease,
    made: MadeService,
  ): Promise<{ service: KubeObject } | { refusal: ApplyRefusal }> {
    const { client, view } = this.#options
    const { ref } = operation
    let service = live.service as KubeObject
    for (let attempt = 1; ; attempt++) {
      const wanted = objectOf(operation, service, made)
      try {
        return { service: await client.update(Kinds.LLMService, wanted) }
      } catch (error) {
        if (!(error instanceof KubeError)) throw error
        if (error.reason === 'Invalid' || error.reason === 'TooLarge') {
          return { refusal: invalid(['input'], `the LLMService is refused: ${error.message}`) }
        }
        if (error.reason === 'NotFound') return { refusal: notFound(ref) }
        if (error.reason !== 'Conflict' && error.reason !== 'Unavailable') throw error
        const now = await this.#look(ref, error)
        if (now === null) return { refusal: notFound(ref) }
        if (error.reason === 'Unavailable') {
          if (isWritten(now, service, wanted)) return { service: now }
          throw error
        }
        if (isDeleting(trimLLMService(now))) return { refusal: uninstalling(ref, view.get(ref) ?? null) }
        const isOnlyStatus = now.metadata.uid === service.metadata.uid && isSameWish(now, service)
        if (!isOnlyStatus || attempt >= WRITES) return { refusal: changedMeanwhile(ref) }
        service = now
      }
    }
  }

  /** Throws `before` when it cannot be read. */
  async #look(ref: ReleaseRef, before: KubeError): Promise<KubeObject | null> {
    try {
      return await this.#options.client.get(Kinds.LLMService, ref)
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return null
      throw isKubeError(error) ? before : error
    }
  }

  #run(
    { ref, actor, note, action }: Operation,
    live: LiveRelease,
    made: MadeService,
    startedAt: string,
  ): Run {
    const actions = { apply: 'APPLY', rollback: 'ROLLBACK', autoscale: 'AUTOSCALE' } as const
    return {
      id: this.#options.newId(),
      ...ref,
      backend: 'LLMSERVICE',
      action: actions[action],
      outcome: 'STARTED',
      actor: actor.name,
      note,
      planHash: 'plan' in made ? readPlan(made.plan).hash : made.planHash,
      revision: live.revision,
      changed: true,
      error: null,
      output: null,
      startedAt,
      endedAt: null,
      objectUid: live.service?.metadata.uid ?? null,
    }
  }

  /** Waits until the caches have the write, or what came after it. */
  #seen(ref: ReleaseRef, written: KubeObject): Promise<void> {
    const { caches, clock } = this.#options
    const { resourceVersion, generation = 0, uid } = written.metadata
    const shows = () => {
      const now = caches.llmServices.get(ref.namespace, ref.name)?.metadata
      if (now?.uid !== uid) return now !== undefined
      return (
        now.resourceVersion === resourceVersion || (generation > 0 && (now.generation ?? 0) >= generation)
      )
    }
    return untilSeen(clock, (listener) => caches.llmServices.subscribe(listener), shows)
  }
}

function objectOf({ action, note }: Operation, service: KubeObject, made: MadeService): KubeObject {
  if ('plan' in made) return serviceOfPlan(service, made.plan, { action, note })
  const { spec, metadata } = made.service
  const { resourceVersion } = service.metadata
  return { ...service, spec, metadata: { ...metadata, resourceVersion } }
}

function wrongWith({ ref, forceConflicts }: Operation, made: MadeService): ApplyRefusal | null {
  if (forceConflicts) {
    const message = `${releaseKey(ref)} is applied by its operator, which cannot be told to take over fields`
    return invalid(['input', 'forceConflicts'], message)
  }
  if (!('plan' in made)) return null
  const { unreadable, chart, chartPath } = readPlan(made.plan)
  const layers = readLayers(made.plan)
  const wrong =
    unreadable ??
    (layers.ok ? null : layers.reason) ??
    (chart === null ? 'it names no chart' : null) ??
    (chartPath === null ? null : 'an LLMService takes no chart by path')
  return wrong === null ? null : invalid(['input', 'planHash'], `the plan cannot be applied: ${wrong}`)
}

/** A write that got no answer may have happened: then the object says who wanted it, and is another generation. */
function isWritten(now: KubeObject, before: KubeObject, wanted: KubeObject): boolean {
  return (
    now.metadata.uid === before.metadata.uid &&
    now.metadata.generation !== before.metadata.generation &&
    isDeepStrictEqual(now.metadata.annotations, wanted.metadata.annotations)
  )
}

/** The same spec and the same annotations: whatever else differs, nobody has asked for something else. */
function isSameWish(one: KubeObject, other: KubeObject): boolean {
  return (
    isDeepStrictEqual(one.spec, other.spec) &&
    isDeepStrictEqual(one.metadata.annotations ?? {}, other.metadata.annotations ?? {})
  )
}
