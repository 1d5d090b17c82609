import { z } from 'zod'
import { ApplyPlanResult, RollbackReleaseInput } from '../schema/apply.ts'
import { builder } from '../schema/builder.ts'
import { applyAnswer } from './applyAnswer.ts'
import { forbidden } from './forbidden.ts'
import { atMost, integer, namespaceName, nullable, parseInput, releaseName } from './input.ts'

const Args = z.object({
  input: z.object({
    namespace: namespaceName,
    name: releaseName,
    toRevision: integer(1, Number.MAX_SAFE_INTEGER),
    expectedRevision: nullable(integer(1, Number.MAX_SAFE_INTEGER)),
    note: nullable(atMost(1024)),
  }),
})

builder.mutationField('rollbackRelease', (t) =>
  t.field({
    type: ApplyPlanResult,
    description:
      'Brings a release back to an earlier revision, with the plan it had then: a new revision with the old content. helm rolls back from its archive, an LLMService from the snapshot of its operator.',
    args: {
      input: t.arg({ type: RollbackReleaseInput, required: true, description: 'What to bring back.' }),
    },
    resolve: async (_root, args, context) => {
      const parsed = parseInput(Args, args)
      if ('refusal' in parsed) return parsed.refusal
      const request = parsed.data.input
      const refusal = forbidden('DEPLOY', request.namespace, context)
      if (refusal) return refusal
      return applyAnswer(await context.applier.rollback(request, context.actor), context)
    },
  }),
)
