/** `policy.yaml` of an autoscale ConfigMap: what a person asked for (contract, section 7). */
import type { PlanData } from '../plans/document.ts'
import { isPlanMap, type PlanMap, type PlanValue } from '../plans/scalars.ts'
import { readYamlMap, writeYaml } from '../plans/yaml.ts'
import { readSeconds, writeSeconds } from './duration.ts'

export const POOL_NAMES = ['prefill', 'decode'] as const
export type PoolName = (typeof POOL_NAMES)[number]

export interface PoolPolicy {
  name: PoolName
  min: number
  max: number
  /** PromQL; `$namespace` and `$release` stand for the release's, as quoted label values. */
  query: string
  /** Of the metric, per replica; greater than 0. */
  target: number
}

export interface Policy {
  enabled: boolean
  pools: PoolPolicy[]
  cooldownUpSeconds: number
  cooldownDownSeconds: number
  /** Replicas per decision; null: double or half. */
  maxStep: number | null
}

export type PolicyReading =
  | { ok: true; policy: Policy }
  /** The reason names a place and never quotes the text. */
  | { ok: false; reason: string }

export const POLICY_KEY = 'policy.yaml'
const COOLDOWN = { up: 60, down: 300 }

/** Reads the policy. One that does not say `enabled: true` asks for nothing, so its pools may be anything. */
export function readPolicy(data: PlanData): PolicyReading {
  const map = policyMap(data)
  if (typeof map === 'string') return { ok: false, reason: map }
  const enabled = map.enabled === true
  const pools = poolsOf(map.pools)
  const cooldown = cooldownOf(map.cooldown)
  const { maxStep = null } = map
  const wrong =
    typeof pools === 'string'
      ? pools
      : typeof cooldown === 'string'
        ? cooldown
        : maxStep !== null && !isCount(maxStep, 1)
          ? 'maxStep is not a whole number from 1 on'
          : map.enabled !== undefined && typeof map.enabled !== 'boolean'
            ? 'enabled is neither true nor false'
            : null
  if (wrong !== null) return { ok: false, reason: `${POLICY_KEY}: ${wrong}` }
  return {
    ok: true,
    policy: {
      enabled,
      pools: pools as PoolPolicy[],
      cooldownUpSeconds: (cooldown as typeof COOLDOWN).up,
      cooldownDownSeconds: (cooldown as typeof COOLDOWN).down,
      maxStep: maxStep as number | null,
    },
  }
}

/** What a change of a policy says; null keeps what there is. */
export interface PolicyChange {
  enabled: boolean
  pools: readonly PoolPolicy[] | null
  cooldownUpSeconds: number | null
  cooldownDownSeconds: number | null
  maxStep: number | null
}

/** The text of a policy after a change. Keys that nobody here knows are kept; an unreadable text is replaced. */
export function changePolicy(data: PlanData, change: PolicyChange): string {
  const read = policyMap(data)
  const before = typeof read === 'string' ? {} : read
  const cooldown = isPlanMap(before.cooldown) ? before.cooldown : {}
  const { cooldownUpSeconds: up, cooldownDownSeconds: down, maxStep } = change
  const next: PlanMap = {
    ...before,
    enabled: change.enabled,
    ...(change.pools === null ? {} : { pools: change.pools.map((pool) => mergedPool(before.pools, pool)) }),
    cooldown: {
      up: writeSeconds(COOLDOWN.up),
      down: writeSeconds(COOLDOWN.down),
      ...cooldown,
      ...(up === null ? {} : { up: writeSeconds(up) }),
      ...(down === null ? {} : { down: writeSeconds(down) }),
    },
    ...(maxStep === null ? {} : { maxStep }),
  }
  return writeYaml(next)
}

/** The pool with the foreign keys that the one of its name had. */
function mergedPool(before: PlanValue | undefined, pool: PoolPolicy): PlanMap {
  const known = Array.isArray(before) ? before.filter(isPlanMap).find(({ name }) => name === pool.name) : null
  return { ...known, ...pool }
}

/** The keys of the policy, or why there are none. */
function policyMap(data: PlanData): PlanMap | string {
  const text = data[POLICY_KEY]
  if (text === undefined) return `there is no ${POLICY_KEY}`
  const reading = readYamlMap(text)
  return reading.ok ? reading.value : `${POLICY_KEY} ${reading.reason}`
}

function poolsOf(value: PlanValue | undefined): PoolPolicy[] | string {
  if (!Array.isArray(value) || value.length === 0) return 'pools names no pool'
  const pools: PoolPolicy[] = []
  for (const [index, item] of value.entries()) {
    const pool = poolOf(item)
    if (typeof pool === 'string') return `pools[${index}] ${pool}`
    if (pools.some(({ name }) => name === pool.name)) return `pools[${index}] is the second one for its pool`
    pools.push(pool)
  }
  return pools
}

function poolOf(value: PlanValue): PoolPolicy | string {
  if (!isPlanMap(value)) return 'is not a map'
  const { min, max, target, query } = value
  const name = POOL_NAMES.find((known) => known === value.name)
  if (name === undefined) return `is for neither ${POOL_NAMES.join(' nor ')}`
  if (!isCount(min, 0) || !isCount(max, 0) || min > max) return 'needs whole numbers min and max, min ≤ max'
  if (typeof target !== 'number' || !Number.isFinite(target) || target <= 0) return 'needs a target above 0'
  if (typeof query !== 'string' || query.trim() === '') return 'needs a query'
  return { name, min, max, query, target }
}

function cooldownOf(value: PlanValue | undefined): typeof COOLDOWN | string {
  if (value === undefined || value === null) return COOLDOWN
  if (!isPlanMap(value)) return 'cooldown is not a map'
  const found = { ...COOLDOWN }
  for (const key of ['up', 'down'] as const) {
    const said = value[key]
    if (said === undefined || said === null) continue
    const seconds = readSeconds(said)
    if (seconds === null) return `cooldown.${key} is not a duration such as 60s or 5m`
    found[key] = seconds
  }
  return found
}

/** More replicas than any cluster has pods for; a typing mistake, then. */
export const MAX_REPLICAS = 10_000

const isCount = (value: PlanValue | undefined, least: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= MAX_REPLICAS
