import type { Actor } from '../services/auth/actor.ts'
import { builder } from './builder.ts'
import { Permission } from './permission.ts'

export const Viewer = builder.objectRef<Actor & { authDisabled: boolean }>('Viewer').implement({
  description: 'The caller, as the gateway sees it.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the caller; the actor in runs and deletions.' }),
    groups: t.stringList({ description: 'Groups of the caller.', resolve: (viewer) => [...viewer.groups] }),
    authDisabled: t.exposeBoolean('authDisabled', {
      description: 'True when the gateway does not ask who calls: everybody may do everything.',
    }),
    can: t.field({
      type: [Permission],
      description: 'What the caller may do in a namespace, whether or not it exists.',
      args: { namespace: t.arg.string({ required: true, description: 'Name of the namespace.' }) },
      resolve: (_viewer, { namespace }, context) => context.can(namespace),
    }),
  }),
})
