/**
 * The one lock of a release: install, upgrade, rollback, autoscaling and helm's uninstall exclude each other.
 * A Lease in the release's namespace holds it across replicas.
 */
import type { HeldLease } from '../cluster/heldLease.ts'
import type { LeaseLocks } from '../cluster/leases.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import { lockName, MANAGED_BY, MANAGED_BY_LABEL } from '../plans/names.ts'

/** How long a lock outlives a holder that has died. */
export const LOCK_SECONDS = 30

export type LockAttempt =
  | { kind: 'held'; lock: HeldLease }
  | { kind: 'busy'; holder: string; since: string | null }

export class ReleaseLocks {
  readonly #leases: LeaseLocks
  readonly #identity: string

  constructor({ leases, identity }: { leases: LeaseLocks; identity: string }) {
    this.#leases = leases
    this.#identity = identity
  }

  /** Takes the lock without waiting. Throws KubeError when the API server does not answer. */
  async tryAcquire(ref: ReleaseRef): Promise<LockAttempt> {
    const attempt = await this.#leases.tryAcquire({
      namespace: ref.namespace,
      name: lockName(ref.name),
      identity: this.#identity,
      durationSeconds: LOCK_SECONDS,
      labels: { [MANAGED_BY_LABEL]: MANAGED_BY },
    })
    return attempt.acquired
      ? { kind: 'held', lock: attempt.lease }
      : { kind: 'busy', holder: attempt.holder, since: attempt.since }
  }

  /** Deletes the Lease of a release that has left, unless somebody holds it. Throws KubeError. */
  async remove(ref: ReleaseRef): Promise<void> {
    await this.#leases.remove(ref.namespace, lockName(ref.name))
  }
}
