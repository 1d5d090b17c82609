import { builder } from '../schema/builder.ts'
import { Plan } from '../schema/plan.ts'
import { Release } from '../schema/release.ts'
import { live } from './errors.ts'

builder.objectField(Release, 'plan', (t) =>
  t.field({
    type: Plan,
    nullable: true,
    description:
      'The live plan; null where there is none or it cannot be read, then a warning says why. An LLMService is its own plan: that one is read live, only when it is selected. Errors: CLUSTER_UNAVAILABLE.',
    resolve: (detail, _args, { details }) =>
      detail.llmService ? live(() => details.servicePlan(detail)) : detail.plan,
  }),
)
