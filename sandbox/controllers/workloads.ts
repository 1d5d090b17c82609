import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../api/types.ts'
import { ApiError } from '../apiError.ts'
import type { KubeClient } from '../client.ts'
import type { Clock } from '../clock.ts'
import { type Informer, keyOf, type OnChange, startInformer } from '../informer.ts'
import { isReady, phaseOf } from '../kubelet/lifecycle.ts'
import { DEPLOYMENT, JOB, POD, REPLICA_SET, type ResourceType, STATEFUL_SET } from '../resourceTypes.ts'
import { createQueue } from '../workQueue.ts'
import { createExpectations, expectationMs } from './expectations.ts'
import type { Controller } from './garbage.ts'
import { controllerOf, controllerReference } from './owners.ts'
import { isActive, nameSuffix, type PodTemplate, podFor, surplus, templateHash } from './pods.ts'

interface WorkloadSpec {
  replicas?: number
  selector: { matchLabels: Record<string, string> }
  template: PodTemplate
}

const hashLabel = 'pod-template-hash'

/**
 * Keeps the pods of Deployments (through a ReplicaSet per template), StatefulSets and Jobs. Simpler than the real
 * ones in this: a new template wants all its pods at once and takes an old one away for each that is up, StatefulSets
 * start all pods together, a Job runs one pod and takes its end for its own. What an owner leaves behind is the
 * garbage collector's.
 */
