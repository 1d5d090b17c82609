/** Whether to scale a release, and to what: pure (contract, section 7). */
import type { PolicyReading, PoolName, PoolPolicy } from './policy.ts'
import type { ScalingFacts } from './scaling.ts'

export type AutoscaleAction = 'NONE' | 'HOLD' | 'SCALE_UP' | 'SCALE_DOWN'

export type HoldCode =
  | 'UNINSTALLING'
  | 'APPLY_IN_PROGRESS'
  | 'POLICY_UNREADABLE'
  | 'NO_POOL'
  | 'SCALER_ENABLED'
  | 'NO_METRICS'
  | 'COOLDOWN'
  | 'LAST_APPLY_FAILED'

/** The words that are kept in status.yaml and shown. A policy that cannot be read has its reason behind them. */
export const HOLD_REASONS: Readonly<Record<HoldCode, string>> = {
  UNINSTALLING: 'uninstalling',
  APPLY_IN_PROGRESS: 'apply in progress',
  POLICY_UNREADABLE: 'policy unreadable',
  NO_POOL: 'no pool',
  SCALER_ENABLED: 'scaler enabled',
  NO_METRICS: 'no metrics',
  COOLDOWN: 'cooldown',
  LAST_APPLY_FAILED: 'last apply failed',
}

/** A metric, or why there is none. */
export type Metric = { value: number } | { missing: string }

export interface DecideInput {
  uninstalling: boolean
  /** Somebody holds the release's lock, or says that an apply goes on. */
  applying: boolean
  policy: PolicyReading
  /** Null when the values cannot be read. */
  scaling: ScalingFacts | null
  /** Null: not asked yet. Then the decision is a hold that needs no metrics, or one for want of them. */
  metrics: Partial<Record<PoolName, Metric>> | null
  /** Milliseconds; null when it has never been scaled. */
  lastScaledAt: number | null
  lastApplyFailed: boolean
  /** Milliseconds. */
  now: number
}

export interface PoolDecision {
  name: PoolName
  action: AutoscaleAction
  /** As the plan has them; null when that is not known. */
  replicas: number | null
  /** What the policy asks for by this metric; null without one. */
  desired: number | null
  metric: number | null
  /** What is wrong with this pool; null when nothing is. */
  problem: string | null
}

export interface Decision {
  /** HOLD when held, else what the pools do: SCALE_UP before SCALE_DOWN before NONE. */
  action: AutoscaleAction
  /** What to set, for the pools that change. Empty unless the action is to scale. */
  replicas: Partial<Record<PoolName, number>>
  holdReason: string | null
  holdCode: HoldCode | null
  pools: PoolDecision[]
}

/** Within this much of the target nothing changes. */
const TOLERANCE = 0.1
/** So that 1.1 times a target is within 10 % of it, whatever the last bit of the quotient. */
const EPSILON = 1e-9

/** The first reason to hold, in the contract's order, else what each pool needs. */
export function decide(input: DecideInput): Decision {
  const { policy, scaling, metrics } = input
  const pools = policy.ok ? policy.policy.pools.map((pool) => poolFacts(pool, input)) : []
  if (input.uninstalling) return held('UNINSTALLING', pools)
  if (input.applying) return held('APPLY_IN_PROGRESS', pools)
  if (!policy.ok) return held('POLICY_UNREADABLE', pools, policy.reason)
  if (pools.some(({ replicas, problem }) => replicas === null || problem !== null))
    return held('NO_POOL', pools)
  if (scaling?.scaler) return held('SCALER_ENABLED', pools)
  if (metrics === null) return held('NO_METRICS', pools)
  const measured = policy.policy.pools.map((pool) => measure(pool, input))
  if (measured.some(({ metric }) => metric === null)) return held('NO_METRICS', measured)
  const wanted = measured.filter(({ action }) => action !== 'NONE')
  const ready = wanted.filter(({ action }) => !isCooling(action, input))
  if (wanted.length > 0 && ready.length === 0) return held('COOLDOWN', measured)
  if (input.lastApplyFailed) return held('LAST_APPLY_FAILED', measured)
  return {
    action: strongest(ready),
    replicas: Object.fromEntries(ready.map(({ name, desired }) => [name, desired])),
    holdReason: null,
    holdCode: null,
    // One pool may go while the other still cools down: the two directions wait for different times.
    pools: measured.map((pool) =>
      wanted.includes(pool) && !ready.includes(pool) ? { ...pool, action: 'HOLD' } : pool,
    ),
  }
}

