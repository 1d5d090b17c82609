/** The cluster of a schedule: what is in it at first, and what others than the gateways do to it. */
import type { KubeObject, Store } from '../../sandbox/api/types.ts'
import { objectsOf, plantGiven } from '../cases/given.ts'
import { type Given, given } from '../cases/givenFormat.ts'
import { NODES } from './generate.ts'
import { helmRecordsOf } from './helm.ts'
import type { ClusterStep, ReleasePlan } from './schedule.ts'

const CHART = 'vllm'
const PHASE_LABEL = 'swiss.modelsphere.dev/phase'
const FINALIZER = 'serving.modelsphere.dev/finalizer'

export const planRef = ({ namespace, name }: { namespace: string; name: string }) => ({
  ...{ kind: 'ConfigMap', namespace, name: `swiss-plan-${name}` },
})
export const markRef = ({ namespace, name }: { namespace: string; name: string }) => ({
  ...{ kind: 'ConfigMap', namespace, name: `swiss-uninstall-${name}` },
})
export const serviceRef = ({ namespace, name }: { namespace: string; name: string }) => ({
  ...{ kind: 'LLMService', namespace, name },
})

/** True when the plan says that its release is being uninstalled. */
export function isMarkedPlan(plan: KubeObject): boolean {
  const status = (plan.data as Record<string, string> | undefined)?.['status.yaml'] ?? ''
  return plan.metadata.labels?.[PHASE_LABEL] === 'uninstalling' || /^phase: uninstalling/m.test(status)
}

export class Cluster {
  readonly store: Store
  readonly releases: readonly ReleasePlan[]
  /** What others did to a release that no gateway asked for, by its key: it excuses what follows from it. */
  readonly meddled = new Map<string, Set<string>>()
  #made = 0

  constructor(store: Store, releases: readonly ReleasePlan[], now: string) {
    this.store = store
    this.releases = releases
    plantGiven(store, givenOf(releases, now))
  }

  /** Does one step; one that has nothing to act on does nothing. */
  do(step: ClusterStep): void {
    if (step.do === 'node') {
      this.#node(step.node, step.action)
      return
    }
    const release = this.releases[step.release]
    if (!release) return
    if (step.do === 'pods') this.#pods(release, step.action, step.pick)
    else if (step.do === 'operator') this.#operator(release, step.action)
    else this.#foreign(release, step.action)
  }

  podsOf(release: ReleasePlan): KubeObject[] {
    return this.store.list('Pod').filter(({ metadata }) => {
      if (metadata.namespace !== release.namespace) return false
      const { 'app.kubernetes.io/instance': instance, app } = metadata.labels ?? {}
      return instance === release.name || app === `${release.name}-${CHART}`
    })
  }

  /** helm has dropped it: its workload goes, and the pods with it. */
  uninstalled(ref: { namespace: string; name: string }): void {
    const release = this.releases.find((one) => one.namespace === ref.namespace && one.name === ref.name)
    if (release?.podsFollow) for (const pod of this.podsOf(release)) this.#deletePod(pod)
  }

  /** Everything is let go: pods that may go have gone, nodes are back, operators have finished. */
  letGo(): void {
    for (const name of NODES) this.#node(name, 'back')
    for (const release of this.releases) {
      const service = this.store.get(serviceRef(release))
      if (service?.metadata.deletionTimestamp !== undefined) this.#operator(release, 'finish')
      const plan = this.store.get(planRef(release))
      const over = !plan || isMarkedPlan(plan) || this.store.get(markRef(release)) !== undefined
      for (const pod of this.podsOf(release)) {
        if (over || pod.metadata.deletionTimestamp !== undefined) this.store.remove(refOf(pod))
      }
    }
  }

  meddle(release: { namespace: string; name: string }, how: string): void {
    const key = `${release.namespace}/${release.name}`
    this.meddled.set(key, (this.meddled.get(key) ?? new Set()).add(how))
  }

  didMeddle(key: string, ...how: string[]): boolean {
    const did = this.meddled.get(key)
    return did !== undefined && (how.length === 0 || how.some((one) => did.has(one)))
  }

