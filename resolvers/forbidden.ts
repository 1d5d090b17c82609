import type { Permission } from '../services/auth/actor.ts'
import type { RefusalOf } from '../services/releases/outcome.ts'
import type { GatewayContext } from './context.ts'

const WHAT: Record<Permission, string> = {
  VIEW: 'see releases',
  DEPLOY: 'change releases',
  UNINSTALL: 'uninstall releases',
}

/** Why the caller may not do it, or null. A read-only gateway says so to everybody, and says it itself. */
export function forbidden(
  permission: Permission,
  namespace: string,
  { can, cluster }: GatewayContext,
): RefusalOf<'Forbidden'> | null {
  if (cluster().readOnly || can(namespace).includes(permission)) return null
  const message = `You may not ${WHAT[permission]} in the namespace ${namespace}; ask for the permission ${permission}.`
  return { kind: 'Forbidden', message, permission }
}
