import type { ConditionDetail, LLMServiceDetail } from '../services/releases/detailTypes.ts'
import { builder } from './builder.ts'
import { Deletion } from './deletion.ts'
import { DeploymentPhase } from './phase.ts'

const Condition = builder.objectRef<ConditionDetail>('Condition').implement({
  description: 'A condition of an LLMService, as the operator wrote it.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'What it is about.' }),
    status: t.exposeString('status', { description: '`True`, `False` or `Unknown`.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'One word, for programs.' }),
    message: t.exposeString('message', { nullable: true, description: 'For people.' }),
    lastTransitionTime: t.expose('lastTransitionTime', {
      type: 'DateTime',
      nullable: true,
      description: 'When the status last changed.',
    }),
  }),
})

export const LLMServiceStatus = builder.objectRef<LLMServiceDetail>('LLMServiceStatus').implement({
  description: 'How an LLMService stands.',
  fields: (t) => ({
    phase: t.expose('phase', { type: DeploymentPhase, description: 'Its phase, in the words of this API.' }),
    operatorPhase: t.exposeString('operatorPhase', {
      nullable: true,
      description: "`status.phase` in the operator's own words.",
    }),
    message: t.exposeString('message', { nullable: true, description: '`status.message`.' }),
    revision: t.exposeInt('revision', {
      nullable: true,
      description: '`status.helm.revision`; null when there is none, never 0.',
    }),
    conditions: t.expose('conditions', { type: [Condition], description: '`status.conditions`.' }),
    deletion: t.expose('deletion', {
      type: Deletion,
      nullable: true,
      description: '`status.deletion`, from an operator that stages deletion.',
    }),
    finalizers: t.exposeStringList('finalizers', { description: 'Finalizers that keep the object.' }),
  }),
})
