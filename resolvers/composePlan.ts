import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { ComposePlanInput, ComposePlanResult } from '../schema/compose.ts'
import { forbidden } from './forbidden.ts'
import { atMost, namespaceName, nullable, parseInput, releaseName } from './input.ts'

/** As long as a body may be. */
const yaml = nullable(z.string())
const json = nullable(z.unknown())

const Args = z.object({
  input: z.object({
    namespace: namespaceName,
    name: nullable(releaseName),
    fromRelease: nullable(releaseName),
    plan: json,
    planYaml: yaml,
    reuseSource: z.boolean(),
    form: json,
    formYaml: yaml,
    edits: json,
    editsYaml: yaml,
    chartVersion: nullable(atMost(253)),
  }),
})

builder.mutationField('composePlan', (t) =>
  t.field({
    type: ComposePlanResult,
    description:
      'Composes a plan and shows what would change. Nothing of the release is touched; the plan is kept for an hour, to be applied by its hash.',
    args: {
      input: t.arg({ type: ComposePlanInput, required: true, description: 'What to make the plan from.' }),
    },
    resolve: (_root, args, context) => {
      const parsed = parseInput(Args, args)
      if ('refusal' in parsed) return parsed.refusal
      const request = parsed.data.input
      return (
        forbidden('DEPLOY', request.namespace, context) ?? context.composer.compose(request, context.actor)
      )
    },
  }),
)