  #pods(release: ReleasePlan, action: Extract<ClusterStep, { do: 'pods' }>['action'], pick: number): void {
    const pods = this.podsOf(release)
    const pod = pods[pick % Math.max(1, pods.length)]
    if (action === 'add') {
      const name = pick % 2 === 0 ? `${release.name}-x${pick}` : `engine-x${pick}-of-${release.name}`
      const node = NODES[pick % NODES.length] ?? 'n1'
      const made = podObject(release, { name, node, label: 'instance', grace: 30, finalizer: false })
      if (made && !this.store.get(refOf(made))) this.store.create(made)
      return
    }
    if (!pod) return
    switch (action) {
      case 'again': {
        // A StatefulSet's way: the same name, another pod.
        const { uid: _, resourceVersion: __, deletionTimestamp: ___, ...metadata } = pod.metadata
        const { deletionGracePeriodSeconds: ____, finalizers: _____, ...rest } = metadata
        this.store.replace({ ...pod, metadata: { ...rest, uid: this.#uid('pod') } })
        break
      }
      case 'delete':
        this.#deletePod(pod)
        break
      case 'remove':
        this.store.remove(refOf(pod))
        break
      case 'removeAll':
        for (const one of pods) this.store.remove(refOf(one))
        break
      case 'finish':
        this.store.patch(refOf(pod), { status: { phase: pick % 2 === 0 ? 'Succeeded' : 'Failed' } })
        break
      case 'finalizer': {
        const kept = pod.metadata.finalizers ? null : ['example.test/hold']
        this.store.patch(refOf(pod), { metadata: { finalizers: kept } })
        break
      }
    }
  }

  #deletePod(pod: KubeObject): void {
    if (pod.metadata.deletionTimestamp === undefined) this.store.delete(refOf(pod))
  }

  #node(name: string, action: 'lost' | 'back' | 'removed'): void {
    const ref = { kind: 'Node', name }
    const there = this.store.get(ref) !== undefined
    const status = { conditions: [{ type: 'Ready', status: action === 'back' ? 'True' : 'Unknown' }] }
    if (action === 'removed') {
      if (there) this.store.remove(ref)
    } else if (there) this.store.patch(ref, { status })
    else if (action === 'back')
      this.store.create({ apiVersion: 'v1', kind: 'Node', metadata: { name }, status })
  }

