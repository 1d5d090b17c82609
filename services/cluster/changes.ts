/** Why an object came or went. */
export type ChangeCause =
  /** An event of the watch. */
  | 'event'
  /** A comparison with a fresh list. */
  | 'relist'
  /** The kind has become forbidden or is no longer served: nothing is known of the object. */
  | 'unreadable'

/**
 * One change of one object, as kept (trimmed). `old` without `now`: it left; `now` without `old`: it came.
 * An object that was deleted and made again under the same name (another uid) is two changes.
 */
export interface Change<T> {
  old: T | undefined
  now: T | undefined
  cause: ChangeCause
  /** Empty for cluster-scoped kinds. */
  namespace: string
  name: string
}

/** A change with what is needed to tell versions of an object apart. */
export interface VersionedChange<T> extends Change<T> {
  uid: string
  resourceVersion: string
}
