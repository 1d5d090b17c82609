import type { KubeObject } from '../api/types.ts'
import { isReady } from './lifecycle.ts'

/** Amounts by resource name; only whole extended resources (`nvidia.com/gpu` and the like) are looked at. */
export type Amounts = Record<string, number>

/** A node that takes a pod, or the scheduler's sentence about why none does. */
export type Placement = { node: string } | { reason: string }

/** Extended resources a pod asks for, summed over its containers. */
export function requestsOf(pod: KubeObject): Amounts {
  const { containers = [] } = (pod.spec ?? {}) as { containers?: { resources?: { limits?: object } }[] }
  const sum: Amounts = {}
  for (const container of containers) add(sum, extended(container.resources?.limits))
  return sum
}

export function add(sum: Amounts, more: Amounts): void {
  for (const [name, amount] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + amount
}

/**
 * Picks the Ready node with the most left of what the pod asks for; the first by name among equals.
 *
 * @param used what the pods on each node hold
 */
export function place(pod: KubeObject, nodes: KubeObject[], used: ReadonlyMap<string, Amounts>): Placement {
  const wanted = requestsOf(pod)
  const { nodeSelector = {} } = (pod.spec ?? {}) as { nodeSelector?: Record<string, string> }
  const refusals = new Map<string, number>()
  let best: { name: string; left: number } | undefined
  for (const node of [...nodes].sort((a, b) => a.metadata.name.localeCompare(b.metadata.name))) {
    const { name, labels = {} } = node.metadata
    const free = extended((node.status as { allocatable?: object } | undefined)?.allocatable)
    for (const [resource, amount] of Object.entries(used.get(name) ?? {}))
      free[resource] = (free[resource] ?? 0) - amount
    const refusal = refuse(node, labels, free)
    if (refusal) {
      refusals.set(refusal, (refusals.get(refusal) ?? 0) + 1)
      continue
    }
    const left = Object.keys(wanted).reduce((sum, resource) => sum + (free[resource] ?? 0), 0)
    if (!best || left > best.left) best = { name, left }
  }
  if (best) return { node: best.name }
  const why = [...refusals].map(([reason, count]) => `${count} ${reason}`).join(', ')
  return { reason: `0/${nodes.length} nodes are available${why === '' ? '' : `: ${why}`}.` }

  function refuse(node: KubeObject, labels: Record<string, string>, free: Amounts): string | undefined {
    if (!isReady(node)) return 'node(s) were not ready'
    if ((node.spec as { unschedulable?: boolean } | undefined)?.unschedulable)
      return 'node(s) were unschedulable'
    if (Object.entries(nodeSelector).some(([key, value]) => labels[key] !== value)) {
      return "node(s) didn't match Pod's node affinity/selector"
    }
    const short = Object.entries(wanted).find(([resource, amount]) => (free[resource] ?? 0) < amount)
    return short && `Insufficient ${short[0]}`
  }
}

function extended(amounts: object | undefined): Amounts {
  return Object.fromEntries(
    Object.entries(amounts ?? {})
      .filter(([name]) => name.includes('/'))
      .map(([name, amount]) => [name, Number(amount)]),
  )
}
