/** Which pods count, written anew from the contract (section 4), so that the gateway's own count is checked by another. */
import type { KubeObject, Store } from '../../sandbox/api/types.ts'

const FORGIVEN_MS = 5 * 60_000

interface PodBody {
  spec?: { nodeName?: string; terminationGracePeriodSeconds?: number }
  status?: { phase?: string }
}

/** Whether a pod holds an uninstall at `now` (ms). */
export function counts(pod: KubeObject, store: Store, now: number): boolean {
  const { spec, status } = pod as unknown as PodBody
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false
  const { deletionTimestamp, deletionGracePeriodSeconds, annotations } = pod.metadata
  if (annotations?.['kubernetes.io/config.mirror'] !== undefined) return false
  if (deletionTimestamp === undefined) return true
  const grace = deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30
  const late = now - (Date.parse(deletionTimestamp) + grace * 1000)
  if (late <= 0) return true
  if (late > FORGIVEN_MS) return false
  return !isLost(store, spec?.nodeName)
}

function isLost(store: Store, node: string | undefined): boolean {
  if (node === undefined) return false
  const found = store.get({ kind: 'Node', name: node })
  if (!found) return true
  const { conditions = [] } = (found.status ?? {}) as { conditions?: { type: string; status: string }[] }
  return conditions.find(({ type }) => type === 'Ready')?.status !== 'True'
}
