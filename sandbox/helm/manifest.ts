import type { KubeObject } from '../api/types.ts'
import { readBlockYaml } from '../blockYaml.ts'

/** What must be known of an object to delete it. */
export interface ManifestHead {
  apiVersion: string
  kind: string
  name: string
  /** Empty when the manifest does not say; it is the release's then. */
  namespace: string
  annotations: Record<string, string>
}

/** Order in which helm deletes kinds; those not named come last, by name. */
const uninstallOrder = [
  ...[
    'ValidatingWebhookConfiguration',
    'MutatingWebhookConfiguration',
    'APIService',
    'Ingress',
    'IngressClass',
  ],
  ...['Service', 'CronJob', 'Job', 'StatefulSet', 'HorizontalPodAutoscaler', 'Deployment', 'ReplicaSet'],
  ...['ReplicationController', 'Pod', 'DaemonSet', 'RoleBindingList', 'RoleBinding', 'RoleList', 'Role'],
  ...['ClusterRoleBindingList', 'ClusterRoleBinding', 'ClusterRoleList', 'ClusterRole'],
  ...['CustomResourceDefinition', 'PersistentVolumeClaim', 'PersistentVolume', 'StorageClass', 'ConfigMap'],
  ...['SecretList', 'Secret', 'ServiceAccount', 'PodDisruptionBudget', 'PodSecurityPolicy', 'LimitRange'],
  ...['ResourceQuota', 'NetworkPolicy', 'Namespace', 'PriorityClass'],
]

/**
 * Reads the heads of a release's documents (JSON or block-style YAML) and groups them by kind in the order of
 * an uninstall. Throws an Error for a document that is no Kubernetes object.
 */
export function manifestHeads(manifest: string): ManifestHead[][] {
  const heads = split(manifest).map(readHead)
  const byKind = new Map<string, ManifestHead[]>()
  for (const head of heads) byKind.set(head.kind, [...(byKind.get(head.kind) ?? []), head])
  const rank = (kind: string) => {
    const index = uninstallOrder.indexOf(kind)
    return index < 0 ? uninstallOrder.length : index
  }
  return [...byKind].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b)).map(([, group]) => group)
}

const split = (manifest: string) =>
  manifest.split(/(?:^|\n)---[^\S\n]*(?=\n|$)/).filter((document) => /^[^\S\n]*[^\s#]/m.test(document))

const withoutComments = (document: string) => document.replace(/^(?:\s*(?:#[^\n]*)?\n)*/, '')

/** The objects of a manifest, whole. Throws an Error for a document that cannot be read. */
export async function documentsOf(manifest: string): Promise<KubeObject[]> {
  const objects: KubeObject[] = []
  for (const document of split(manifest)) {
    const text = withoutComments(document)
    // A chart's YAML needs the library, which takes its time to load; the stand-in's own documents are JSON.
    const object: unknown = text.startsWith('{') ? JSON.parse(text) : (await import('yaml')).parse(text)
    objects.push(object as KubeObject)
  }
  return objects
}

/** Head of one document. Only its head is read: what a chart puts into a spec may be any YAML. */
export function readHead(document: string): ManifestHead {
  const text = withoutComments(document)
  const object = (text.startsWith('{') ? JSON.parse(text) : readBlockYaml(headSections(text))) as {
    apiVersion?: unknown
    kind?: unknown
    metadata?: { name?: unknown; namespace?: unknown; annotations?: Record<string, unknown> }
  } | null
  const { apiVersion, kind, metadata } = object ?? {}
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || metadata?.name === undefined) {
    throw new Error('a document of the manifest has no apiVersion, kind and name')
  }
  const annotations = Object.entries(metadata.annotations ?? {}).map(([key, value]) => [key, String(value)])
  return {
    apiVersion,
    kind,
    name: String(metadata.name),
    namespace: metadata.namespace === undefined ? '' : String(metadata.namespace),
    annotations: Object.fromEntries(annotations),
  }
}

function headSections(text: string): string {
  const kept: string[] = []
  let inHead = false
  for (const line of text.split('\n')) {
    if (/^[A-Za-z"']/.test(line)) inHead = /^["']?(apiVersion|kind|metadata)["']?\s*:/.test(line)
    if (inHead) kept.push(line)
  }
  return kept.join('\n')
}
