import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Connection } from './connectionTypes.ts'
import type { WatchEnd } from './watchStream.ts'

export interface KubeClientOptions {
  connection: Connection
  clock: Clock
  logger: Logger
  userAgent: string
  /** Milliseconds; default 30,000. */
  requestTimeoutMs?: number
}

/** Bounds of a single call, beside the client's own time-out. */
export interface CallOptions {
  /** Aborting rejects the call with `Unavailable`; what was sent may have been done all the same. */
  signal?: AbortSignal | undefined
  /** Milliseconds; the client's default when absent. */
  timeoutMs?: number | undefined
}

export interface ReadOptions extends CallOptions {
  /** Ask for the metadata alone; the answer then has no payload. */
  metadataOnly?: boolean | undefined
}

/** Which objects of a kind. */
export interface Selection {
  /** Absent: all namespaces. */
  namespace?: string | undefined
  labelSelector?: string | undefined
  fieldSelector?: string | undefined
}

export interface DeleteOptions extends CallOptions {
  /** A mismatch is a `Conflict`. */
  preconditions?: { uid?: string; resourceVersion?: string }
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
  /** Seconds; 0 removes a pod at once. */
  gracePeriodSeconds?: number
}

export interface WatchOptions extends Selection {
  metadataOnly?: boolean | undefined
  /** Changes after this version. */
  resourceVersion: string
  /** The API server ends the stream after this many seconds. */
  timeoutSeconds: number
  /** Milliseconds without a byte after which the stream is cut. */
  idleLimitMs: number
  signal?: AbortSignal | undefined
}

/** An established watch. */
export interface Watch {
  /** Resolves once, when the stream is over; never rejects. */
  ended: Promise<WatchEnd>
}
