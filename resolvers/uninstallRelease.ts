import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { UninstallReleaseInput, UninstallReleaseResult } from '../schema/uninstall.ts'
import type { UninstallRequest } from '../services/releases/outcome.ts'
import { forbidden } from './forbidden.ts'
import { atMost, integer, namespaceName, nullable, parseInput, releaseName, text } from './input.ts'

const Args = z.object({
  input: z.object({
    namespace: namespaceName,
    name: releaseName,
    expectedRevision: nullable(integer(1, Number.MAX_SAFE_INTEGER)),
    expectedUid: nullable(text),
    note: nullable(atMost(1024)),
    waitFor: z.custom<UninstallRequest['waitFor']>(),
    timeoutSeconds: integer(0, 3600),
  }),
})

builder.mutationField('uninstallRelease', (t) =>
  t.field({
    type: UninstallReleaseResult,
    description:
      'Takes a release away: it is marked, helm is run, and it stays listed as UNINSTALLING until no pod counts any more. Asking again is harmless. An LLMService is torn down by its operator, so for one HELM answers as ACCEPTED does.',
    args: {
      input: t.arg({
        type: UninstallReleaseInput,
        required: true,
        description: 'What to uninstall, and how.',
      }),
    },
    resolve: async (_root, args, context) => {
      const parsed = parseInput(Args, args)
      if ('refusal' in parsed) return parsed.refusal
      const request = parsed.data.input
      const refusal = forbidden('UNINSTALL', request.namespace, context)
      if (refusal) return refusal
      const outcome = await context.uninstaller.uninstall(request, context.actor)
      if (outcome.kind !== 'Uninstall') return outcome
      const { position, ...payload } = outcome
      return { ...payload, cursor: context.feed.cursor(position) }
    },
  }),
)
