import type {
  GoneCause as Cause,
  Deletion as DeletionFacts,
  EventPhase,
} from '../services/deployments/row.ts'
import { builder } from './builder.ts'
import { Deletion } from './deletion.ts'
import { DeploymentEventPhase, GoneCause } from './phase.ts'

/** What a stream must hand over for one event. */
interface DeletionEventFacts {
  cursor: string
  /** RFC 3339, UTC. */
  at: string
  phase: EventPhase
  goneBecause: Cause | null
  deletion: DeletionFacts | null
}

export const DeletionEvent = builder.objectRef<DeletionEventFacts>('DeletionEvent').implement({
  description: 'One step of an uninstall.',
  fields: (t) => ({
    cursor: t.expose('cursor', {
      type: 'Cursor',
      description: 'For `since`: the stream goes on after this event.',
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When the gateway saw it.' }),
    phase: t.expose('phase', {
      type: DeploymentEventPhase,
      description:
        'UNINSTALLING, and in the last event the phase that ends the uninstall: GONE, FAILED, any other when its mark was taken away, UNKNOWN also when its row can no longer be read.',
    }),
    goneBecause: t.expose('goneBecause', {
      type: GoneCause,
      nullable: true,
      description: 'Why it has left; only with GONE.',
    }),
    deletion: t.expose('deletion', {
      type: Deletion,
      nullable: true,
      description: 'How the uninstall stands; null in the last event.',
    }),
  }),
})
