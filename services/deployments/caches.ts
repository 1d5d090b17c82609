/**
 * The watch caches of one gateway: what the cluster holds of releases, trimmed at the door and indexed by
 * release. Everything that is read, is read from here.
 */
import { KindCache } from '../cluster/cache.ts'
import type { KubeClient } from '../cluster/client.ts'
import { Kinds } from '../cluster/kinds.ts'
import type { ReflectorStatus } from '../cluster/reflector.ts'
import { type HelmRecord, trimHelmRecord } from '../helm/records.ts'
import { lockName, MANAGED_BY_SELECTOR, PHASE_SELECTOR, TRACKING_SELECTOR } from '../plans/names.ts'
import { type PlanObject, trimPlan } from '../plans/planObject.ts'
import { type NodeFacts, type NodeState, type PodFacts, trimNode, trimPod } from '../pods/counting.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { type AutoscaleMeta, trimAutoscale } from './autoscalePolicies.ts'
import { type LLMServiceObject, trimLLMService } from './llmService.ts'
import { type LockFacts, trimLock } from './lockFacts.ts'
import { type ReleaseRef, releaseKey } from './row.ts'

export interface CachesOptions {
  client: KubeClient
  /** Namespaces to watch, each with streams of its own; empty for the whole cluster. */
  namespaces: readonly string[]
  clock: Clock
  logger: Logger
  random: () => number
}

export class ClusterCaches {
  /** Plan ConfigMaps and the marks beside them. A plan that is uninstalled is also seen by its phase label. */
  readonly plans: KindCache<PlanObject>
  readonly helm: KindCache<HelmRecord>
  readonly pods: KindCache<PodFacts>
  readonly nodes: KindCache<NodeFacts>
  readonly llmServices: KindCache<LLMServiceObject>
  readonly locks: KindCache<LockFacts>
  /** Autoscale ConfigMaps, by metadata alone: nothing but their name tells them from others. See `AutoscalePolicies`. */
  readonly autoscale: KindCache<AutoscaleMeta>

  constructor({ client, namespaces, clock, logger, random }: CachesOptions) {
    const base = { client, namespaces, clock, logger, random }
    this.plans = new KindCache<PlanObject>({
      ...base,
      kind: Kinds.ConfigMap,
      selectors: [MANAGED_BY_SELECTOR, PHASE_SELECTOR, TRACKING_SELECTOR].map(selector),
      trim: trimPlan,
    })
    this.plans.index('release', (plan) => [releaseKey({ namespace: plan.namespace, name: plan.release })])
    this.helm = new KindCache<HelmRecord>({
      ...base,
      kind: Kinds.Secret,
      selectors: ['owner=helm'].map(selector),
      metadataOnly: true,
      trim: trimHelmRecord,
    })
    this.helm.index('release', (record) => [
      releaseKey({ namespace: record.namespace, name: record.release }),
    ])
    this.pods = new KindCache<PodFacts>({ ...base, kind: Kinds.Pod, trim: trimPod })
    this.pods.index('instance', (pod) => (pod.instance === null ? [] : [`${pod.namespace}/${pod.instance}`]))
    this.pods.index('app', (pod) => (pod.app === null ? [] : [`${pod.namespace}/${pod.app}`]))
    this.nodes = new KindCache<NodeFacts>({
      ...base,
      namespaces: [],
      kind: Kinds.Node,
      optional: true,
      trim: trimNode,
    })
    this.llmServices = new KindCache<LLMServiceObject>({
      ...base,
      kind: Kinds.LLMService,
      optional: true,
      trim: trimLLMService,
    })
    this.locks = new KindCache<LockFacts>({
      ...base,
      kind: Kinds.Lease,
      selectors: [MANAGED_BY_SELECTOR].map(selector),
      optional: true,
      trim: trimLock,
    })
    this.autoscale = new KindCache<AutoscaleMeta>({
      ...base,
      kind: Kinds.ConfigMap,
      metadataOnly: true,
      trim: trimAutoscale,
    })
  }

  /** Every cache by name, for health, start and the barrier of the tests. */
  get all(): KindCache<never>[] {
    return [
      this.plans,
      this.helm,
      this.pods,
      this.nodes,
      this.llmServices,
      this.locks,
      this.autoscale,
    ] as never[]
  }

  /** Starts all reflectors; the result stops them. */
  start(): () => void {
    const stops = this.all.map((cache) => cache.start())
    return () => {
      for (const stop of stops) stop()
    }
  }

  /**
   * True once everything that a row needs has been listed once; a kind that may be absent never holds this up for
   * good. Nor do LLMServices or nodes that fail at start (a conversion webhook that is down answers 500 for as long
   * as it likes): helm rows are shown without them, with a warning, and the rest comes when they can be listed.
   */
  get ready(): boolean {
    const spared = this.dispensable
    return this.all.every((cache) => cache.isSynced || (spared.includes(cache) && isTried(cache)))
  }

  /** What a row can do without, as long as it fails. */
  get dispensable(): KindCache<never>[] {
    return [this.nodes, this.llmServices] as never[]
  }

  status(): ReflectorStatus[] {
    return this.all.flatMap((cache) => cache.status())
  }

  plan(ref: ReleaseRef): PlanObject | null {
    return this.#planObject(ref, 'plan')
  }

  mark(ref: ReleaseRef): PlanObject | null {
    return this.#planObject(ref, 'mark')
  }

  #planObject(ref: ReleaseRef, role: PlanObject['role']): PlanObject | null {
    return this.plans.lookup('release', releaseKey(ref)).find((plan) => plan.role === role) ?? null
  }

  helmRecords(ref: ReleaseRef): HelmRecord[] {
    return this.helm.lookup('release', releaseKey(ref))
  }

  lock(ref: ReleaseRef): LockFacts | null {
    return this.locks.get(ref.namespace, lockName(ref.name)) ?? null
  }

  /** What is known of a node: one that may not be listed is neither missing nor not ready. */
  nodeState(name: string): NodeState {
    const node = this.nodes.get('', name)
    if (node) return node.ready ? 'READY' : 'NOT_READY'
    const readable = this.nodes.status().every((status) => status.state === 'synced')
    return readable ? 'MISSING' : 'UNREADABLE'
  }
}

const isTried = (cache: KindCache<never>) =>
  cache.status().every(({ synced, state }) => synced || state === 'failing')

const selector = (labelSelector: string) => ({ labelSelector })

/** Pods in the cache that carry either label of a release; each once, by name. */
export function matchingPods(
  caches: ClusterCaches,
  namespace: string,
  labels: { instance: string | null; app: string | null },
): PodFacts[] {
  const found = new Map<string, PodFacts>()
  const add = (index: string, value: string | null) => {
    if (value === null) return
    for (const pod of caches.pods.lookup(index, `${namespace}/${value}`)) found.set(pod.name, pod)
  }
  add('instance', labels.instance)
  add('app', labels.app)
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}
