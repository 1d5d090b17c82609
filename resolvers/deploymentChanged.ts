import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { DeploymentFilter } from '../schema/deploymentConnection.ts'
import { DeploymentEvent } from '../schema/deploymentEvent.ts'
import { deploymentChanged } from '../subscriptions/rowStream.ts'
import { deploymentFilter } from './deploymentFilter.ts'
import { begun } from './errors.ts'
import { optional, parseArgs } from './input.ts'

const Args = z.object({
  filter: deploymentFilter,
  since: optional(z.string()),
  snapshot: z.boolean(),
})

builder.subscriptionField('deploymentChanged', (t) =>
  t.field({
    type: DeploymentEvent,
    description:
      'Any change of a row, for a live list: a row that enters the filter comes as ADDED, one that leaves it, or the list, as REMOVED. `since` resumes after that cursor; one that is too old gets one RESYNC event and then a snapshot. `snapshot: true` begins with the current rows. What changes in a row through time alone (a pod that stops counting) comes with its next change. Errors: INVALID_INPUT, CLUSTER_UNAVAILABLE while the caches are not filled.',
    args: {
      filter: t.arg({ type: DeploymentFilter, description: 'Only rows that fit.' }),
      since: t.arg({ type: 'Cursor', description: 'Go on after this position.' }),
      snapshot: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Begin with the rows as they are; wins over `since`.',
      }),
    },
    subscribe: (_root, args, { feed, lastEventId }) =>
      begun(deploymentChanged(feed, { ...parseArgs(Args, args), lastEventId })),
    resolve: (event) => event,
  }),
)