/** A decision to do nothing for this reason, whoever found it. */
export function held(code: HoldCode | null, pools: readonly PoolDecision[], detail?: string): Decision {
  const words = code === null ? null : HOLD_REASONS[code]
  return {
    action: 'HOLD',
    replicas: {},
    holdReason: [words, detail].filter((part) => part).join(': '),
    holdCode: code,
    pools: pools.map((pool) => ({ ...pool, action: 'HOLD' })),
  }
}

/** As the plan has the pool, before any metric. */
function poolFacts({ name }: PoolPolicy, { scaling }: DecideInput): PoolDecision {
  return {
    name,
    action: 'HOLD',
    replicas: scaling?.pools[name] ?? null,
    desired: null,
    metric: null,
    problem: poolProblem(name, scaling),
  }
}

function poolProblem(name: PoolName, scaling: ScalingFacts | null): string | null {
  if (scaling === null) return 'the values of the plan cannot be read'
  if (scaling.pools[name] === undefined) return `the plan has no pd.${name}.replicas`
  if (scaling.colocated) return 'pd.colocate is set: prefill and decode share their pods'
  if (scaling.fixed.includes(name)) return `the edit layer fixes pd.${name}.replicas, above the form`
  return null
}

function measure(pool: PoolPolicy, input: DecideInput): PoolDecision {
  const facts = poolFacts(pool, input)
  const metric = input.metrics?.[pool.name] ?? { missing: 'it was not asked for' }
  if ('missing' in metric) return { ...facts, problem: metric.missing }
  const { value } = metric
  if (!Number.isFinite(value) || value < 0) return { ...facts, problem: `the metric is ${value}` }
  const replicas = facts.replicas ?? 0
  const maxStep = input.policy.ok ? input.policy.policy.maxStep : null
  const desired = desiredReplicas(pool, replicas, value, maxStep)
  const action = desired > replicas ? 'SCALE_UP' : desired < replicas ? 'SCALE_DOWN' : 'NONE'
  return { ...facts, action, desired, metric: value }
}

/**
 * ceil(replicas × metric / target), within the bounds of the pool, and one step away at most. Within the
 * tolerance the metric asks for no change; the bounds still do, so that raising `min` has an effect. Without a
 * `maxStep` the number doubles or halves at most; from 0, which cannot double, it goes to 1.
 */
function desiredReplicas(pool: PoolPolicy, replicas: number, metric: number, maxStep: number | null): number {
  const ratio = metric / pool.target
  const calm = Math.abs(ratio - 1) <= TOLERANCE + EPSILON
  const byMetric = calm ? replicas : Math.ceil(replicas * ratio - EPSILON)
  const bounded = Math.min(pool.max, Math.max(pool.min, byMetric))
  const most = maxStep === null ? Math.max(1, replicas * 2) : replicas + maxStep
  const least = maxStep === null ? Math.ceil(replicas / 2) : replicas - maxStep
  return Math.min(most, Math.max(least, bounded))
}

function isCooling(action: AutoscaleAction, { policy, lastScaledAt, now }: DecideInput): boolean {
  if (lastScaledAt === null || !policy.ok) return false
  const { cooldownUpSeconds, cooldownDownSeconds } = policy.policy
  const cooldown = (action === 'SCALE_UP' ? cooldownUpSeconds : cooldownDownSeconds) * 1000
  // A time a little ahead is another gateway's clock; one far ahead is no time that anything was scaled at.
  return Math.abs(now - lastScaledAt) < cooldown
}

function strongest(pools: readonly PoolDecision[]): AutoscaleAction {
  const order = ['SCALE_UP', 'SCALE_DOWN'] as const
  return order.find((action) => pools.some((pool) => pool.action === action)) ?? 'NONE'
}
