import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { SetSloInput, SetSloResult } from '../schema/slo.ts'
import type { SloThreshold } from '../services/slo/slo.ts'
import { forbidden } from './forbidden.ts'
import { namespaceName, nullable, parseInput, releaseName, text } from './input.ts'

const thresholds = nullable(
  z.array(z.custom<SloThreshold>()).max(100, { error: 'must have at most 100 entries' }),
)

const Args = z.object({
  input: z.object({
    namespace: namespaceName,
    name: releaseName,
    route: nullable(text),
    priority: nullable(z.number()),
    highPriority: nullable(z.boolean()),
    minimumReplicas: nullable(z.number()),
    maximumReplicas: nullable(z.number()),
    ttft: thresholds,
    otps: thresholds,
  }),
})

builder.mutationField('setSlo', (t) =>
  t.field({
    type: SetSloResult,
    description: 'Changes the service level of a release at the SLO service. What is left out stays.',
    args: { input: t.arg({ type: SetSloInput, required: true, description: 'What to change.' }) },
    resolve: (_root, args, context) => {
      const parsed = parseInput(Args, args)
      if ('refusal' in parsed) return parsed.refusal
      const request = parsed.data.input
      return forbidden('DEPLOY', request.namespace, context) ?? context.slo.set(request, context.actor)
    },
  }),
)
