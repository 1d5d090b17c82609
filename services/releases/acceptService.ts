/**
 * Accepting the uninstall of an LLMService (contract, section 5): mark, then one DELETE that names the very
 * object that was looked at. The operator owns the teardown from there on; a refused DELETE leaves no trace.
 */
import type { AuditLog } from '../audit/run.ts'
import type { Actor } from '../auth/actor.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError, KubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import { type LLMServiceObject, trimLLMService } from '../deployments/llmService.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import type { DeploymentView } from '../deployments/view.ts'
import type { PlanObject } from '../plans/planObject.ts'
import type { Checkpoint } from '../runtime/checkpoint.ts'
import { type Acceptance, follow } from './acceptance.ts'
import type { Marks } from './marks.ts'
import type { UninstallRefusal, UninstallRequest } from './outcome.ts'
import { failedPrecondition } from './preconditions.ts'
import { conflict, notFound, unavailable } from './refusals.ts'
import { newRun, startedRun } from './runs.ts'
import type { UninstallTracker } from './tracker.ts'

/** A delete that meets a newer resourceVersion is tried once more, since the operator writes status all the time. */
const DELETES = 2

export interface AcceptServiceOptions {
  client: KubeClient
  marks: Marks
  tracker: UninstallTracker
  audit: AuditLog
  checkpoint: Checkpoint
  newId: () => string
  view: DeploymentView
}

export class AcceptService {
  readonly #options: AcceptServiceOptions

  constructor(options: AcceptServiceOptions) {
    this.#options = options
  }

  /** The LLMService of that name, live; null when there is none, or none may be seen. Throws KubeError. */
  async find(ref: ReleaseRef): Promise<LLMServiceObject | null> {
    try {
      return trimLLMService(await this.#options.client.get<KubeObject>(Kinds.LLMService, ref))
    } catch (error) {
      if (isKubeError(error, 'NotFound', 'NotServed', 'Forbidden')) return null
      throw error
    }
  }

  /** Runs under the lock. Throws KubeError only before anything was written. */
  async accept(
    ref: ReleaseRef,
    request: UninstallRequest,
    actor: Actor,
    plan: PlanObject | null,
  ): Promise<Acceptance> {
    const { client, marks, tracker, audit, checkpoint, newId, view } = this.#options
    const service = await this.find(ref)
    if (service === null) return { refusal: notFound(ref) }
    const refusal = failedPrecondition(request, current(service))
    if (refusal) return { refusal }
    const run = newRun({
      id: newId(),
      ref,
      actor,
      note: request.note,
      now: client.now(),
      plan,
      revision: current(service).revision,
      llmServiceUid: service.metadata.uid,
    })
    const { position } = view
    const marked = await marks.put(ref, plan, run)
    if (marked.kind === 'already') return 'MARKED'
    if (marked.kind === 'changed') return { refusal: conflict(ref) }
    await checkpoint('after-mark', ref)
    const refused = await this.#delete(ref, request, service)
    if (refused) {
      await this.#putBack(ref)
      return { refusal: refused }
    }
    const open = tracker.open(ref, marked)
    open.service = service
    open.run = startedRun(ref, run, service.metadata.uid)
    audit.start(open.run)
    view.refresh(ref, 'MUTATION')
    return follow(open, position, false)
  }

  /** Null once it is accepted. At most two DELETEs are sent in all. */
  async #delete(
    ref: ReleaseRef,
    request: UninstallRequest,
    service: LLMServiceObject,
  ): Promise<UninstallRefusal | null> {
    const { client } = this.#options
    const { uid } = service.metadata
    let { resourceVersion } = service.metadata
    for (let attempt = 1; ; attempt++) {
      try {
        await client.delete(Kinds.LLMService, ref, { preconditions: { uid, resourceVersion } })
        return null
      } catch (error) {
        if (!(error instanceof KubeError)) throw error
        if (error.reason === 'NotFound') return notFound(ref)
        const now = await this.#look(ref)
        if (now === 'UNKNOWN') return unavailable(error)
        if (now === 'GONE') return error.reason === 'Unavailable' ? null : notFound(ref)
        if (now.metadata.uid !== uid) return anotherOne(request, current(now))
        // No answer, or a conflict with whoever else deletes it: it is on its way all the same.
        if (now.metadata.deletionTimestamp !== undefined) return null
        if (error.reason !== 'Conflict') return unavailable(error)
        if (attempt >= DELETES) return conflict(ref)
        resourceVersion = now.metadata.resourceVersion
      }
    }
  }

  /** What is there after a DELETE that was not accepted. */
  async #look(ref: ReleaseRef): Promise<LLMServiceObject | 'GONE' | 'UNKNOWN'> {
    try {
      return trimLLMService(await this.#options.client.get<KubeObject>(Kinds.LLMService, ref))
    } catch (error) {
      if (!isKubeError(error)) throw error
      return error.reason === 'NotFound' ? 'GONE' : 'UNKNOWN'
    }
  }

  /** Nothing was deleted, so nothing has failed: the plan says again what it said. What cannot be written is stale, and the loop takes it away. */
  async #putBack(ref: ReleaseRef): Promise<void> {
    try {
      await this.#options.marks.putBack(ref)
    } catch (error) {
      if (!isKubeError(error)) throw error
    }
  }
}

const current = ({ metadata, status }: LLMServiceObject) => ({
  uid: metadata.uid,
  revision: status?.helm?.revision || null,
})

function anotherOne(
  request: UninstallRequest,
  now: { uid: string; revision: number | null },
): UninstallRefusal {
  return {
    kind: 'PreconditionFailed',
    message: 'the LLMService was deleted and made again while it was to be uninstalled; look again',
    expectedRevision: request.expectedRevision,
    currentRevision: now.revision,
    expectedUid: request.expectedUid,
    currentUid: now.uid,
  }
}
