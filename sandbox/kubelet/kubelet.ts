import type { KubeObject } from '../api/types.ts'
import { isConflict, isNotFound } from '../apiError.ts'
import type { KubeClient } from '../client.ts'
import type { Clock } from '../clock.ts'
import { keyOf, type OnChange, startInformer } from '../informer.ts'
import { NODE, POD, type ResourceType } from '../resourceTypes.ts'
import { createQueue } from '../workQueue.ts'
import {
  isFinished,
  isReady,
  newMemory,
  nextStep,
  type Pace,
  type PodMemory,
  usualPace,
} from './lifecycle.ts'
import { runningStatus, succeededStatus, unschedulable } from './podStatus.ts'
import { type Amounts, add, place, requestsOf } from './scheduler.ts'

export interface KubeletOptions {
  /** Its user agent is the caller's choice. */
  client: KubeClient
  clock: Clock
  pace?: Pace
  onError: (message: string) => void
}

/** A running kubelet. */
export interface Kubelet {
  /** Resolves once it has seen all pods and nodes. */
  readonly synced: Promise<void>
  stop(): Promise<void>
}

/**
 * Scheduler and kubelet of all nodes in one, a client of the API server like any other: puts Pending pods on a
 * Ready node, makes them Running and Ready, ends those that do not restart, and lets deleting pods take their
 * time before it confirms them with a DELETE of grace 0. Pods of a node that is not Ready are left alone.
 */
export function startKubelet({ client, clock, pace = usualPace, onError }: KubeletOptions): Kubelet {
  const memories = new Map<string, PodMemory>()
  /** What pods on each node hold, and what has been given away but not been seen yet. */
  const placed = new Map<string, { node: string; amounts: Amounts }>()
  const unplaced = new Set<string>()
  const ended = new Set<string>()
  let addresses = 0

  const queue = createQueue(clock, reconcile, (key, error) =>
    onError(`pod ${key}: ${(error as Error).message}`),
  )

  const follow = (type: ResourceType, onChange: OnChange) =>
    startInformer({ client, clock, type, onChange, onError })
  const nodes = follow(NODE, (key) => {
    const name = key.slice(1)
    for (const pod of pods.values()) if (nodeOf(pod) === name) queue.add(keyOf(pod))
    retryUnplaced()
  })
  const pods = follow(POD, (key, now, before) => {
    const uid = String((now ?? before)?.metadata.uid)
    if (now && !isFinished(now)) {
      const node = nodeOf(now)
      if (node) placed.set(uid, { node, amounts: requestsOf(now) })
    } else {
      placed.delete(uid)
      retryUnplaced()
    }
    if (!now) {
      memories.delete(uid)
      ended.delete(uid)
      unplaced.delete(key)
    }
    queue.add(key)
  })

  function retryUnplaced(): void {
    for (const key of unplaced) queue.add(key)
  }

  const synced = Promise.all([nodes.synced, pods.synced]).then(() => {})

  async function reconcile(key: string): Promise<number | undefined> {
    await synced
    const pod = pods.get(key)
    const uid = pod?.metadata.uid
    if (!pod || !uid || ended.has(uid)) return undefined
    const node = nodes.get(`/${nodeOf(pod)}`)
    const memory = memories.get(uid) ?? newMemory()
    memories.set(uid, memory)
    const step = nextStep(pod, node !== undefined && isReady(node), memory, clock.now(), pace)
    if (step.do === 'wait') return step.ms
    try {
      if (step.do === 'schedule') await schedule(key, pod, uid)
      else if (step.do === 'run') await setStatus(pod, runningStatus(pod, false, nextAddress(), time()))
      else if (step.do === 'becomeReady')
        await setStatus(pod, runningStatus(pod, true, addressOf(pod), time()))
      else if (step.do === 'succeed') await setStatus(pod, succeededStatus(pod, time()))
      else if (step.do === 'end') {
        // The API server moves deletionTimestamp back, sets the grace to 0 and lets the pod go.
        await client.delete(POD, namespaceOf(pod), pod.metadata.name, { grace: 0, uid })
        // One that a finalizer holds goes when that is gone; nothing is left to do for it here.
        ended.add(uid)
      }
    } catch (error) {
      // Gone, or another pod under this name: the watch will say which.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
    return undefined
  }

  async function schedule(key: string, pod: KubeObject, uid: string): Promise<void> {
    // Given away a moment ago; the watch has not brought it back yet.
    if (placed.has(uid)) return
    const used = new Map<string, Amounts>()
    for (const { node, amounts } of placed.values()) {
      const sum = used.get(node) ?? {}
      add(sum, amounts)
      used.set(node, sum)
    }
    const choice = place(pod, [...nodes.values()], used)
    if ('node' in choice) {
      placed.set(uid, { node: choice.node, amounts: requestsOf(pod) })
      unplaced.delete(key)
      try {
        await bind(pod, choice.node)
      } catch (error) {
        placed.delete(uid)
        throw error
      }
      return
    }
    unplaced.add(key)
    const { conditions = [] } = (pod.status ?? {}) as { conditions?: { message?: string }[] }
    if (conditions[0]?.message !== choice.reason) {
      await setStatus(pod, { conditions: unschedulable(time(), choice.reason) })
    }
  }

  /** The sandbox API server has no `binding` subresource; the node is set as any other field. */
  async function bind(pod: KubeObject, nodeName: string): Promise<void> {
    const { name, uid, resourceVersion } = pod.metadata
    await client.patch(POD, namespaceOf(pod), name, {
      metadata: { uid, resourceVersion },
      spec: { nodeName },
    })
  }

  /** The uid in the patch keeps it from another pod of that name. */
  const setStatus = (pod: KubeObject, status: object) =>
    client.patch(
      POD,
      namespaceOf(pod),
      pod.metadata.name,
      { metadata: { uid: pod.metadata.uid }, status },
      'status',
    )

  const time = () => `${new Date(clock.now()).toISOString().slice(0, 19)}Z`
  const addressOf = (pod: KubeObject) =>
    (pod.status as { podIP?: string } | undefined)?.podIP ?? nextAddress()

  function nextAddress(): string {
    addresses += 1
    return `10.244.${(addresses >> 8) & 255}.${addresses & 255}`
  }

  return {
    synced,
    async stop() {
      await Promise.all([nodes.stop(), pods.stop()])
      await queue.stop()
    },
  }
}

const namespaceOf = (pod: KubeObject) => pod.metadata.namespace ?? ''
const nodeOf = (pod: KubeObject) => (pod.spec as { nodeName?: string } | undefined)?.nodeName ?? ''
