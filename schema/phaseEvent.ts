import type { ChangeCause } from '../services/deployments/change.ts'
import type {
  Backend as BackendName,
  GoneCause as Cause,
  EventPhase,
  Row,
} from '../services/deployments/row.ts'
import { builder } from './builder.ts'
import { Deployment } from './deployment.ts'
import { Backend, DeploymentEventPhase, GoneCause } from './phase.ts'

/** What a stream must hand over for one event. */
interface PhaseEventFacts {
  kind: 'SNAPSHOT' | 'SNAPSHOT_COMPLETE' | 'CHANGED' | 'REMOVED' | 'RESYNC' | 'BOOKMARK'
  cursor: string
  /** RFC 3339, UTC. */
  at: string
  namespace: string | null
  name: string | null
  uid: string | null
  backend: BackendName | null
  previousPhase: EventPhase | null
  phase: EventPhase | null
  cause: ChangeCause | null
  reason: string | null
  goneBecause: Cause | null
  deployment: Row | null
}

const EventKind = builder.enumType('EventKind', {
  description: 'What an event says. May grow: ignore what is not known.',
  values: {
    SNAPSHOT: { description: 'A row as it stands, before the changes.' },
    SNAPSHOT_COMPLETE: {
      description: 'Ends a snapshot, an empty one too: what was not in it is not there.',
    },
    CHANGED: { description: 'A release has come, changed its phase, or left (GONE).' },
    REMOVED: { description: 'The row can no longer be read; nothing is said about the release.' },
    RESYNC: {
      description: 'The stream cannot go on where `since` was: forget everything, a snapshot follows.',
    },
    BOOKMARK: { description: 'Nothing has happened; moves the cursor of a quiet stream.' },
  } satisfies Record<PhaseEventFacts['kind'], { description: string }>,
})

const PhaseCause = builder.enumType('PhaseCause', {
  description: 'Where a change was first seen.',
  values: {
    INFORMER: { description: 'A watch of the cluster.' },
    REAP_LOOP: { description: 'The loop that finishes uninstalls.' },
    MUTATION: { description: 'A mutation of this gateway.' },
    AUTOSCALE: { description: 'The autoscaler.' },
  } satisfies Record<ChangeCause, { description: string }>,
})

export const DeploymentPhaseEvent = builder.objectRef<PhaseEventFacts>('DeploymentPhaseEvent').implement({
  description:
    'One event of the phase stream. The fields about a release are null in the events that name none.',
  fields: (t) => ({
    kind: t.expose('kind', { type: EventKind, description: 'What this event says.' }),
    cursor: t.expose('cursor', {
      type: 'Cursor',
      description: 'For `since`: the stream goes on after this event.',
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When the gateway saw it.' }),
    namespace: t.exposeString('namespace', { nullable: true, description: 'Namespace of the release.' }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the release.' }),
    uid: t.exposeID('uid', {
      nullable: true,
      description: 'uid of the LLMService or of the plan ConfigMap: tells a release from its successor.',
    }),
    backend: t.expose('backend', { type: Backend, nullable: true, description: 'What runs it.' }),
    previousPhase: t.expose('previousPhase', {
      type: DeploymentEventPhase,
      nullable: true,
      description: 'The phase before; null for a release that was not there, and in a snapshot.',
    }),
    phase: t.expose('phase', {
      type: DeploymentEventPhase,
      nullable: true,
      description: 'The phase now; GONE when the release has left.',
    }),
    cause: t.expose('cause', { type: PhaseCause, nullable: true, description: 'Where it was first seen.' }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why the phase is what it is, when that is not plain.',
    }),
    goneBecause: t.expose('goneBecause', {
      type: GoneCause,
      nullable: true,
      description: 'Why it has left; only with GONE.',
    }),
    deployment: t.expose('deployment', {
      type: Deployment,
      nullable: true,
      description: 'The row at that moment; null once it is gone.',
    }),
  }),
})
