import type { PodFacts } from '../services/pods/counting.ts'
import { builder } from './builder.ts'

export const Pod = builder.objectRef<PodFacts>('Pod').implement({
  description: 'A pod of a release, from the watch cache.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the pod.' }),
    phase: t.exposeString('phase', {
      nullable: true,
      description: 'Phase as Kubernetes says it; null while the pod has no status.',
    }),
    ready: t.exposeBoolean('ready', { description: 'True when its Ready condition is true.' }),
    restarts: t.exposeInt('restarts', { description: 'Restarts of its containers, added up.' }),
    node: t.exposeString('node', { nullable: true, description: 'Node it runs on; null while it has none.' }),
    gpus: t.exposeInt('gpus', { description: 'GPUs in the limits of its containers, MIG slices too.' }),
    message: t.exposeString('message', {
      nullable: true,
      description: "The pod's own message, or why a container waits.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true, description: 'When it was made.' }),
    deletionTimestamp: t.expose('deletionTimestamp', {
      type: 'DateTime',
      nullable: true,
      description: 'Set once the pod was asked to go: the moment at which its grace was to end.',
    }),
  }),
})
