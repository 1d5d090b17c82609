/**
 * The one way to change a release (contract, section 7): install, upgrade, rollback and autoscaling all take its
 * lock, without waiting, and look at it anew inside. Whatever is refused leaves no trace in the cluster.
 */
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import type { HeldLease } from '../cluster/heldLease.ts'
import { Kinds } from '../cluster/kinds.ts'
import type { ClusterCaches } from '../deployments/caches.ts'
import { isExternal, trimLLMService } from '../deployments/llmService.ts'
import { type ReleaseRef, releaseKey } from '../deployments/row.ts'
import type { DeploymentView } from '../deployments/view.ts'
import { readPlan } from '../plans/document.ts'
import { planHash } from '../plans/hash.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ApplyHelm } from './applyHelm.ts'
import type { ApplyService } from './applyService.ts'
import { type LiveRelease, readLiveRelease } from './liveRelease.ts'
import type { LockAttempt, ReleaseLocks } from './lock.ts'
import type { Marks } from './marks.ts'
import type { Made, Operation, StartedOperation } from './operation.ts'
import type { ApplyOutcome, ApplyRefusal, EntryRefusal } from './outcome.ts'
import { failedPrecondition } from './preconditions.ts'
import { busy, invalid, notFound, readOnly, unavailable, uninstalling } from './refusals.ts'
import { scalerRefusal } from './scalerRefusal.ts'
import { untilSeen } from './seen.ts'

export interface ApplyLockedOptions {
  client: KubeClient
  locks: ReleaseLocks
  marks: Marks
  caches: ClusterCaches
  view: DeploymentView
  clock: Clock
  applyHelm: ApplyHelm
  applyService: ApplyService
  readOnly: boolean
  /** Empty for all. */
  namespaces: readonly string[]
}

/** The release may be changed, and nobody else can. */
interface Entered {
  live: LiveRelease
  lock: HeldLease
}

export class ApplyLocked {
  readonly #options: ApplyLockedOptions

  constructor(options: ApplyLockedOptions) {
    this.#options = options
  }

  /** Changes the release and waits until that is over. Never throws for what the cluster answers. */
  async run(operation: Operation): Promise<ApplyOutcome> {
    const started = await this.start(operation)
    return started.over
  }

  /** As `run`, but resolves as soon as helm is on its way, or the change is refused. */
  async start(operation: Operation): Promise<StartedOperation> {
    try {
      const { ref } = operation
      const refusal = this.#closed(ref)
      if (refusal) return over(refusal)
      const entered = await this.#enter(ref)
      if (entered === 'NOWHERE') return await this.#nowhere(operation)
      if ('refusal' in entered) return over(entered.refusal)
      return await this.#change(operation, entered)
    } catch (error) {
      if (!isKubeError(error)) throw error
      return over(unavailable(error))
    }
  }

  /**
   * Writes something beside a release that must not meet an uninstall or an apply: the same lock, and the same
   * first check. `write` gets the live release; what it answers is the result. Throws what it throws, KubeErrors
   * excepted.
   */
  async write<T>(ref: ReleaseRef, write: (live: LiveRelease) => Promise<T>): Promise<T | EntryRefusal> {
    try {
      const refusal = this.#closed(ref)
      if (refusal) return refusal
      const entered = await this.#enter(ref)
      if (entered === 'NOWHERE') return notFound(ref)
      if ('refusal' in entered) return entered.refusal
      try {
        return await write(entered.live)
      } finally {
        await entered.lock.release()
      }
    } catch (error) {
      if (!isKubeError(error)) throw error
      return unavailable(error)
    }
  }

  #closed(ref: ReleaseRef): EntryRefusal | null {
    const { namespaces } = this.#options
    if (this.#options.readOnly) return readOnly()
    return namespaces.length > 0 && !namespaces.includes(ref.namespace) ? notFound(ref) : null
  }

  /** Takes the lock and looks; `NOWHERE` where no Lease can be made, since there is no such namespace. */
  async #enter(ref: ReleaseRef): Promise<Entered | { refusal: EntryRefusal } | 'NOWHERE'> {
    const { client, locks } = this.#options
    let attempt: LockAttempt
    try {
      attempt = await locks.tryAcquire(ref)
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return 'NOWHERE'
      throw error
    }
    if (attempt.kind === 'busy') return { refusal: await this.#heldBy(ref, attempt) }
    const { lock } = attempt
    try {
      const live = await readLiveRelease(client, ref)
      if (!live.uninstalling) return { live, lock }
    } catch (error) {
      await lock.release()
      throw error
    }
    await lock.release()
    return { refusal: await this.#isLeaving(ref) }
  }

  /** An uninstall holds the lock while helm runs: that is what the caller should hear of then. */
  async #heldBy(ref: ReleaseRef, held: { holder: string; since: string | null }): Promise<EntryRefusal> {
    const { plan, mark } = await this.#options.marks.read(ref)
    return mark !== null || plan?.marked ? this.#isLeaving(ref) : busy(ref, held)
  }

