import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { ResetSloInput, SetSloResult } from '../schema/slo.ts'
import { forbidden } from './forbidden.ts'
import { namespaceName, parseInput, releaseName } from './input.ts'

const Args = z.object({ input: z.object({ namespace: namespaceName, name: releaseName }) })

builder.mutationField('resetSlo', (t) =>
  t.field({
    type: SetSloResult,
    description: 'Puts the service level of a release back to the defaults of the SLO service.',
    args: { input: t.arg({ type: ResetSloInput, required: true, description: 'Which release.' }) },
    resolve: (_root, args, context) => {
      const parsed = parseInput(Args, args)
      if ('refusal' in parsed) return parsed.refusal
      const request = parsed.data.input
      return forbidden('DEPLOY', request.namespace, context) ?? context.slo.reset(request, context.actor)
    },
  }),
)
