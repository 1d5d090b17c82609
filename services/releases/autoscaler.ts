/**
 * One pass of the autoscaler (contract, section 7): for each release with a policy, decide from the caches and the
 * metrics, apply what is to be changed through the one lock, and note the decision beside the policy.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../auth/actor.ts'
import { type AutoscaleObject, autoscaleObject } from '../autoscale/autoscale.ts'
import { type DecideInput, type Decision, decide, held } from '../autoscale/decide.ts'
import type { Metrics } from '../autoscale/metrics.ts'
import { queryFor } from '../autoscale/query.ts'
import { scalingOfPlan } from '../autoscale/scaling.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds } from '../cluster/kinds.ts'
import type { AutoscalePolicies } from '../deployments/autoscalePolicies.ts'
import type { ClusterCaches } from '../deployments/caches.ts'
import { isHeld, trimLock } from '../deployments/lockFacts.ts'
import { type ReleaseRef, type Row, releaseKey } from '../deployments/row.ts'
import type { DeploymentView } from '../deployments/view.ts'
import { withForm } from '../plans/change.ts'
import { autoscaleName, lockName } from '../plans/names.ts'
import type { TaskTracker } from '../runtime/tasks.ts'
import type { ApplyLocked } from './applyLocked.ts'
import type { AutoscaleWrites } from './autoscaleWrites.ts'
import type { LiveRelease } from './liveRelease.ts'
import type { Made } from './operation.ts'
import type { ApplyOutcome } from './outcome.ts'
import { changedMeanwhile } from './refusals.ts'

export const AUTOSCALER: Actor = { name: 'autoscaler', groups: [] }

/** Releases that are decided at the same time. */
const PARALLEL = 8

export interface AutoscalerOptions {
  client: KubeClient
  caches: ClusterCaches
  view: DeploymentView
  policies: AutoscalePolicies
  applyLocked: ApplyLocked
  writes: AutoscaleWrites
  metrics: Metrics
  tasks: TaskTracker
  readOnly: boolean
  stopping: AbortSignal
}

export class Autoscaler {
  readonly #options: AutoscalerOptions

  constructor(options: AutoscalerOptions) {
    this.#options = options
  }

  /** Decides once for each release with a policy that is switched on. A helm that it starts is not waited for. */
  async pass(): Promise<void> {
    const { view, readOnly, stopping } = this.#options
    if (readOnly) return
    const waiting = view.snapshot(undefined).filter(({ autoscale }) => autoscale !== null)
    const worker = async () => {
      for (let row = waiting.pop(); row && !stopping.aborted; row = waiting.pop()) await this.#one(row)
    }
    await Promise.all(Array.from({ length: PARALLEL }, worker))
  }

  async #one(row: Row): Promise<void> {
    const { policies, writes } = this.#options
    const ref = { namespace: row.namespace, name: row.name }
    const object = policies.get(ref)
    if (object === null || (object.policy.ok && !object.policy.policy.enabled)) return
    const facts = await this.#facts(ref, row, object)
    const early = decide(facts)
    if (early.holdCode !== 'NO_METRICS') return writes.note(ref, early)
    const input = { ...facts, metrics: await this.#metrics(ref, object) }
    const decision = decide(input)
    if (Object.keys(decision.replicas).length === 0) return writes.note(ref, decision)
    await this.#apply(ref, input, decision)
  }

  /** What the caches know. A lock that an older tool has made has no label to watch it by, so it is looked at live. */
  async #facts(ref: ReleaseRef, row: Row, object: AutoscaleObject): Promise<DecideInput> {
    const { client, view } = this.#options
    const { plan, llmService, lock } = view.inputs(ref)
    const now = client.now()
    const uninstalling = row.phase === 'UNINSTALLING'
    const isService = row.backend === 'LLMSERVICE'
    return {
      uninstalling,
      applying:
        !uninstalling && (row.phase === 'APPLYING' || isHeld(lock, now) || (await this.#isLocked(ref))),
      policy: object.policy,
      scaling: isService ? (llmService?.scaling ?? null) : plan && scalingOfPlan(plan.layers),
      metrics: null,
      lastScaledAt: millis(object.last.lastScaledAt),
      lastApplyFailed: row.phase === 'FAILED',
      now,
    }
  }

  async #isLocked({ namespace, name }: ReleaseRef): Promise<boolean> {
    const { client } = this.#options
    try {
      const lease = await client.get(Kinds.Lease, { namespace, name: lockName(name) })
      return isHeld(trimLock(lease), client.now())
    } catch (error) {
      if (!isKubeError(error)) throw error
      // Whoever goes on has to take the lock, and hears of it then.
      return false
    }
  }

