/**
 * The plan ConfigMap as an apply writes it: the whole new plan with the status `applying` before helm runs, and
 * what came of it afterwards. Every write is compare-and-swap, and keeps what others keep there.
 */
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import { LAYERS, layerKey, PLAN_KEY, type PlanData, STATUS_KEY } from '../plans/document.ts'
import { MANAGED_BY, MANAGED_BY_LABEL, planName } from '../plans/names.ts'
import { planData, trimPlan } from '../plans/planObject.ts'
import { changeStatus, type PlanAction, readStatus, type StatusChange } from '../plans/status.ts'

export type PlanConfigMap = KubeObject & { data?: Record<string, string> }

/** What an operation says of itself when it begins. */
export interface Begun {
  action: PlanAction
  /** RFC 3339 in UTC: with it whoever ends the operation knows its own status again. */
  startedAt: string
  actor: string
  note: string | null
  forced: boolean
}

export type BeginOutcome =
  | { kind: 'written'; plan: PlanConfigMap }
  /** Another writer has marked it for an uninstall. */
  | { kind: 'marked' }
  /** It is not the plan that was looked at any more. */
  | { kind: 'changed' }
  /** The API server does not take it for good: it is immutable, or too large. */
  | { kind: 'refused'; message: string }

/** Conflicts in a row after which a write is given up. */
const ATTEMPTS = 20
/** What a plan is made of; every other key is somebody else's. */
const OWN_KEYS: readonly string[] = [PLAN_KEY, STATUS_KEY, ...LAYERS.map(layerKey)]

export class PlanWrites {
  readonly #client: KubeClient

  constructor(client: KubeClient) {
    this.#client = client
  }

  /**
   * Writes the plan of an operation that begins. Throws KubeError when the API server does not answer; it may have
   * been written then, which an unfinished apply shows.
   *
   * @param looked the plan ConfigMap as it was looked at under the lock; null where there is none
   */
  async begin(
    ref: ReleaseRef,
    looked: PlanConfigMap | null,
    data: PlanData,
    begun: Begun,
  ): Promise<BeginOutcome> {
    const change: StatusChange = {
      phase: 'applying',
      action: begun.action,
      startedAt: begun.startedAt,
      now: Date.parse(begun.startedAt),
      error: null,
      note: begun.note,
      forced: begun.forced || null,
      actor: begun.actor,
    }
    let live = looked
    for (let attempt = 1; ; attempt++) {
      try {
        const next = planOf(ref, live, data, change)
        const plan = live
          ? await this.#client.update<PlanConfigMap>(Kinds.ConfigMap, next as PlanConfigMap)
          : await this.#client.create<PlanConfigMap>(Kinds.ConfigMap, next)
        return { kind: 'written', plan }
      } catch (error) {
        if (isKubeError(error, 'Invalid', 'TooLarge')) return { kind: 'refused', message: error.message }
        if (isKubeError(error, 'Unavailable')) return this.#writtenAfterAll(ref, begun, error)
        if (!isKubeError(error, 'Conflict', 'AlreadyExists', 'NotFound')) throw error
        // A namespace that is not there answers a create like this.
        if (isKubeError(error, 'NotFound') && live === null) throw error
        if (attempt >= ATTEMPTS) return { kind: 'changed' }
      }
      const now = await this.#get(ref)
      if (now && trimPlan(now)?.marked) return { kind: 'marked' }
      if (!now || !looked || !isSamePlan(looked, now)) return { kind: 'changed' }
      live = now
    }
  }

  /**
   * Writes what came of an operation; null when its status is not there any more, since another writer has gone
   * on. Throws KubeError.
   */
  async end(
    ref: ReleaseRef,
    startedAt: string,
    change: Omit<StatusChange, 'now'>,
  ): Promise<PlanConfigMap | null> {
    let { error = null } = change
    for (let attempt = 1; ; attempt++) {
      const live = await this.#get(ref)
      if (!live) return null
      const { status } = readStatus(planData(live))
      if (status?.phase !== 'applying' || status.startedAt !== startedAt) return null
      const text = changeStatus(planData(live), { ...change, error, now: this.#client.now() })
      try {
        const data = { ...live.data, [STATUS_KEY]: text }
        return await this.#client.update<PlanConfigMap>(Kinds.ConfigMap, { ...live, data })
      } catch (failure) {
        // The plan is all but full: that it failed must fit, why is also in the run.
        if (isKubeError(failure, 'Invalid', 'TooLarge') && error !== null && error !== NO_ROOM) {
          error = NO_ROOM
        } else if (!isKubeError(failure, 'Conflict') || attempt >= ATTEMPTS) throw failure
      }
    }
  }

  /** A write that got no answer may have happened; only a fresh read tells. Throws the first error when it has not. */
  async #writtenAfterAll(ref: ReleaseRef, { startedAt }: Begun, error: unknown): Promise<BeginOutcome> {
    const plan = await this.#get(ref).catch(() => null)
    if (!plan) throw error
    const { status } = readStatus(planData(plan))
    if (status?.phase !== 'applying' || status.startedAt !== startedAt) throw error
    return { kind: 'written', plan }
  }

  async #get({ namespace, name }: ReleaseRef): Promise<PlanConfigMap | null> {
    try {
      return await this.#client.get<PlanConfigMap>(Kinds.ConfigMap, { namespace, name: planName(name) })
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return null
      throw error
    }
  }
}

const NO_ROOM = 'see the run'

/** The ConfigMap with the new plan in it: layers that the new plan has not got go, keys of others stay. */
function planOf(ref: ReleaseRef, live: PlanConfigMap | null, plan: PlanData, status: StatusChange) {
  const before = live ? planData(live) : {}
  const kept = Object.entries(before).filter(([key]) => !OWN_KEYS.includes(key))
  const data = { ...Object.fromEntries(kept), ...plan, [STATUS_KEY]: changeStatus(before, status) }
  const labels = { ...live?.metadata.labels, [MANAGED_BY_LABEL]: MANAGED_BY }
  const metadata = live?.metadata ?? { namespace: ref.namespace, name: planName(ref.name) }
  return { ...live, metadata: { ...metadata, labels }, data }
}

/** Whether only what is not the plan's has been written since: labels, annotations, keys of others. */
function isSamePlan(one: PlanConfigMap, other: PlanConfigMap): boolean {
  return (
    one.metadata.uid === other.metadata.uid && OWN_KEYS.every((key) => one.data?.[key] === other.data?.[key])
  )
}
