import { builder } from '../schema/builder.ts'
import { Release } from '../schema/release.ts'
import { requireReady } from './errors.ts'
import { parseArgs } from './input.ts'
import { ReleaseArgs, releaseArgs } from './releaseRef.ts'

builder.queryField('release', (t) =>
  t.field({
    type: Release,
    nullable: true,
    description:
      'Everything about one release: helm status, plan, pods, revisions, runs. Null only where nothing of that name exists. Errors: INVALID_INPUT, CLUSTER_UNAVAILABLE while the caches are not filled.',
    args: releaseArgs,
    resolve: (_root, args, { lister, details }) => {
      const ref = parseArgs(ReleaseArgs, args)
      requireReady(lister)
      return details.get(ref)
    },
  }),
)
