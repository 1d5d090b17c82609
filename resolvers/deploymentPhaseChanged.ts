import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { DeploymentFilter } from '../schema/deploymentConnection.ts'
import { DeploymentPhaseEvent } from '../schema/phaseEvent.ts'
import { deploymentPhaseChanged } from '../subscriptions/phaseStream.ts'
import { deploymentFilter } from './deploymentFilter.ts'
import { begun } from './errors.ts'
import { namespaceName, optional, parseArgs, releaseName } from './input.ts'

const Args = z.object({
  filter: deploymentFilter,
  namespace: optional(namespaceName),
  name: optional(releaseName),
  since: optional(z.string()),
  snapshot: z.boolean(),
})

builder.subscriptionField('deploymentPhaseChanged', (t) =>
  t.field({
    type: DeploymentPhaseEvent,
    description:
      'One event per phase change, in order per release. `since` resumes after that cursor; one that is too old gets one RESYNC event and then a snapshot. `snapshot: true` begins with the current rows. `filter`, `namespace` and `name` must all fit; `name` needs `namespace`; a release that does not exist yet is waited for. A change out of a phase filter is delivered once. Errors: INVALID_INPUT, CLUSTER_UNAVAILABLE while the caches are not filled.',
    args: {
      filter: t.arg({
        type: DeploymentFilter,
        description: 'Only rows that fit, before or after the change.',
      }),
      namespace: t.arg.string({ description: 'Only releases in this namespace.' }),
      name: t.arg.string({ description: 'Only the release of this name; needs `namespace`.' }),
      since: t.arg({ type: 'Cursor', description: 'Go on after this position.' }),
      snapshot: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Begin with the rows as they are; wins over `since`.',
      }),
    },
    subscribe: (_root, args, { feed, lastEventId }) =>
      begun(deploymentPhaseChanged(feed, { ...parseArgs(Args, args), lastEventId })),
    resolve: (event) => event,
  }),
)
