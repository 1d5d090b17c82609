/**
 * What an LLMService's metadata says of its relation to a canary (contract, section 6). Swiss only shows it:
 * it guards nothing because of it.
 */

export type CanaryState = 'STANDALONE' | 'REFERENCED' | 'OWNED'

/** Identity of the canary a service belongs to, as far as the metadata tells. */
export interface CanaryParent {
  apiVersion: string | null
  kind: string | null
  namespace: string | null
  name: string | null
  uid: string | null
  role: string | null
}

export interface CanaryRelationship {
  state: CanaryState
  /** The metadata is complete and consistent. */
  verified: boolean
  serviceUid: string
  /** Set when it is OWNED. */
  managedBy: CanaryParent | null
  /** Set when it is REFERENCED. */
  assignedTo: CanaryParent | null
  /** What is incomplete, malformed or contradictory. */
  problems: string[]
}

/** Where the relation is written; operators may use other keys. */
export interface CanaryKeys {
  ownerKind: string
  canaryLabel: string
  namespaceLabel: string
  roleLabel: string
  assignmentAnnotation: string
}

export const DEFAULT_CANARY_KEYS: CanaryKeys = {
  ownerKind: 'LLMCanary',
  canaryLabel: 'serving.modelsphere.dev/canary',
  namespaceLabel: 'serving.modelsphere.dev/canary-namespace',
  roleLabel: 'serving.modelsphere.dev/canary-role',
  assignmentAnnotation: 'serving.modelsphere.dev/canary-assignment',
}

/** The metadata that is read. */
export interface ServiceMeta {
  namespace?: string | undefined
  uid: string
  labels?: Readonly<Record<string, string>> | undefined
  annotations?: Readonly<Record<string, string>> | undefined
  ownerReferences?: readonly OwnerReference[] | undefined
}

interface OwnerReference {
  apiVersion?: string
  kind?: string
  name?: string
  uid?: string
}

/**
 * OWNED wins over REFERENCED, and what is broken is never STANDALONE: it keeps its state, unverified, with
 * the problems named. An empty label or annotation is malformed, not absent.
 */
export function relationship(meta: ServiceMeta, keys: CanaryKeys = DEFAULT_CANARY_KEYS): CanaryRelationship {
  const owners = (meta.ownerReferences ?? []).filter((owner) => owner.kind === keys.ownerKind)
  const assigned = meta.annotations?.[keys.assignmentAnnotation] !== undefined
  if (owners.length > 0 || meta.labels?.[keys.canaryLabel] !== undefined) return owned(meta, owners, keys)
  if (assigned) return referenced(meta, keys)
  return {
    state: 'STANDALONE',
    verified: false,
    serviceUid: meta.uid,
    managedBy: null,
    assignedTo: null,
    problems: [],
  }
}

function owned(meta: ServiceMeta, owners: readonly OwnerReference[], keys: CanaryKeys): CanaryRelationship {
  const problems: string[] = []
  const label = (key: string): string | null => {
    const value = meta.labels?.[key]
    if (value === '') problems.push(`the label ${key} is empty`)
    return value || null
  }
  const labelName = label(keys.canaryLabel)
  const labelNamespace = label(keys.namespaceLabel)
  const role = label(keys.roleLabel)
  const own = meta.namespace ?? null
  const owner = owners[0]
  if (!owner) {
    problems.push(`there is no owner reference of kind ${keys.ownerKind}, only labels`)
  } else {
    if (!owner.name) problems.push('the owner reference has no name')
    if (!owner.uid) problems.push('the owner reference has no uid')
    if (owners.some((other) => other.name !== owner.name || other.uid !== owner.uid)) {
      problems.push(`there are several owner references of kind ${keys.ownerKind}`)
    }
    if (labelName !== null && owner.name && labelName !== owner.name) {
      problems.push(`the label ${keys.canaryLabel} names another canary than the owner reference`)
    }
    // An owner reference cannot leave the namespace of its object.
    if (labelNamespace !== null && labelNamespace !== own) {
      problems.push(`the label ${keys.namespaceLabel} names another namespace than the owner reference`)
    }
  }
  const managedBy: CanaryParent = owner
    ? {
        apiVersion: owner.apiVersion || null,
        kind: owner.kind || null,
        namespace: own,
        name: owner.name || labelName,
        uid: owner.uid || null,
        role,
      }
    : {
        apiVersion: null,
        kind: null,
        namespace: labelNamespace ?? own,
        name: labelName,
        uid: null,
        role,
      }
  problems.push(...contradictingAssignment(meta, managedBy, keys))
  return {
    state: 'OWNED',
    verified: problems.length === 0,
    serviceUid: meta.uid,
    managedBy,
    assignedTo: null,
    problems,
  }
}

/** An assignment beside ownership changes nothing, unless it names somebody else: then one of them is wrong. */
function contradictingAssignment(meta: ServiceMeta, owner: CanaryParent, keys: CanaryKeys): string[] {
  const text = meta.annotations?.[keys.assignmentAnnotation]
  if (text === undefined) return []
  const { parent, problems } = parseAssignment(text, keys)
  if (problems.length > 0) return problems
  const same = parent.name === owner.name && parent.namespace === owner.namespace
  return same && (owner.uid === null || parent.uid === owner.uid)
    ? []
    : [`the annotation ${keys.assignmentAnnotation} names another canary than the ownership`]
}

function referenced(meta: ServiceMeta, keys: CanaryKeys): CanaryRelationship {
  const text = meta.annotations?.[keys.assignmentAnnotation] ?? ''
  const { parent, problems } = parseAssignment(text, keys)
  return {
    state: 'REFERENCED',
    verified: problems.length === 0,
    serviceUid: meta.uid,
    managedBy: null,
    assignedTo: parent,
    problems,
  }
}

function parseAssignment(text: string, keys: CanaryKeys): { parent: CanaryParent; problems: string[] } {
  const key = keys.assignmentAnnotation
  const parent: CanaryParent = {
    apiVersion: null,
    kind: null,
    namespace: null,
    name: null,
    uid: null,
    role: null,
  }
  if (text.trim() === '') return { parent, problems: [`the annotation ${key} is empty`] }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { parent, problems: [`the annotation ${key} is not JSON`] }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { parent, problems: [`the annotation ${key} is not a JSON object`] }
  }
  const problems: string[] = []
  for (const field of ['namespace', 'name', 'uid', 'role'] as const) {
    const part = (value as Record<string, unknown>)[field]
    if (typeof part === 'string' && part !== '') parent[field] = part
    else if (part !== undefined && part !== null)
      problems.push(`${field} in the annotation ${key} is malformed`)
    else if (field !== 'role') problems.push(`the annotation ${key} has no ${field}`)
  }
  return { parent, problems }
}
