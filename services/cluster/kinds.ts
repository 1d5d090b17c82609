/** What of `metadata` the gateway reads. Objects carry more; it is kept when they are written back. */
export interface KubeMeta {
  name: string
  /** Absent on cluster-scoped objects. */
  namespace?: string
  uid: string
  /** Opaque: compared for equality only, never as a number. */
  resourceVersion: string
  creationTimestamp?: string
  /** RFC 3339. For pods this is the time of the request plus the grace period. */
  deletionTimestamp?: string
  /** Seconds; 0 is a value. */
  deletionGracePeriodSeconds?: number
  generation?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
}

export interface OwnerReference {
  apiVersion?: string
  kind?: string
  name?: string
  uid?: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** A Kubernetes object as raw JSON. Items of a list carry no `kind` and `apiVersion`, so nothing reads them. */
export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: KubeMeta
  [field: string]: unknown
}

/** An object that has not been created yet: the API server fills in uid and resourceVersion. */
export interface NewKubeObject {
  apiVersion?: string
  kind?: string
  metadata: Partial<KubeMeta> & { name: string }
  [field: string]: unknown
}

/** Where a kind is served: `/api/v1/…` for the core group (empty `group`), `/apis/<group>/<version>/…` else. */
export interface Kind {
  kind: string
  group: string
  version: string
  plural: string
  namespaced: boolean
}

/** Names one object of a kind. */
export interface ObjectRef {
  /** Absent for cluster-scoped kinds. */
  namespace?: string
  name: string
}

function core(kind: string, plural: string, namespaced = true): Kind {
  return { kind, group: '', version: 'v1', plural, namespaced }
}

/** The kinds the gateway watches, reads or writes. */
export const Kinds = {
  ConfigMap: core('ConfigMap', 'configmaps'),
  Secret: core('Secret', 'secrets'),
  Pod: core('Pod', 'pods'),
  Node: core('Node', 'nodes', false),
  Namespace: core('Namespace', 'namespaces', false),
  Lease: {
    kind: 'Lease',
    group: 'coordination.k8s.io',
    version: 'v1',
    plural: 'leases',
    namespaced: true,
  },
  ControllerRevision: {
    kind: 'ControllerRevision',
    group: 'apps',
    version: 'v1',
    plural: 'controllerrevisions',
    namespaced: true,
  },
  LLMService: {
    kind: 'LLMService',
    group: 'serving.modelsphere.dev',
    version: 'v1alpha1',
    plural: 'llmservices',
    namespaced: true,
  },
} as const satisfies Record<string, Kind>

/** `apiVersion` of a kind's objects. */
export function apiVersionOf(kind: Kind): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
}
