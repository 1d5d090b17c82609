import type { ReleaseRef, Row } from '../services/deployments/row.ts'
import { builder } from './builder.ts'
import { Deployment } from './deployment.ts'
import { deploymentId } from './nodeId.ts'

/** What a stream must hand over for one event. */
interface DeploymentEventFacts {
  change: 'SNAPSHOT' | 'SNAPSHOT_COMPLETE' | 'ADDED' | 'MODIFIED' | 'REMOVED' | 'RESYNC' | 'BOOKMARK'
  cursor: string
  /** RFC 3339, UTC. */
  at: string
  /** Whose row it is; null in an event about the stream itself. */
  ref: ReleaseRef | null
  deployment: Row | null
}

const RowChange = builder.enumType('RowChange', {
  description: 'What has become of a row. May grow: ignore what is not known.',
  values: {
    SNAPSHOT: { description: 'A row as it stands, before the changes.' },
    SNAPSHOT_COMPLETE: {
      description: 'Ends a snapshot, an empty one too: what was not in it is not there.',
    },
    ADDED: { description: 'A row that fits the filter now, and was not there or did not fit before.' },
    MODIFIED: { description: 'Anything of a row has changed, and it fits as it did before.' },
    REMOVED: { description: 'The row has left the list, or does not fit the filter any more.' },
    RESYNC: {
      description: 'The stream cannot go on where `since` was: forget everything, a snapshot follows.',
    },
    BOOKMARK: { description: 'Nothing has happened; moves the cursor of a quiet stream.' },
  } satisfies Record<DeploymentEventFacts['change'], { description: string }>,
})

export const DeploymentEvent = builder.objectRef<DeploymentEventFacts>('DeploymentEvent').implement({
  description: 'One event of the stream of rows.',
  fields: (t) => ({
    change: t.expose('change', { type: RowChange, description: 'What has become of the row.' }),
    cursor: t.expose('cursor', {
      type: 'Cursor',
      description: 'For `since`: the stream goes on after this event.',
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When the gateway saw it.' }),
    id: t.id({
      nullable: true,
      description: 'Id of the deployment; null in the events that name none.',
      resolve: ({ ref }) => ref && deploymentId(ref),
    }),
    deployment: t.expose('deployment', {
      type: Deployment,
      nullable: true,
      description: 'The row at that moment; null with REMOVED, and in the events that name none.',
    }),
  }),
})