  async #metrics(ref: ReleaseRef, { policy }: AutoscaleObject): Promise<DecideInput['metrics']> {
    const { metrics, stopping } = this.#options
    const pools = policy.ok ? policy.policy.pools : []
    const found = await Promise.all(
      pools.map(async ({ name, query }) => [name, await metrics.query(queryFor(query, ref), stopping)]),
    )
    return Object.fromEntries(found)
  }

  async #apply(ref: ReleaseRef, input: DecideInput, decision: Decision): Promise<void> {
    const { applyLocked, tasks, writes, policies } = this.#options
    const before = policies.get(ref)?.last.lastScaledAt ?? null
    let claimed = false
    const { over } = await applyLocked.start({
      ref,
      action: 'autoscale',
      actor: AUTOSCALER,
      note: noteOf(decision),
      expectedRevision: null,
      forceConflicts: false,
      make: async (live) => {
        const made = await this.#make(live, input, decision)
        claimed = 'plan' in made
        return made
      },
    })
    tasks.run(`autoscale ${releaseKey(ref)}`, async (task) => {
      const outcome = await task.park(over)
      const came = cameOf(outcome, decision)
      if (came === null) return
      if (!claimed) await writes.note(ref, came)
      // A change that was refused after all starts no cooldown.
      else await writes.scaled(ref, came, outcome.kind === 'Apply' ? 'now' : before)
    })
  }

  /**
   * Under the lock everything is looked at once more: what another gateway has done since the caches were read
   * must not be done twice. The moment is written first, so that the cooldown runs whatever happens to this gateway.
   */
  async #make(live: LiveRelease, input: DecideInput, decision: Decision): Promise<Made> {
    const { client, writes } = this.#options
    const { ref, data } = live
    const again = { refusal: changedMeanwhile(ref) }
    const object = await this.#live(ref)
    if (object === null || !object.policy.ok || !object.policy.policy.enabled || data === null) return again
    const now = decide({
      ...input,
      policy: object.policy,
      scaling: scalingOfPlan(data),
      lastScaledAt: millis(object.last.lastScaledAt),
      lastApplyFailed: live.plan?.status?.phase === 'failed' || phaseOf(live) === 'Failed',
      now: client.now(),
    })
    if (!isDeepStrictEqual(now.replicas, decision.replicas)) return again
    if (!(await writes.claim(object, decision))) return again
    const pools = Object.entries(decision.replicas).map(([name, replicas]) => [name, { replicas }])
    return { plan: withForm(data, { pd: Object.fromEntries(pools) }) }
  }

  async #live({ namespace, name }: ReleaseRef): Promise<AutoscaleObject | null> {
    try {
      const ref = { namespace, name: autoscaleName(name) }
      return autoscaleObject(await this.#options.client.get(Kinds.ConfigMap, ref))
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return null
      throw error
    }
  }
}

const phaseOf = ({ service }: LiveRelease): unknown =>
  (service?.status as { phase?: unknown } | undefined)?.phase

const millis = (time: string | null): number | null => (time === null ? null : Date.parse(time))

/** `decode 2 → 4 (metric 16)`. */
function noteOf({ pools, replicas }: Decision): string {
  return pools
    .filter(({ name }) => replicas[name] !== undefined)
    .map(({ name, replicas: from, desired, metric }) => `${name} ${from} → ${desired} (metric ${metric})`)
    .join(', ')
}

/** The decision as it came out; null where there is no release to note it for. */
function cameOf(outcome: ApplyOutcome, decision: Decision): Decision | null {
  switch (outcome.kind) {
    case 'Apply':
      return decision
    case 'ReleaseNotFound':
      return null
    case 'ReleaseUninstalling':
      return held('UNINSTALLING', decision.pools)
    case 'ApplyInProgress':
      return held('APPLY_IN_PROGRESS', decision.pools)
    case 'HelmFailed':
      return held('LAST_APPLY_FAILED', decision.pools)
    default:
      return held(null, decision.pools, outcome.message)
  }
}
