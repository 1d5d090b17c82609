/** How objects of one kind are addressed. */
export interface ResourceType {
  apiVersion: string
  kind: string
  plural: string
  namespaced: boolean
}

const define = (apiVersion: string, kind: string, plural: string, namespaced = true): ResourceType => ({
  apiVersion,
  kind,
  plural,
  namespaced,
})

export const POD = define('v1', 'Pod', 'pods')
export const NODE = define('v1', 'Node', 'nodes', false)
export const NAMESPACE = define('v1', 'Namespace', 'namespaces', false)
export const SECRET = define('v1', 'Secret', 'secrets')
export const CONFIG_MAP = define('v1', 'ConfigMap', 'configmaps')
export const DEPLOYMENT = define('apps/v1', 'Deployment', 'deployments')
export const REPLICA_SET = define('apps/v1', 'ReplicaSet', 'replicasets')
export const STATEFUL_SET = define('apps/v1', 'StatefulSet', 'statefulsets')
export const SERVICE = define('v1', 'Service', 'services')
export const SERVICE_ACCOUNT = define('v1', 'ServiceAccount', 'serviceaccounts')
export const PERSISTENT_VOLUME_CLAIM = define('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims')
export const CONTROLLER_REVISION = define('apps/v1', 'ControllerRevision', 'controllerrevisions')
export const JOB = define('batch/v1', 'Job', 'jobs')
export const LLM_SERVICE = define('serving.modelsphere.dev/v1alpha1', 'LLMService', 'llmservices')

/** `/api/v1` or `/apis/<group>/<version>`. */
export const groupPath = (apiVersion: string) =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`

/** Path of a collection (no name) or of one object. An empty namespace means all of them. */
export function pathOf(type: ResourceType, namespace = '', name = '', subresource = ''): string {
  const scope = type.namespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  const object = name === '' ? '' : `/${encodeURIComponent(name)}`
  return `${groupPath(type.apiVersion)}${scope}/${type.plural}${object}${subresource === '' ? '' : `/${subresource}`}`
}