  #operator(release: ReleasePlan, action: Extract<ClusterStep, { do: 'operator' }>['action']): void {
    const ref = serviceRef(release)
    const service = this.store.get(ref)
    const deleting = service?.metadata.deletionTimestamp !== undefined
    if (!service) {
      // On top of a helm release it would be another backend; that is a story of its own.
      if (action === 'appear' && isService(release) && !this.store.get(markRef(release))) {
        this.meddle(release, 'recreated')
        this.store.create(serviceObject(release, this.#uid('service')))
      }
      return
    }
    switch (action) {
      case 'write':
        this.store.patch(ref, { status: { message: `reconciled ${++this.#made}` } })
        break
      case 'stage': {
        if (!deleting) break
        const stages = ['RouteSettling', 'HelmUninstalling', 'PodsTerminating']
        const stage = stages[this.#made++ % stages.length]
        this.store.patch(ref, { status: { phase: 'Deleting', deletion: { stage, podsRemaining: 1 } } })
        break
      }
      case 'finish':
        if (deleting) this.store.remove(ref)
        break
      case 'delete':
        this.meddle(release, 'deleted')
        this.store.delete(ref)
        break
      case 'recreate':
        this.meddle(release, 'recreated')
        this.store.replace(serviceObject(release, this.#uid('service')))
        break
      case 'appear':
        break
    }
  }

  #foreign(release: ReleasePlan, action: Extract<ClusterStep, { do: 'foreign' }>['action']): void {
    if (action === 'deleteMark') {
      if (!this.store.get(markRef(release))) return
      this.meddle(release, 'markDeleted')
      this.store.remove(markRef(release))
      return
    }
    const ref = planRef(release)
    const plan = this.store.get(ref)
    if (!plan) {
      if (
        action !== 'recreatePlan' ||
        !this.meddled.get(`${release.namespace}/${release.name}`)?.has('planDeleted')
      )
        return
      this.meddle(release, 'planRecreated')
      this.store.create(planObject(release, this.#uid('plan')))
      return
    }
    const data = plan.data as Record<string, string>
    switch (action) {
      case 'annotate':
        this.store.patch(ref, { metadata: { annotations: { 'example.test/seen': String(++this.#made) } } })
        break
      case 'unlabel':
        this.store.patch(ref, { metadata: { labels: { [PHASE_LABEL]: null } } })
        break
      case 'overwrite':
        // A tool that knows nothing of marks writes the plan as it had it.
        this.meddle(release, 'overwritten')
        this.store.patch(ref, {
          metadata: { labels: { [PHASE_LABEL]: null } },
          data: { 'status.yaml': 'phase: applied\nrevision: 3\n' },
        })
        break
      case 'deletePlan':
        this.meddle(release, isMarkedPlan(plan) ? 'markedPlanDeleted' : 'planDeleted')
        this.meddle(release, 'planDeleted')
        this.store.remove(ref)
        break
      case 'recreatePlan':
        this.meddle(release, 'planRecreated')
        this.store.replace(planObject(release, this.#uid('plan')))
        break
      case 'status':
        if (isMarkedPlan(plan)) break
        this.meddle(release, 'status')
        this.store.patch(ref, {
          data: { ...data, 'status.yaml': `phase: failed\nrevision: 3\nerror: e${++this.#made}\n` },
        })
        break
    }
  }

  #uid(what: string): string {
    return `${what}-${++this.#made}-made`
  }
}

const isService = (release: ReleasePlan) => release.kind === 'service' || release.kind === 'servicePlan'

const refOf = ({ kind, metadata }: KubeObject) => ({
  kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name,
})

function givenOf(releases: readonly ReleasePlan[], now: string): Given {
  const withHelm = releases.filter(({ kind }) => kind === 'helm' || kind === 'untracked')
  const withPlan = releases.filter(({ kind }) => kind !== 'untracked' && kind !== 'service')
  const chart = `${CHART}-0.4.0`
  return given.parse({
    now,
    nodes: NODES.map((name) => ({ name })),
    helm: withHelm.map(({ namespace, name }) => ({
      namespace,
      name,
      revision: 3,
      status: 'deployed',
      chart,
    })),
    plans: withPlan.map(({ namespace, name }) => ({ namespace, name, phase: 'applied', revision: 3, chart })),
    archives: withPlan.map(({ namespace, name }) => ({ namespace, name, revisions: [1, 2] })),
    autoscale: withPlan.map(({ namespace, name }) => ({ namespace, name })),
    objects: releases.flatMap((release) => [
      ...release.pods.map((pod) => podObject(release, pod)),
      ...(isService(release) ? [serviceObject(release)] : []),
    ]),
  })
}

function podObject({ namespace, name: release }: ReleasePlan, pod: ReleasePlan['pods'][number]): KubeObject {
  const labels =
    pod.label === 'instance' ? { 'app.kubernetes.io/instance': release } : { app: `${release}-${CHART}` }
  const [object] = objectsOf(
    given.parse({
      pods: [
        {
          ...{ namespace, name: pod.name, labels, node: pod.node, grace: pod.grace },
          finalizers: pod.finalizer ? ['example.test/hold'] : [],
        },
      ],
    }),
  )
  return object as KubeObject
}

function planObject({ namespace, name }: ReleasePlan, uid: string): KubeObject {
  const plans = [{ namespace, name, phase: 'applied' as const, revision: 4, chart: `${CHART}-0.4.0` }]
  const [object] = objectsOf(given.parse({ plans }))
  return { ...(object as KubeObject), metadata: { ...(object as KubeObject).metadata, uid } }
}

function serviceObject({ namespace, name, finalizer }: ReleasePlan, uid?: string): KubeObject {
  return {
    apiVersion: 'serving.modelsphere.dev/v1alpha1',
    kind: 'LLMService',
    metadata: {
      ...{ namespace, name },
      ...(finalizer ? { finalizers: [FINALIZER] } : {}),
      ...(uid === undefined ? {} : { uid }),
    },
    spec: { chart: { name: CHART, version: '0.4.0' }, layers: [], model: { name: 'm' } },
    status: { phase: 'Applied', helm: { revision: 2, status: 'deployed' } },
  }
}

/** What is left in the cluster that only a gateway would delete, by release. */
export function leftovers(store: Store, { namespace, name }: ReleasePlan): string[] {
  const there = (kind: string, object: string) => store.get({ kind, namespace, name: object }) !== undefined
  return [
    ...(there('ConfigMap', `swiss-autoscale-${name}`) ? ['autoscale ConfigMap'] : []),
    ...(there('Lease', `swiss-lock-${name}`) ? ['lock'] : []),
    ...(there('ConfigMap', `swiss-uninstall-${name}`) ? ['mark'] : []),
    ...store
      .list('Secret')
      .filter(
        ({ metadata }) =>
          metadata.namespace === namespace && metadata.name.startsWith(`swiss.plan.v1.${name}.`),
      )
      .map(({ metadata }) => `archive ${metadata.name}`),
  ]
}

/** Whether anything of the release itself is there. */
export function isThere(store: Store, release: ReleasePlan): boolean {
  return (
    store.get(planRef(release)) !== undefined ||
    store.get(serviceRef(release)) !== undefined ||
    helmRecordsOf(store, release).length > 0
  )
}
