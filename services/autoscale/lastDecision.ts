/** `status.yaml` of an autoscale ConfigMap: the autoscaler's last decision (contract, section 7). */
import { type PlanData, textAt } from '../plans/document.ts'
import { isPlanMap, type PlanMap, type PlanValue } from '../plans/scalars.ts'
import { readStatusMap, rfc3339, timeAt } from '../plans/status.ts'
import { writeYaml } from '../plans/yaml.ts'
import {
  type AutoscaleAction,
  type Decision,
  HOLD_REASONS,
  type HoldCode,
  type PoolDecision,
} from './decide.ts'
import { POOL_NAMES } from './policy.ts'

export interface LastDecision {
  /** RFC 3339 in UTC; null when it does not say. */
  at: string | null
  action: AutoscaleAction | null
  holdReason: string | null
  /** Null for a reason in other words than ours. */
  holdCode: HoldCode | null
  pools: PoolDecision[]
  lastScaledAt: string | null
}

const WORDS: Readonly<Record<AutoscaleAction, string>> = {
  NONE: 'none',
  HOLD: 'hold',
  SCALE_UP: 'scale-up',
  SCALE_DOWN: 'scale-down',
}

/** Reads the last decision; whatever is absent or cannot be read is null. */
export function readLastDecision(data: PlanData): LastDecision {
  const read = readStatusMap(data)
  const map = typeof read === 'string' ? null : read
  const holdReason = textAt(map, 'holdReason')
  const action = actionOf(textAt(map, 'action'))
  return {
    at: timeAt(map, 'at'),
    action,
    holdReason,
    holdCode: codeOf(holdReason),
    pools: poolsOf(map?.pools, action),
    lastScaledAt: timeAt(map, 'lastScaledAt'),
  }
}

/**
 * The text of a status after a decision. Keys that nobody here knows are kept; an unreadable text is replaced.
 *
 * @param lastScaledAt RFC 3339 in UTC
 * @param now milliseconds
 */
export function writeDecision(
  data: PlanData,
  { action, holdReason, pools }: Decision,
  lastScaledAt: string | null,
  now: number,
): string {
  const read = readStatusMap(data)
  const before = typeof read === 'string' ? null : read
  return writeYaml({
    ...before,
    at: rfc3339(now),
    action: WORDS[action],
    holdReason,
    pools: pools.map((pool) => ({ ...pool, action: WORDS[pool.action] })),
    lastScaledAt,
  })
}

/** True when the decision says nothing new, apart from when it was made. */
export function saysTheSame(last: LastDecision, { action, holdReason, pools }: Decision): boolean {
  if (last.action !== action || last.holdReason !== holdReason || last.pools.length !== pools.length)
    return false
  return pools.every((pool, index) => {
    const before = last.pools[index]
    return before !== undefined && POOL_KEYS.every((key) => before[key] === pool[key])
  })
}

const POOL_KEYS = ['name', 'action', 'replicas', 'desired', 'metric', 'problem'] as const

function actionOf(text: string | null): AutoscaleAction | null {
  const said = text?.toUpperCase().replaceAll(/[^A-Z]/g, '') ?? ''
  return (Object.keys(WORDS) as AutoscaleAction[]).find((action) => action.replace('_', '') === said) ?? null
}

function codeOf(reason: string | null): HoldCode | null {
  if (reason === null) return null
  const codes = Object.keys(HOLD_REASONS) as HoldCode[]
  return (
    codes.find((code) => reason === HOLD_REASONS[code] || reason.startsWith(`${HOLD_REASONS[code]}:`)) ?? null
  )
}

function poolsOf(value: PlanValue | undefined, action: AutoscaleAction | null): PoolDecision[] {
  if (!Array.isArray(value)) return []
  return value.filter(isPlanMap).flatMap((pool) => poolOf(pool, action) ?? [])
}

function poolOf(pool: PlanMap, action: AutoscaleAction | null): PoolDecision | null {
  const name = POOL_NAMES.find((known) => known === pool.name)
  if (name === undefined) return null
  const replicas = numberAt(pool, 'replicas')
  const desired = numberAt(pool, 'desired')
  return {
    name,
    action: actionOf(textAt(pool, 'action')) ?? impliedAction(action, replicas, desired),
    replicas,
    desired,
    metric: numberAt(pool, 'metric'),
    problem: textAt(pool, 'problem'),
  }
}

/** Older tools leave out what a pool did: it follows from the numbers. */
function impliedAction(
  action: AutoscaleAction | null,
  replicas: number | null,
  desired: number | null,
): AutoscaleAction {
  if (action === 'HOLD') return 'HOLD'
  if (replicas === null || desired === null || replicas === desired) return 'NONE'
  return desired > replicas ? 'SCALE_UP' : 'SCALE_DOWN'
}

function numberAt(map: PlanMap, key: string): number | null {
  const value = map[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