export function startWorkloads(options: {
  client: KubeClient
  clock: Clock
  onError: (message: string) => void
}): Controller {
  const { client, clock, onError } = options
  const expected = createExpectations(clock)

  /** By uid of the controller. */
  const podsByOwner = new Map<string, Map<string, KubeObject>>()

  const queue = createQueue(clock, reconcile, (key, error) => onError(`${key}: ${(error as Error).message}`))
  const follow = (type: ResourceType, onChange: OnChange) =>
    startInformer({ client, clock, type, onChange, onError })
  const wake = (type: ResourceType) => follow(type, (key) => queue.add(`${type.kind} ${key}`))
  const deployments = wake(DEPLOYMENT)
  const statefulSets = wake(STATEFUL_SET)
  const jobs = wake(JOB)
  const replicaSets = follow(REPLICA_SET, (key, now, before) => {
    queue.add(`ReplicaSet ${key}`)
    wakeOwner(now ?? before)
  })
  const pods = follow(POD, (_key, now, before) => {
    const pod = now ?? before
    const owner = pod && controllerOf(pod)
    if (!pod || !owner) return
    keepIndex(owner.uid, now, pod)
    expected.seen(owner.uid, `+${pod.metadata.name}`)
    if (!now || now.metadata.deletionTimestamp !== undefined) expected.seen(owner.uid, `-${pod.metadata.uid}`)
    wakeOwner(pod)
  })
  const informers: Informer[] = [deployments, statefulSets, jobs, replicaSets, pods]

  const synced = Promise.all(informers.map((informer) => informer.synced)).then(() => {})

  function keepIndex(
    owner: string,
    now: KubeObject | undefined,
    { metadata: { uid = '' } }: KubeObject,
  ): void {
    const own = podsByOwner.get(owner) ?? new Map<string, KubeObject>()
    if (now) podsByOwner.set(owner, own.set(uid, now))
    else if (own.delete(uid) && own.size === 0) podsByOwner.delete(owner)
  }

  function wakeOwner(object: KubeObject | undefined): void {
    const owner = object && controllerOf(object)
    if (owner) queue.add(`${owner.kind} ${object.metadata.namespace}/${owner.name}`)
  }

  async function reconcile(id: string): Promise<number | undefined> {
    await synced
    const [kind, key = ''] = id.split(' ')
    const of = (informer: Informer) => {
      const object = informer.get(key)
      return object?.metadata.deletionTimestamp === undefined ? object : undefined
    }
    if (kind === 'Deployment') await keepDeployment(of(deployments))
    if (kind === 'ReplicaSet') return keepPods(of(replicaSets), keepReplicaSet)
    if (kind === 'StatefulSet') return keepPods(of(statefulSets), keepStatefulSet)
    if (kind === 'Job') return keepPods(of(jobs), runJob)
    return undefined
  }

  /** Nothing is decided before the watch has shown what was done last. */
  async function keepPods(
    owner: KubeObject | undefined,
    keep: (owner: KubeObject) => Promise<void>,
  ): Promise<number | undefined> {
    if (!owner) return undefined
    const uid = owner.metadata.uid ?? ''
    if (!expected.any(uid)) await keep(owner)
    return expected.any(uid) ? expectationMs : undefined
  }

  const specOf = (object: KubeObject) => object.spec as unknown as WorkloadSpec
  const podsOf = (owner: KubeObject) => [...(podsByOwner.get(owner.metadata.uid ?? '')?.values() ?? [])]

  async function keepDeployment(deployment: KubeObject | undefined): Promise<void> {
    if (!deployment) return
    const { replicas = 1, selector, template } = specOf(deployment)
    const { namespace = '', name, uid } = deployment.metadata
    const own = [...replicaSets.values()].filter((set) => controllerOf(set)?.uid === uid)
    const hash = templateHash(template)
    const current = own.find((set) => set.metadata.name === `${name}-${hash}`)
    if (!current) {
      const labels = { ...template.metadata?.labels, [hashLabel]: hash }
      await createOnce(REPLICA_SET, namespace, {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: {
          name: `${name}-${hash}`,
          namespace,
          labels,
          ownerReferences: [controllerReference(deployment)],
        },
        spec: {
          replicas,
          selector: { matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
          template: { ...template, metadata: { ...template.metadata, labels } },
        },
      })
      return
    }
    if (specOf(current).replicas !== replicas) await scale(current, replicas)
    // Every new pod that is up takes the place of an old one, which frees what it held for the next.
    let left = Math.max(0, replicas - podsOf(current).filter(isReady).length)
    for (const old of own.filter((it) => it !== current)) {
      const { replicas: present = 1 } = specOf(old)
      const kept = Math.min(present, left)
      if (kept !== present) await scale(old, kept)
      left -= kept
    }
    const running = own.flatMap(podsOf).filter(isActive)
    const ready = running.filter(isReady).length
    await setStatus(DEPLOYMENT, deployment, {
      observedGeneration: deployment.metadata.generation,
      replicas: running.length,
      updatedReplicas: podsOf(current).filter(isActive).length,
      readyReplicas: ready,
      availableReplicas: ready,
    })
  }

  const scale = (set: KubeObject, replicas: number) =>
    client.patch(REPLICA_SET, set.metadata.namespace ?? '', set.metadata.name, { spec: { replicas } })

  async function keepReplicaSet(set: KubeObject): Promise<void> {
    const { replicas = 1, template } = specOf(set)
    const active = podsOf(set).filter(isActive)
    for (const pod of surplus(active, replicas)) await remove(set, pod)
    for (let count = active.length; count < replicas; count++) {
      await make(set, podFor(set, template, `${set.metadata.name}-${nameSuffix()}`))
    }
    const ready = active.filter(isReady).length
    await setStatus(REPLICA_SET, set, {
      observedGeneration: set.metadata.generation,
      replicas: active.length,
      readyReplicas: ready,
      availableReplicas: ready,
    })
  }

  async function keepStatefulSet(set: KubeObject): Promise<void> {
    const { replicas = 1, template } = specOf(set)
    const { namespace, name } = set.metadata
    const own = podsOf(set)
    const wanted = Array.from({ length: replicas }, (_, ordinal) => `${name}-${ordinal}`)
    for (const pod of own.filter(isActive)) if (!wanted.includes(pod.metadata.name)) await remove(set, pod)
    for (const [ordinal, podName] of wanted.entries()) {
      // The name must be free: a pod that is still going holds its successor back.
      if (pods.get(`${namespace}/${podName}`)) continue
      const labels = {
        'statefulset.kubernetes.io/pod-name': podName,
        'apps.kubernetes.io/pod-index': String(ordinal),
      }
      await make(set, podFor(set, template, podName, labels))
    }
    const active = own.filter(isActive)
    const ready = active.filter(isReady).length
    await setStatus(STATEFUL_SET, set, {
      observedGeneration: set.metadata.generation,
      replicas: active.length,
      readyReplicas: ready,
      availableReplicas: ready,
      currentReplicas: active.length,
      updatedReplicas: active.length,
    })
  }

  async function runJob(job: KubeObject): Promise<void> {
    const { conditions = [] } = (job.status ?? {}) as { conditions?: { type: string }[] }
    if (conditions.some((it) => it.type === 'Complete' || it.type === 'Failed')) return
    const own = podsOf(job)
    if (own.length === 0) {
      await make(job, podFor(job, specOf(job).template, `${job.metadata.name}-${nameSuffix()}`))
      return
    }
    const at = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`
    const count = (phase: string) => own.filter((pod) => phaseOf(pod) === phase).length
    const [succeeded, failed] = [count('Succeeded'), count('Failed')]
    const end = succeeded > 0 ? 'Complete' : failed > 0 ? 'Failed' : undefined
    await setStatus(JOB, job, {
      startTime: job.metadata.creationTimestamp,
      active: own.filter(isActive).length,
      succeeded,
      failed,
      ...(end === 'Complete' ? { completionTime: at } : {}),
      ...(end
        ? { conditions: [{ type: end, status: 'True', lastProbeTime: at, lastTransitionTime: at }] }
        : {}),
    })
  }

  async function make(owner: KubeObject, pod: KubeObject): Promise<void> {
    const mark = `+${pod.metadata.name}`
    expected.add(owner.metadata.uid ?? '', mark)
    try {
      await createOnce(POD, owner.metadata.namespace ?? '', pod)
    } catch (error) {
      expected.seen(owner.metadata.uid ?? '', mark)
      // A namespace that is being emptied takes no new pods; its workloads go next.
      if (!(error instanceof ApiError && error.status === 403)) throw error
    }
  }

  async function remove(owner: KubeObject, pod: KubeObject): Promise<void> {
    const { namespace = '', name, uid = '' } = pod.metadata
    expected.add(owner.metadata.uid ?? '', `-${uid}`)
    try {
      await client.delete(POD, namespace, name, { uid })
    } catch (error) {
      expected.seen(owner.metadata.uid ?? '', `-${uid}`)
      throw error
    }
  }

  /** One that is there already is no error: the watch brings it in a moment. */
  async function createOnce(type: ResourceType, namespace: string, object: object): Promise<void> {
    try {
      await client.create(type, object, namespace)
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error
    }
  }

  async function setStatus(type: ResourceType, object: KubeObject, status: object): Promise<void> {
    const known = (object.status ?? {}) as Record<string, unknown>
    if (Object.entries(status).every(([key, value]) => isDeepStrictEqual(known[key], value))) return
    const [namespace = '', name = ''] = keyOf(object).split('/')
    try {
      await client.patch(type, namespace, name, { status }, 'status')
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error
    }
  }

  return {
    synced,
    async stop() {
      await Promise.all(informers.map((informer) => informer.stop()))
      await queue.stop()
    },
  }
}
