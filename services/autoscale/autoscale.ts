/** The autoscale ConfigMap of a release as it is kept, and what a row shows of it. Pure. */
import type { KubeObject } from '../cluster/kinds.ts'
import type { PlanData } from '../plans/document.ts'
import { planData } from '../plans/planObject.ts'
import { type AutoscaleAction, HOLD_REASONS, type HoldCode, type PoolDecision } from './decide.ts'
import { type LastDecision, readLastDecision } from './lastDecision.ts'
import { type PolicyReading, type PoolName, readPolicy } from './policy.ts'

export interface AutoscaleObject {
  namespace: string
  objectName: string
  uid: string
  resourceVersion: string
  /** Its texts as they are, to be changed and written back. */
  data: PlanData
  policy: PolicyReading
  last: LastDecision
}

/** A ConfigMap that was read whole, named as an autoscale ConfigMap is. */
export function autoscaleObject(raw: KubeObject): AutoscaleObject {
  const { namespace = '', name, uid, resourceVersion } = raw.metadata
  const data = planData(raw)
  return {
    namespace,
    objectName: name,
    uid,
    resourceVersion,
    data,
    policy: readPolicy(data),
    last: readLastDecision(data),
  }
}

export interface AutoscalePool {
  name: PoolName
  action: AutoscaleAction | null
  replicas: number | null
  desired: number | null
  min: number | null
  max: number | null
  query: string | null
  metric: number | null
  target: number | null
  problem: string | null
}

/** Policy and last decision, as a row shows them. */
export interface Autoscale {
  enabled: boolean
  pools: AutoscalePool[]
  lastDecisionAt: string | null
  lastScaledAt: string | null
  action: AutoscaleAction | null
  holdReason: string | null
  holdCode: HoldCode | null
  cooldownUpSeconds: number | null
  cooldownDownSeconds: number | null
  maxStep: number | null
}

/** A policy that cannot be read holds the autoscaler from that moment on, decided or not. */
export function autoscaleOf({ policy: reading, last }: AutoscaleObject): Autoscale {
  const decided = {
    lastDecisionAt: last.at,
    lastScaledAt: last.lastScaledAt,
    action: last.action,
    holdReason: last.holdReason,
    holdCode: last.holdCode,
  }
  if (!reading.ok) {
    return {
      ...decided,
      enabled: false,
      pools: [],
      action: 'HOLD',
      holdReason: `${HOLD_REASONS.POLICY_UNREADABLE}: ${reading.reason}`,
      holdCode: 'POLICY_UNREADABLE',
      cooldownUpSeconds: null,
      cooldownDownSeconds: null,
      maxStep: null,
    }
  }
  const { enabled, pools, cooldownUpSeconds, cooldownDownSeconds, maxStep } = reading.policy
  return {
    ...decided,
    enabled,
    cooldownUpSeconds,
    cooldownDownSeconds,
    maxStep,
    pools: pools.map(({ name, min, max, query, target }) => {
      const was: PoolDecision | undefined = last.pools.find((pool) => pool.name === name)
      return {
        name,
        action: was?.action ?? null,
        replicas: was?.replicas ?? null,
        desired: was?.desired ?? null,
        min,
        max,
        query,
        metric: was?.metric ?? null,
        target,
        problem: was?.problem ?? null,
      }
    }),
  }
}
