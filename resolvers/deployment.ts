import { builder } from '../schema/builder.ts'
import { Deployment } from '../schema/deployment.ts'
import { requireReady } from './errors.ts'
import { parseArgs } from './input.ts'
import { ReleaseArgs, releaseArgs } from './releaseRef.ts'

builder.queryField('deployment', (t) =>
  t.field({
    type: Deployment,
    nullable: true,
    description:
      'One row of the list; null when there is none of that name. Errors: INVALID_INPUT, CLUSTER_UNAVAILABLE while the caches are not filled.',
    args: releaseArgs,
    resolve: (_root, args, { lister }) => {
      const ref = parseArgs(ReleaseArgs, args)
      requireReady(lister)
      return lister.get(ref) ?? null
    },
  }),
)
