import type { Permission as PermissionName } from '../services/auth/actor.ts'
import { builder } from './builder.ts'

export const Permission = builder.enumType('Permission', {
  description: 'What a caller may do in a namespace.',
  values: {
    VIEW: { description: 'See its releases.' },
    DEPLOY: { description: 'Install, change and scale releases.' },
    UNINSTALL: { description: 'Take releases away.' },
  } satisfies Record<PermissionName, { description: string }>,
})
