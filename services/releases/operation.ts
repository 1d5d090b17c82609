/** A change of a release as `applyLocked` takes it, whoever asks for it. */
import type { Actor } from '../auth/actor.ts'
import type { KubeObject } from '../cluster/kinds.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import type { PlanData } from '../plans/document.ts'
import type { LiveRelease } from './liveRelease.ts'
import type { ApplyOutcome, ApplyRefusal } from './outcome.ts'

export interface Operation {
  ref: ReleaseRef
  /** An apply of a name that has no release yet is shown as an install. */
  action: 'apply' | 'rollback' | 'autoscale'
  actor: Actor
  note: string | null
  expectedRevision: number | null
  forceConflicts: boolean
  /**
   * What is to become of the release. Called under the lock, once it is known that the release may be changed;
   * the live release is fresh. May throw KubeError.
   */
  make(live: LiveRelease): Promise<Made>
}

export type Made =
  | { refusal: ApplyRefusal }
  /** Nothing differs from what runs. */
  | { unchanged: true }
  /** A new plan; helm upgrades to it, or rolls back to a revision that ran with it. */
  | { plan: PlanData; rollbackTo?: number }
  /** An LLMService as it is to be written. */
  | { service: KubeObject; planHash: string | null }

/** An operation that is accepted, or has been refused. */
export interface StartedOperation {
  /** Resolves when it is over; it goes on whether or not somebody waits. Never rejects for what the cluster answers. */
  over: Promise<ApplyOutcome>
}
