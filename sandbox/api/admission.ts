import { at } from './json.ts'
import type { KindDef } from './kinds.ts'
import { builtinKinds } from './kinds.ts'
import type { Objects } from './objects.ts'
import { keyOf } from './objects.ts'
import type { StatusBody } from './status.ts'
import { forbidden, notFound } from './status.ts'

const namespaceDef = builtinKinds.find((def) => def.kind === 'Namespace')
const keptNamespaces = ['default', 'kube-system', 'kube-public']

/** Why an object may not be created where it wants to be; undefined when it may. */
export function refusedCreation(
  objects: Objects,
  def: KindDef,
  namespace: string,
  name: string,
): StatusBody | undefined {
  if (def.custom && isTerminating(objects, def)) {
    const why = 'create not allowed while custom resource definition is terminating'
    return forbidden(def, name, why)
  }
  if (!def.namespaced || namespaceDef === undefined) return undefined
  const home = objects.get('Namespace', keyOf('', namespace))
  if (home === undefined) return notFound(namespaceDef, namespace)
  const terminating = home.metadata.deletionTimestamp !== undefined
  if (!terminating && at(home.status, 'phase') !== 'Terminating') return undefined
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  return forbidden(def, name, why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ])
}

/** Why an object may not be deleted by anybody; undefined when it may. */
export function refusedDeletion(def: KindDef, name: string): StatusBody | undefined {
  if (def.kind !== 'Namespace' || !keptNamespaces.includes(name)) return undefined
  return forbidden(def, name, 'this namespace may not be deleted')
}

function isTerminating(objects: Objects, def: KindDef): boolean {
  const crd = objects.get('CustomResourceDefinition', keyOf('', `${def.plural}.${def.group}`))
  return crd?.metadata.deletionTimestamp !== undefined
}
