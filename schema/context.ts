import type { Permission } from '../services/auth/actor.ts'

/**
 * What a field function may ask of the request. `resolvers/context.ts` adds the services to this same
 * interface: the types here know nothing of them, so they can only pick from what they are given.
 */
export interface GatewayContext {
  /** What the caller may do in a namespace. */
  can: (namespace: string) => Permission[]
}
