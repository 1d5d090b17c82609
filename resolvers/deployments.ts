import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { DeploymentConnection, DeploymentFilter, DeploymentOrder } from '../schema/deploymentConnection.ts'
import { InvalidCursor, type PageArgs } from '../services/deployments/lister.ts'
import { deploymentFilter } from './deploymentFilter.ts'
import { invalidInput, requireReady } from './errors.ts'
import { optional, pageSize, parseArgs } from './input.ts'

const IN_ORDER: PageArgs['orderBy'] = { field: 'NAMESPACE_NAME', direction: 'ASC' }

const Args = z
  .object({
    first: optional(pageSize),
    after: optional(z.string()),
    last: optional(pageSize),
    before: optional(z.string()),
    filter: deploymentFilter,
    orderBy: optional(z.custom<PageArgs['orderBy']>()).transform((order) => order ?? IN_ORDER),
  })
  .refine(({ first, last }) => first === undefined || last === undefined, {
    error: 'first and last cannot be given together: leave one of them out',
  })
  .transform((args) => (args.last === undefined ? { ...args, first: args.first ?? 25 } : args))

builder.queryField('deployments', (t) =>
  t.field({
    type: DeploymentConnection,
    description:
      'The releases Swiss manages, with their live phase. Served from the watch caches: no call to the API server. 25 when neither `first` nor `last` is given; both is an error; 500 at most. Ordered by namespace and name unless said otherwise; ties always are. `totalCount` and `countsByPhase` follow the filter, not the page. Errors: INVALID_INPUT, CLUSTER_UNAVAILABLE while the caches are not filled.',
    args: {
      first: t.arg.int({ description: 'So many from the beginning, or after `after`; 0 to 500.' }),
      after: t.arg.string({ description: 'Only what follows this cursor.' }),
      last: t.arg.int({ description: 'So many from the end, or before `before`; 0 to 500.' }),
      before: t.arg.string({ description: 'Only what comes before this cursor.' }),
      filter: t.arg({ type: DeploymentFilter, description: 'Only rows that fit.' }),
      orderBy: t.arg({ type: DeploymentOrder, description: 'How to order them.' }),
    },
    resolve: (_root, args, { lister, feed }) => {
      const parsed = parseArgs(Args, args)
      requireReady(lister)
      try {
        const { position, ...page } = lister.page(parsed)
        return { ...page, cursor: feed.cursor(position) }
      } catch (error) {
        if (!(error instanceof InvalidCursor)) throw error
        throw invalidInput('after and before must be cursors of the same list, with the same order.')
      }
    },
  }),
)
