import { z } from 'zod'
import { ApplyPlanInput, ApplyPlanResult } from '../schema/apply.ts'
import { builder } from '../schema/builder.ts'
import { applyAnswer } from './applyAnswer.ts'
import { forbidden } from './forbidden.ts'
import { atMost, integer, namespaceName, nullable, parseInput, releaseName, text } from './input.ts'

const Args = z.object({
  input: z.object({
    planHash: text,
    namespace: namespaceName,
    name: releaseName,
    expectedRevision: nullable(integer(1, Number.MAX_SAFE_INTEGER)),
    note: nullable(atMost(1024)),
    forceConflicts: z.boolean(),
  }),
})

builder.mutationField('applyPlan', (t) =>
  t.field({
    type: ApplyPlanResult,
    description:
      'Applies a composed plan: to a release, or to a name that has none, which installs it. The plan is written first, then helm runs (15 minutes at most), whether or not the caller waits; an LLMService is written, and its operator goes on. What does not differ from what runs changes nothing.',
    args: {
      input: t.arg({ type: ApplyPlanInput, required: true, description: 'What to apply, and to what.' }),
    },
    resolve: async (_root, args, context) => {
      const parsed = parseInput(Args, args)
      if ('refusal' in parsed) return parsed.refusal
      const request = parsed.data.input
      const refusal = forbidden('DEPLOY', request.namespace, context)
      if (refusal) return refusal
      return applyAnswer(await context.applier.applyPlan(request, context.actor), context)
    },
  }),
)
