import type { KubeObject } from '../api/types.ts'
import { METRIC, type Series } from './query.ts'

const POOLS = ['prefill', 'decode']
/** Requests that wait at a pool on average, how far that goes up and down, and in how many seconds. */
const WAVE = { mean: 20, swing: 16, seconds: 360 }

/**
 * The waiting requests of each running pod of a prefill or decode pool. What a pool has to do comes in waves, and is
 * shared by the pods that run: more of them have less to do each.
 *
 * @param seconds since the load began
 */
export function loadOf(pods: readonly KubeObject[], seconds: number): Series[] {
  const byPool = new Map<string, { labels: Record<string, string>; pods: string[] }>()
  for (const { metadata, status } of pods) {
    const release = metadata.labels?.['app.kubernetes.io/instance']
    const pool = POOLS.find((name) => metadata.name.startsWith(`${release}-${name}-`))
    const isRunning = (status as { phase?: string } | undefined)?.phase === 'Running'
    if (release === undefined || pool === undefined || !isRunning || metadata.deletionTimestamp) continue
    const labels = { namespace: metadata.namespace ?? '', release, pool }
    const key = Object.values(labels).join('/')
    const known = byPool.get(key) ?? { labels, pods: [] as string[] }
    known.pods.push(metadata.name)
    byPool.set(key, known)
  }
  return [...byPool.values()].flatMap(({ labels, pods: names }) => {
    // The decode pool feels a wave when the prefill pool has had it.
    const lag = labels.pool === 'decode' ? WAVE.seconds / 12 : 0
    const phase = (2 * Math.PI * (seconds - lag)) / WAVE.seconds
    const waiting = WAVE.mean + WAVE.swing * Math.sin(phase)
    const value = Math.round((10 * waiting) / names.length) / 10
    return names.map((pod) => ({ labels: { __name__: METRIC, ...labels, pod }, value }))
  })
}
