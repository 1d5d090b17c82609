import { createHash, randomInt } from 'node:crypto'
import { orderedJson } from '../api/json.ts'
import type { KubeObject } from '../api/types.ts'
import { isFinished, isReady } from '../kubelet/lifecycle.ts'
import { controllerReference } from './owners.ts'

/** `spec.template` of a workload. */
export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }
  spec: Record<string, unknown>
}

// No vowels and nothing that looks like one: Kubernetes' alphabet for names nobody chose.
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** Five characters for a generated name. */
export const nameSuffix = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')

/** Ten characters that stand for a template, whatever the order of its keys. */
export function templateHash(template: unknown): string {
  const digest = createHash('sha256').update(orderedJson(template)).digest()
  return [...digest.subarray(0, 10)].map((byte) => alphabet[byte % alphabet.length]).join('')
}

/** A pod as a controller makes it: the template's labels, annotations and spec, owned by `owner`. */
export function podFor(
  owner: KubeObject,
  template: PodTemplate,
  name: string,
  labels: Record<string, string> = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(owner.metadata.namespace ? { namespace: owner.metadata.namespace } : {}),
      labels: { ...template.metadata?.labels, ...labels },
      ...(template.metadata?.annotations ? { annotations: template.metadata.annotations } : {}),
      ownerReferences: [{ ...controllerReference(owner) }],
    },
    spec: template.spec,
  }
}

/** Pods that a controller counts: neither ended nor asked to end. */
export const isActive = (pod: KubeObject) => pod.metadata.deletionTimestamp === undefined && !isFinished(pod)

/** Which of too many pods go first: those without a node, then those not ready, then the youngest. */
export function surplus(pods: KubeObject[], keep: number): KubeObject[] {
  const rank = (pod: KubeObject) =>
    (pod.spec as { nodeName?: string } | undefined)?.nodeName ? (isReady(pod) ? 2 : 1) : 0
  const age = (pod: KubeObject) => Date.parse(pod.metadata.creationTimestamp ?? '')
  return [...pods]
    .sort((a, b) => rank(a) - rank(b) || age(b) - age(a))
    .slice(0, Math.max(0, pods.length - keep))
}
