/** What the server knows about a kind of object. */
export interface KindDef {
  kind: string
  /** Empty for the core group. */
  group: string
  version: string
  plural: string
  singular: string
  shortNames: string[]
  namespaced: boolean
  /** It has a status subresource: main writes leave `status` alone, status writes leave the rest alone. */
  status: boolean
  /** Defined by a CustomResourceDefinition. */
  custom: boolean
  /** PUT without a resourceVersion is taken as "whatever the version". */
  unconditionalUpdate: boolean
  /** PUT of a name that does not exist creates it. */
  createOnUpdate: boolean
  /** DELETE answers with the object, not with a Status, also when it is gone at once. */
  returnsDeleted: boolean
  /** `metadata.generation`: none, or it counts changes of `spec`, or of everything but metadata (and status). */
  generation: 'none' | 'spec' | 'body'
}

type Traits = Partial<Omit<KindDef, 'kind' | 'group' | 'version' | 'plural' | 'singular'>>

function builtin(apiVersion: string, kind: string, plural: string, traits: Traits = {}): KindDef {
  const [group, version] = splitApiVersion(apiVersion)
  return {
    kind,
    group,
    version,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    namespaced: true,
    status: false,
    custom: false,
    unconditionalUpdate: true,
    createOnUpdate: false,
    returnsDeleted: false,
    generation: 'none',
    ...traits,
  }
}

/** Group and version of an `apiVersion`. */
export function splitApiVersion(apiVersion: string): [string, string] {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)]
}

export function apiVersionOf(def: KindDef): string {
  return def.group === '' ? def.version : `${def.group}/${def.version}`
}

/** `pods`, `deployments.apps`: the resource as it stands in messages. */
export function resourceOf(def: KindDef): string {
  return def.group === '' ? def.plural : `${def.plural}.${def.group}`
}

/** The traits of every built-in kind are those of Kubernetes 1.36 (its registry strategies). */
export const builtinKinds: readonly KindDef[] = [
  builtin('v1', 'Pod', 'pods', {
    shortNames: ['po'],
    status: true,
    returnsDeleted: true,
    generation: 'spec',
  }),
  builtin('v1', 'ConfigMap', 'configmaps', { shortNames: ['cm'] }),
  builtin('v1', 'Secret', 'secrets'),
  builtin('v1', 'Node', 'nodes', { shortNames: ['no'], namespaced: false, status: true }),
  builtin('v1', 'Namespace', 'namespaces', {
    shortNames: ['ns'],
    namespaced: false,
    status: true,
    returnsDeleted: true,
  }),
  builtin('v1', 'Service', 'services', {
    shortNames: ['svc'],
    status: true,
    createOnUpdate: true,
    returnsDeleted: true,
  }),
  builtin('v1', 'ServiceAccount', 'serviceaccounts', { shortNames: ['sa'], returnsDeleted: true }),
  builtin('v1', 'Event', 'events', { shortNames: ['ev'], createOnUpdate: true }),
  builtin('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', {
    shortNames: ['pvc'],
    status: true,
    returnsDeleted: true,
  }),
  builtin('apps/v1', 'Deployment', 'deployments', {
    shortNames: ['deploy'],
    status: true,
    generation: 'spec',
  }),
  builtin('apps/v1', 'ReplicaSet', 'replicasets', { shortNames: ['rs'], status: true, generation: 'spec' }),
  builtin('apps/v1', 'StatefulSet', 'statefulsets', {
    shortNames: ['sts'],
    status: true,
    generation: 'spec',
  }),
  builtin('apps/v1', 'ControllerRevision', 'controllerrevisions'),
  builtin('batch/v1', 'Job', 'jobs', { status: true, generation: 'spec' }),
  builtin('coordination.k8s.io/v1', 'Lease', 'leases', { createOnUpdate: true, unconditionalUpdate: false }),
  builtin('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
    shortNames: ['crd', 'crds'],
    namespaced: false,
    status: true,
    unconditionalUpdate: false,
    generation: 'spec',
  }),
]
