import type { KubeObject } from '../api/types.ts'

/** An entry of `metadata.ownerReferences`. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export const ownersOf = (object: KubeObject) =>
  (object.metadata.ownerReferences ?? []) as unknown as OwnerReference[]

/** The reference a controller puts on what it makes. */
export const controllerReference = (owner: KubeObject): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
})

export const controllerOf = (object: KubeObject) => ownersOf(object).find((owner) => owner.controller)
