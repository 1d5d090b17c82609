import { builder } from '../schema/builder.ts'
import { Release } from '../schema/release.ts'
import { RunConnection } from '../schema/run.ts'
import { parseArgs } from './input.ts'
import { runPage } from './runPage.ts'

const Args = runPage(5)

builder.objectField(Release, 'runs', (t) =>
  t.field({
    type: RunConnection,
    description: 'Its part of the audit log, newest first. Errors: INVALID_INPUT.',
    args: {
      first: t.arg.int({ defaultValue: 5, description: 'So many at most; 0 to 500.' }),
      after: t.arg.string({ description: 'Only what follows this cursor.' }),
    },
    resolve: ({ namespace, name }, args, { audit }) =>
      audit.page({ ...parseArgs(Args, args), filter: { namespace, name } }),
  }),
)
