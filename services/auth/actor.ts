/**
 * Who asks. Made once per request or socket in `server/`, and handed to every service call from there, so
 * that no service ever has to guess on whose behalf it acts.
 */
export interface Actor {
  /** Shown in marks and runs. */
  name: string
  groups: readonly string[]
}

/** What a caller may be allowed to do in a namespace. */
export type Permission = 'VIEW' | 'DEPLOY' | 'UNINSTALL'
