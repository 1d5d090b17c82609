import type { Session } from './session.ts'

/** One behaviour of an API server: what is asked of it, in order. What it answers is what gets recorded. */
export interface Probe {
  /** Unique within its subject. */
  name: string
  /** Hooks that a cluster may not offer; without them the probe is left out, and that is said. */
  needs?: 'compaction' | 'controllers'
  run(session: Session): Promise<void>
}

/** Probes about one subject: one file of recorded answers. */
export interface Subject {
  name: string
  probes: Probe[]
}
