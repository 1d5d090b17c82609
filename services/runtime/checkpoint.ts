/**
 * The points of an uninstall at which a crash must be survived. Production passes a function that does
 * nothing; a test passes one that ends the gateway there.
 */
export type CheckpointName =
  | 'after-mark'
  | 'before-helm'
  | 'during-helm'
  | 'after-helm'
  | 'after-archives'
  | 'after-autoscale'
  | 'before-plan-delete'
  | 'before-audit'

/** Called at each point with the release it concerns. A crash is a promise that never settles. */
export type Checkpoint = (name: CheckpointName, release: { namespace: string; name: string }) => Promise<void>
