import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { SetAutoscaleInput, SetAutoscaleResult } from '../schema/setAutoscale.ts'
import { MAX_REPLICAS, POOL_NAMES } from '../services/autoscale/policy.ts'
import { forbidden } from './forbidden.ts'
import { atMost, integer, namespaceName, nullable, parseInput, releaseName } from './input.ts'

/** Longest cooldown: a week. */
const MAX_COOLDOWN = 604_800
const MAX_QUERY = 4096

const pool = z
  .object({
    name: z.enum(POOL_NAMES, { error: `must be ${POOL_NAMES.join(' or ')}` }),
    min: integer(0, MAX_REPLICAS),
    max: integer(0, MAX_REPLICAS),
    query: atMost(MAX_QUERY).regex(/\S/, { error: 'must not be empty' }),
    target: z.number().gt(0, { error: 'must be above 0' }),
  })
  .refine(({ min, max }) => min <= max, { path: ['max'], error: 'must not be less than min' })

const pools = z
  .array(pool)
  .min(1, { error: 'must name a pool; null keeps those there are' })
  .max(POOL_NAMES.length, { error: 'must name each pool once' })
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
    error: 'must name each pool once',
  })

const Args = z.object({
  input: z.object({
    namespace: namespaceName,
    name: releaseName,
    enabled: z.boolean(),
    pools: nullable(pools),
    cooldownUpSeconds: nullable(integer(0, MAX_COOLDOWN)),
    cooldownDownSeconds: nullable(integer(0, MAX_COOLDOWN)),
    maxStep: nullable(integer(1, MAX_REPLICAS)),
  }),
})

builder.mutationField('setAutoscale', (t) =>
  t.field({
    type: SetAutoscaleResult,
    description:
      'Sets how the prefill and decode pools of a release are scaled, or switches that off. The release itself is changed by the autoscaler alone, when the metrics ask for it.',
    args: {
      input: t.arg({ type: SetAutoscaleInput, required: true, description: 'The policy, and whose it is.' }),
    },
    resolve: async (_root, args, context) => {
      const parsed = parseInput(Args, args)
      if ('refusal' in parsed) return parsed.refusal
      const request = parsed.data.input
      const refusal = forbidden('DEPLOY', request.namespace, context)
      if (refusal) return refusal
      const outcome = await context.autoscaleSetter.set(request, context.actor)
      if (outcome.kind !== 'SetAutoscale') return outcome
      const { position, ...payload } = outcome
      return { ...payload, cursor: context.feed.cursor(position) }
    },
  }),
)
