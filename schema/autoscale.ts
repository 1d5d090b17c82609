import type {
  Autoscale as AutoscaleFacts,
  AutoscalePool as PoolFacts,
} from '../services/autoscale/autoscale.ts'
import type { AutoscaleAction as ActionName, HoldCode } from '../services/autoscale/decide.ts'
import { builder } from './builder.ts'

const AutoscaleAction = builder.enumType('AutoscaleAction', {
  description: 'What the autoscaler has decided.',
  values: {
    NONE: { description: 'The metric asks for what there is.' },
    HOLD: { description: 'Nothing is changed, for a reason.' },
    SCALE_UP: { description: 'More replicas.' },
    SCALE_DOWN: { description: 'Fewer replicas.' },
  } satisfies Record<ActionName, { description: string }>,
})

const AutoscaleHoldCode = builder.enumType('AutoscaleHoldCode', {
  description:
    'Why the autoscaler holds. Where several reasons hold, the first in this order but the last is shown.',
  values: {
    UNINSTALLING: { description: 'The release is being uninstalled.' },
    APPLY_IN_PROGRESS: { description: 'Somebody else is changing it.' },
    NO_POOL: {
      description:
        'The plan has no such pool, or one that cannot be set by itself (`pd.colocate`, or the edit layer fixes it).',
    },
    SCALER_ENABLED: { description: "The chart's own scaler is on." },
    NO_METRICS: { description: 'There is no metric of the last 60 s for one of the pools.' },
    COOLDOWN: { description: 'It was scaled a moment ago.' },
    LAST_APPLY_FAILED: { description: 'The last operation failed; somebody has to look at it first.' },
    POLICY_UNREADABLE: { description: 'The policy cannot be read; shown before NO_POOL.' },
  } satisfies Record<HoldCode, { description: string }>,
})

const AutoscalePool = builder.objectRef<PoolFacts>('AutoscalePool').implement({
  description: 'A pool of a policy, and what was last decided about it.',
  fields: (t) => ({
    name: t.exposeString('name', { description: '`prefill` or `decode`.' }),
    action: t.expose('action', {
      type: AutoscaleAction,
      nullable: true,
      description:
        'What was decided for this pool; HOLD beside another action says that it is cooling down. Null before the first decision.',
    }),
    replicas: t.exposeInt('replicas', {
      nullable: true,
      description: 'Replicas in the plan when it was decided.',
    }),
    desired: t.exposeInt('desired', {
      nullable: true,
      description: 'Replicas that the metric asks for, within the bounds and one step away at most.',
    }),
    min: t.exposeInt('min', { nullable: true, description: 'Fewest replicas.' }),
    max: t.exposeInt('max', { nullable: true, description: 'Most replicas.' }),
    query: t.exposeString('query', {
      nullable: true,
      description: 'PromQL with one sample for an answer; `$namespace` and `$release` stand for the release.',
    }),
    metric: t.exposeFloat('metric', { nullable: true, description: 'The sample that was decided by.' }),
    target: t.exposeFloat('target', {
      nullable: true,
      description: 'What the metric should be; within 10 % of it nothing changes.',
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description:
        'Why this pool could not be decided, for people: what Prometheus said, what the plan lacks.',
    }),
  }),
})

export const Autoscale = builder.objectRef<AutoscaleFacts>('Autoscale').implement({
  description: 'How a release with prefill and decode pools is scaled, and what was last decided.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: 'False when it is switched off, or cannot be read.' }),
    pools: t.expose('pools', { type: [AutoscalePool], description: 'The pools of the policy.' }),
    lastDecisionAt: t.expose('lastDecisionAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last decided; a decision that says the same is noted once a minute.',
    }),
    lastScaledAt: t.expose('lastScaledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the number of replicas was last changed; the cooldowns run from then.',
    }),
    action: t.expose('action', {
      type: AutoscaleAction,
      nullable: true,
      description:
        'HOLD when held, else what the pools did: SCALE_UP before SCALE_DOWN before NONE. Null before the first decision.',
    }),
    holdReason: t.exposeString('holdReason', { nullable: true, description: 'Why it holds, in words.' }),
    holdCode: t.expose('holdCode', {
      type: AutoscaleHoldCode,
      nullable: true,
      description: 'Why it holds, for programs; null for a reason that has no code, such as a refused apply.',
    }),
    cooldownUpSeconds: t.exposeInt('cooldownUpSeconds', {
      nullable: true,
      description: 'Seconds after a change before more replicas are added.',
    }),
    cooldownDownSeconds: t.exposeInt('cooldownDownSeconds', {
      nullable: true,
      description: 'Seconds after a change before replicas are taken away.',
    }),
    maxStep: t.exposeInt('maxStep', {
      nullable: true,
      description: 'Most replicas that one decision adds or takes away; null: it doubles or halves at most.',
    }),
  }),
})
