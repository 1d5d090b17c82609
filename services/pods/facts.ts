/** A pod as the cache keeps it: what a row, the detail or the rule needs, and nothing else. */
export interface PodFacts {
  namespace: string
  name: string
  uid: string
  /** `status.phase`; null while there is no status. */
  phase: string | null
  ready: boolean
  restarts: number
  node: string | null
  /** GPUs in the limits of its containers. */
  gpus: number
  /** `status.message`, or the reason a container waits for. */
  message: string | null
  createdAt: string | null
  deletionTimestamp: string | null
  deletionGracePeriodSeconds: number | null
  terminationGracePeriodSeconds: number | null
  mirror: boolean
  finalizers: readonly string[]
  /** The labels that tell its release. */
  instance: string | null
  app: string | null
  /** Names of the PersistentVolumeClaims it mounts. */
  claims: readonly string[]
}

/** What is kept of a node. */
export interface NodeFacts {
  name: string
  /** Its `Ready` condition is `True`; a node without that condition is not ready. */
  ready: boolean
}