  async #isLeaving(ref: ReleaseRef): Promise<EntryRefusal> {
    const { view, clock } = this.#options
    const shows = () => {
      const row = view.get(ref)
      return row === undefined || row.phase === 'UNINSTALLING'
    }
    await untilSeen(clock, (listener) => view.subscribe(listener), shows)
    return uninstalling(ref, view.get(ref) ?? null)
  }

  async #change(operation: Operation, { live, lock }: Entered): Promise<StartedOperation> {
    const { applyHelm, applyService, view } = this.#options
    let isOwned = false
    try {
      const { position } = view
      const made = await this.#made(operation, live)
      if ('refusal' in made) return over(made.refusal)
      if ('unchanged' in made) return over(applyHelm.unchanged(operation, live, position))
      if (live.backend === 'LLMSERVICE') {
        return over(await applyService.apply(operation, live, made, position))
      }
      if ('service' in made) return over(notFound(operation.ref))
      const refusal = await applyHelm.refusal(operation, made)
      if (refusal) return over(refusal)
      isOwned = true
      return await applyHelm.start(operation, live, made, lock, position)
    } finally {
      if (!isOwned) await lock.release()
    }
  }

  /** Ownership, the caller's preconditions, and what is to be made of it. */
  async #made(operation: Operation, live: LiveRelease): Promise<Made> {
    const { expectedRevision } = operation
    const refusal =
      notOurs(live) ??
      failedPrecondition({ expectedRevision, expectedUid: null }, { revision: live.revision, uid: null })
    if (refusal) return { refusal }
    const made = await operation.make(live)
    if (!('plan' in made) || made.rollbackTo !== undefined) return made
    const scaler = scalerRefusal(operation, live, made.plan)
    if (scaler) return { refusal: scaler }
    return isSame(operation, live, made.plan) ? { unchanged: true } : made
  }

  /** Where there is no namespace there is no release; an install may make both. */
  async #nowhere(operation: Operation): Promise<StartedOperation> {
    const { client, applyHelm } = this.#options
    const { ref } = operation
    const live = await readLiveRelease(client, ref)
    const made = await this.#made(operation, live)
    if ('refusal' in made) return over(made.refusal)
    if (!('plan' in made)) return over(notFound(ref))
    if (!readPlan(made.plan).createNamespace) {
      const message = `there is no namespace ${ref.namespace}; make it, or compose the plan with createNamespace`
      return over(invalid(['input', 'namespace'], message))
    }
    const refusal = await applyHelm.refusal(operation, made)
    if (refusal) return over(refusal)
    try {
      await client.create(Kinds.Namespace, { metadata: { name: ref.namespace } })
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error
    }
    const entered = await this.#enter(ref)
    if (entered === 'NOWHERE') return over(notFound(ref))
    if ('refusal' in entered) return over(entered.refusal)
    return this.#change(operation, entered)
  }
}

const over = (outcome: ApplyOutcome): StartedOperation => ({ over: Promise.resolve(outcome) })

/** Swiss changes what it has made: not an external LLMService, a helm release without a plan, or a foreign ConfigMap. */
function notOurs(live: LiveRelease): ApplyRefusal | null {
  const key = releaseKey(live.ref)
  const refusal = (what: string): ApplyRefusal => ({
    kind: 'ExternalRelease',
    message: `${what}; Swiss did not make it, so it can be read and uninstalled, and is not changed`,
  })
  if (live.service !== null) {
    return isExternal(trimLLMService(live.service)) ? refusal(`the LLMService ${key} is external`) : null
  }
  if (live.backend !== null) return null
  if (live.helm.exists) return refusal(`helm has a release ${key} without a plan`)
  return live.planMap === null ? null : refusal(`there is a foreign ConfigMap in place of the plan of ${key}`)
}

/**
 * Whether an apply would change nothing. What failed, or was never finished, is applied again whatever its hash;
 * so is what the caller wants fields taken over for.
 */
function isSame(
  { forceConflicts }: Operation,
  live: LiveRelease,
  plan: Readonly<Record<string, string>>,
): boolean {
  if (live.data === null || forceConflicts) return false
  const isApplied =
    live.backend === 'LLMSERVICE' ||
    (live.plan?.status?.phase === 'applied' && live.helm.newest?.status === 'deployed')
  return isApplied && planHash(live.data) === planHash(plan)
}
