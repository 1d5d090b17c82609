import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { RunConnection, RunFilter } from '../schema/run.ts'
import type { RunAction, RunOutcome } from '../services/audit/run.ts'
import type { Backend } from '../services/deployments/row.ts'
import { listOf, namespaceName, optional, parseArgs, releaseName, text } from './input.ts'
import { runPage } from './runPage.ts'

const Args = runPage(25).extend({
  filter: optional(
    z.object({
      namespace: optional(namespaceName),
      name: optional(releaseName),
      // Enums were checked by GraphQL.
      actions: listOf(z.custom<RunAction>()),
      outcomes: listOf(z.custom<RunOutcome>()),
      actors: listOf(text),
      backends: listOf(z.custom<Backend>()),
      since: optional(z.string()),
      until: optional(z.string()),
    }),
  ),
})

builder.queryField('runs', (t) =>
  t.field({
    type: RunConnection,
    description:
      'The audit log, newest first. Empty, with `available: false`, when the store cannot be reached. Errors: INVALID_INPUT.',
    args: {
      first: t.arg.int({ defaultValue: 25, description: 'So many at most; 0 to 500.' }),
      after: t.arg.string({ description: 'Only what follows this cursor.' }),
      filter: t.arg({ type: RunFilter, description: 'Only runs that fit.' }),
    },
    resolve: (_root, args, { audit }) => audit.page(parseArgs(Args, args)),
  }),
)
