/**
 * The points of an uninstall, and of an apply, at which a crash must be survived. Production passes a function that does
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
  /** Of an apply: the plan of the live revision is archived. */
  | 'after-archive'
  /** Of an apply: the new plan says that it is being applied. */
  | 'after-plan'
  /** Of an apply: what came of helm is in the plan. */
  | 'after-status'

/** Called at each point with the release it concerns. A crash is a promise that never settles. */
export type Checkpoint = (name: CheckpointName, release: { namespace: string; name: string }) => Promise<void>
