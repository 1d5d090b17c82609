import { timeOf, timestamp } from '../api/times.ts'
import type { KubeObject } from '../api/types.ts'
import { isFinished, phaseOf } from '../kubelet/lifecycle.ts'
import { POD } from '../resourceTypes.ts'
import type { Context } from './context.ts'
import type { Deletion, LlmService } from './llmService.ts'

/** By this label pods are known to belong to a release. */
export const instanceLabel = 'app.kubernetes.io/instance'

/** `status.deletion.pods` names so many at most; `podsRemaining` counts them all. */
const namedPods = 50

/** The pods of a release that have not ended, by name, live. */
export async function podsOf(
  { client }: Context,
  { metadata: { namespace = '', name } }: LlmService,
): Promise<KubeObject[]> {
  const { items } = await client.list(POD, { namespace, labelSelector: `${instanceLabel}=${name}` })
  return items.filter((pod) => !isFinished(pod)).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

/** What `status.deletion` says of them. */
export function podReport(pods: KubeObject[], now: number): Pick<Deletion, 'podsRemaining' | 'pods'> {
  return {
    podsRemaining: pods.length,
    pods: pods.slice(0, namedPods).map((pod) => {
      const node = (pod.spec as { nodeName?: string } | undefined)?.nodeName
      return {
        name: pod.metadata.name,
        phase: phaseOf(pod),
        ...(node ? { node } : {}),
        message: messageOf(pod, now),
      }
    }),
  }
}

function messageOf({ metadata }: KubeObject, now: number): string {
  const until = timeOf(metadata.deletionTimestamp)
  if (until === undefined) return 'has not been asked to stop yet'
  if (metadata.finalizers?.length) return `waits for its finalizer ${metadata.finalizers.join(', ')}`
  if (now > until) return `should have stopped by ${timestamp(until)}`
  return `is stopping, by ${timestamp(until)} at the latest`
}

/** Takes the pods away without waiting for their containers. */
export async function forceDelete({ client }: Context, pods: KubeObject[]): Promise<void> {
  for (const { metadata } of pods) {
    const { namespace = '', name, uid } = metadata
    await client.delete(POD, namespace, name, { grace: 0, ...(uid ? { uid } : {}) })
  }
}
