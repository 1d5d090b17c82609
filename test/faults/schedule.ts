/** What a schedule is made of: plain data, so that it can be printed, shortened and run again. */
import type { CheckpointName } from '../../services/runtime/checkpoint.ts'

export type GatewayName = 'a' | 'b'

export interface ReleasePlan {
  namespace: string
  name: string
  /** `service`: an LLMService without a plan; `servicePlan`: one beside a plan; `untracked`: helm without a plan. */
  kind: 'helm' | 'leftover' | 'untracked' | 'service' | 'servicePlan'
  pods: PodPlan[]
  /** Whether the operator keeps the object with a finalizer. */
  finalizer: boolean
  /** Whether the workload's pods are told to go as soon as helm is done. */
  podsFollow: boolean
}

export interface PodPlan {
  name: string
  label: 'instance' | 'app'
  node: string
  grace: number
  finalizer: boolean
}

export const POD_ACTIONS = ['add', 'again', 'delete', 'remove', 'removeAll', 'finish', 'finalizer'] as const
export const NODE_ACTIONS = ['lost', 'back', 'removed'] as const
export const OPERATOR_ACTIONS = ['write', 'stage', 'finish', 'delete', 'recreate', 'appear'] as const
export const FOREIGN_ACTIONS = [
  'annotate',
  'unlabel',
  'overwrite',
  'deletePlan',
  'recreatePlan',
  'deleteMark',
  'status',
] as const
export const HELM_BEHAVIOURS = ['ok', 'error', 'killed', 'slow', 'keeps', 'unstarted', 'missing'] as const
/**
 * `lost`: the server acts and the connection breaks; `hang`: it acts and no answer comes, until the time-out;
 * `stuck`: it does not act, and no answer comes; `slow`: it is sent after some seconds only.
 */
export const CALL_FAULTS = [
  '503',
  '409',
  '403',
  '429',
  '500',
  'refused',
  'lost',
  'hang',
  'stuck',
  'slow',
] as const
export const WATCH_FAULTS = ['drop', 'gone', 'silent'] as const
export const CHECKPOINTS = [
  'after-mark',
  'before-helm',
  'during-helm',
  'after-helm',
  'after-archives',
  'after-autoscale',
  'before-plan-delete',
  'before-audit',
] as const satisfies readonly CheckpointName[]

export type CallFault = (typeof CALL_FAULTS)[number]

/** Which calls of a gateway; an empty string is any. */
export interface CallMatch {
  on: GatewayName | ''
  verb: string
  kind: string
  /** The beginning of the object's name. */
  name: string
}

/** What a crash waits for; a `call` one is the n-th call from now on, before or after the server has acted. */
export type CrashPoint = 'now' | CheckpointName | { call: number; when: 'before' | 'after' }

/** Something that happens in the cluster, without any gateway. */
export type ClusterStep =
  | { do: 'pods'; release: number; action: (typeof POD_ACTIONS)[number]; pick: number }
  | { do: 'node'; node: string; action: (typeof NODE_ACTIONS)[number] }
  | { do: 'operator'; release: number; action: (typeof OPERATOR_ACTIONS)[number] }
  | { do: 'foreign'; release: number; action: (typeof FOREIGN_ACTIONS)[number] }

export type Step = { settled: boolean } & (
  | ClusterStep
  | {
      do: 'uninstall'
      release: number
      on: GatewayName
      /** Unique in the schedule; its note in the audit log. */
      id: number
      actor: string
      waitFor: 'ACCEPTED' | 'HELM' | 'GONE'
      wrong: 'revision' | 'uid' | 'name' | null
    }
  | { do: 'helm'; behaviour: (typeof HELM_BEHAVIOURS)[number]; seconds: number }
  | ({ do: 'fault'; what: CallFault; times: number; seconds: number } & CallMatch)
  | { do: 'watch'; what: (typeof WATCH_FAULTS)[number]; kind: string }
  | { do: 'heal' }
  | ({ do: 'between'; step: ClusterStep } & CallMatch)
  /** Empty: whichever gateway comes there first. */
  | { do: 'crash'; on: GatewayName | ''; at: CrashPoint }
  | { do: 'start'; on: GatewayName }
  | { do: 'advance'; seconds: number }
  | { do: 'tick'; on: GatewayName }
  | { do: 'read'; on: GatewayName }
  /** The subscriber is away for so many steps. */
  | { do: 'reconnect'; on: GatewayName; away: number }
  | { do: 'crd'; served: boolean }
)

export interface Schedule {
  seed: number
  replicas: 1 | 2
  releases: ReleasePlan[]
  steps: Step[]
}

/** A step in one line, for people. */
export function describeStep({ settled, ...step }: Step): string {
  return `${JSON.stringify(step)}${settled ? '' : ' (not waited for)'}`
}
