import type { KubeObject } from '../cluster/kinds.ts'
import { releaseOfLock } from '../plans/names.ts'

/** The lock Lease of a release, as far as a row needs it. */
export interface LockFacts {
  namespace: string
  release: string
  holder: string | null
  /** Milliseconds since the epoch at which it ends unless it is renewed; 0 when nobody holds it. */
  expiresAt: number
}

/** Keeps the locks of releases; the leader's Lease and other tools' Leases are none of a row's business. */
export function trimLock(raw: KubeObject): LockFacts | null {
  const release = releaseOfLock(raw.metadata.name)
  if (release === null || raw.metadata.namespace === undefined) return null
  const spec = (raw.spec ?? {}) as {
    holderIdentity?: string
    leaseDurationSeconds?: number
    renewTime?: string
  }
  const renewed = spec.renewTime ? Date.parse(spec.renewTime) : Number.NaN
  const held = Boolean(spec.holderIdentity) && !Number.isNaN(renewed)
  return {
    namespace: raw.metadata.namespace,
    release,
    holder: held ? (spec.holderIdentity ?? null) : null,
    expiresAt: held ? renewed + (spec.leaseDurationSeconds ?? 0) * 1000 : 0,
  }
}

/** True while somebody holds the lock. `now` in milliseconds, by the API server's clock. */
export function isHeld(lock: LockFacts | null, now: number): boolean {
  return lock !== null && lock.holder !== null && lock.expiresAt >= now
}
