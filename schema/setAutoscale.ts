import type { AutoscaleSet, SetAutoscaleRefusal } from '../services/releases/autoscaleSetter.ts'
import type { RefusalOf } from '../services/releases/outcome.ts'
import { builder } from './builder.ts'
import { Deployment } from './deployment.ts'
import {
  ApplyInProgressError,
  ClusterUnavailableError,
  ConflictError,
  ExternalReleaseError,
  errorTypeName,
  ForbiddenError,
  InvalidInputError,
  RateLimitedError,
  ReadOnlyError,
  ReleaseNotFoundError,
  ReleaseUninstallingError,
} from './errors.ts'
import { Run } from './run.ts'

const AutoscalePoolInput = builder.inputType('AutoscalePoolInput', {
  description: 'How one pool is scaled.',
  fields: (t) => ({
    name: t.string({ required: true, description: '`prefill` or `decode`.' }),
    min: t.int({
      required: true,
      description:
        'Fewest replicas, 0 to 10,000. A pool that has come to 0 has no load to come back by, so 1 is the usual least.',
    }),
    max: t.int({ required: true, description: 'Most replicas, from `min` to 10,000.' }),
    query: t.string({
      required: true,
      description:
        'PromQL with one sample for an answer: the load of one replica, on average. `$namespace` and `$release` are replaced by the quoted names, as in `avg(queue_length{namespace=$namespace, release=$release})`.',
    }),
    target: t.float({ required: true, description: 'What the metric should be; above 0.' }),
  }),
})

export const SetAutoscaleInput = builder.inputType('SetAutoscaleInput', {
  description: 'The autoscale policy of a release. What is null or left out stays as it is.',
  fields: (t) => ({
    namespace: t.string({ required: true, description: 'Namespace of the release.' }),
    name: t.string({ required: true, description: 'Name of the release.' }),
    enabled: t.boolean({ required: true, description: 'False keeps the policy and scales nothing.' }),
    pools: t.field({
      type: [AutoscalePoolInput],
      description: 'All pools, each once. Null keeps them.',
    }),
    cooldownUpSeconds: t.int({
      description: 'Seconds after a change before more replicas are added; 60 when it was never set.',
    }),
    cooldownDownSeconds: t.int({
      description: 'Seconds after a change before replicas are taken away; 300 when it was never set.',
    }),
    maxStep: t.int({
      description:
        'Most replicas that one decision adds or takes away, from 1 on; when it was never set, a pool doubles or halves at most.',
    }),
  }),
})

/** A policy that is set, with its feed position as a cursor. */
type SetAutoscale = Omit<AutoscaleSet, 'position'> & { cursor: string }

const SetAutoscalePayload = builder.objectRef<SetAutoscale>('SetAutoscalePayload').implement({
  description: 'The policy is written; the next decision, within 15 seconds, goes by it.',
  fields: (t) => ({
    deployment: t.expose('row', {
      type: Deployment,
      nullable: true,
      description: 'The row as the list has it now.',
    }),
    run: t.expose('run', {
      type: Run,
      nullable: true,
      description: 'The run in the audit log; null when the policy said all of that already.',
    }),
    cursor: t.expose('cursor', {
      type: 'Cursor',
      description: "Position just before the change's own event: with it as `since` nothing of it is missed.",
    }),
  }),
})

export const SetAutoscaleResult = builder.unionType('SetAutoscaleResult', {
  description: 'The policy, or why it is not set. May grow: select `... on UserError` for what is not named.',
  types: [
    SetAutoscalePayload,
    ReleaseNotFoundError,
    ReleaseUninstallingError,
    ApplyInProgressError,
    ExternalReleaseError,
    ConflictError,
    InvalidInputError,
    ForbiddenError,
    RateLimitedError,
    ReadOnlyError,
    ClusterUnavailableError,
  ],
  resolveType: (result: SetAutoscale | SetAutoscaleRefusal | RefusalOf<'Forbidden' | 'RateLimited'>) =>
    result.kind === 'SetAutoscale' ? 'SetAutoscalePayload' : errorTypeName(result.kind),
})
