/** Looks at each deletion of a plan in the very moment at which the API server carries it out. */
import type { ApiServer, KubeObject } from '../../sandbox/api/types.ts'
import { gatewayUserAgent } from '../cases/gateway.ts'
import type { FakeClock } from '../unit/support/fakeClock.ts'
import { type Cluster, isMarkedPlan, markRef, planRef, serviceRef } from './cluster.ts'
import { helmRecordsOf } from './helm.ts'
import { counts } from './oracle.ts'
import type { ReleasePlan } from './schedule.ts'

interface Before {
  plan: KubeObject | undefined
  problems: string[]
}

export class DeletionGuard {
  readonly #api: ApiServer
  readonly #cluster: Cluster
  readonly #clock: FakeClock
  readonly #violate: (property: string, message: string) => void
  readonly #before = new Map<string, Before[]>()
  /** Pods that counted, and LLMServices that were there, when all was quiet the last time: what came since may not have been seen yet. */
  #known = new Set<string>()

  constructor(
    api: ApiServer,
    cluster: Cluster,
    clock: FakeClock,
    violate: (property: string, message: string) => void,
  ) {
    this.#api = api
    this.#cluster = cluster
    this.#clock = clock
    this.#violate = violate
    this.arm()
    api.onCall(({ verb, kind, namespace, name, userAgent, status }) => {
      if (verb !== 'delete' || kind !== 'ConfigMap' || !userAgent.startsWith(gatewayUserAgent)) return
      const before = this.#before.get(`${namespace}/${name}`)?.shift()
      if (status === 200 && before) for (const problem of before.problems) this.#report(problem)
    })
  }

  /** To be called again whenever the faults of the API server were cleared. */
  arm(): void {
    for (const release of this.#cluster.releases) {
      const { namespace, name } = planRef(release)
      this.#api.fault({
        verb: 'delete',
        kind: 'ConfigMap',
        namespace,
        name,
        first: () => this.#look(release),
      })
    }
  }

  /** All is quiet: what counts now must have been seen by whoever deletes from now on. */
  quiet(): void {
    this.#known = new Set(
      this.#cluster.releases.flatMap((release) => [
        ...this.counting(release).map(({ metadata }) => metadata.uid ?? ''),
        this.#cluster.store.get(serviceRef(release))?.metadata.uid ?? '',
      ]),
    )
  }

  /** Pods of a release that count now. */
  counting(release: ReleasePlan): KubeObject[] {
    const now = this.#clock.now()
    return this.#cluster.podsOf(release).filter((pod) => counts(pod, this.#cluster.store, now))
  }

  /** Pods that count now and that counted already when all was quiet. */
  overlooked(release: ReleasePlan): string[] {
    const seen = this.counting(release).filter(({ metadata }) => this.#known.has(metadata.uid ?? ''))
    return seen.map(({ metadata }) => metadata.name)
  }

  #look(release: ReleasePlan): void {
    const { store } = this.#cluster
    const key = `${release.namespace}/${planRef(release).name}`
    const plan = store.get(planRef(release))
    const problems = plan ? this.#problems(release, plan) : []
    this.#before.set(key, [...(this.#before.get(key) ?? []), { plan, problems }])
  }

  #problems(release: ReleasePlan, plan: KubeObject): string[] {
    const { store } = this.#cluster
    const key = `${release.namespace}/${release.name}`
    const problems: string[] = []
    const mark = store.get(markRef(release))
    const status = (object: KubeObject | undefined) =>
      (object?.data as Record<string, string> | undefined)?.['status.yaml'] ?? ''
    const service = store.get(serviceRef(release))
    const isService = /llmService:/.test(status(plan) + status(mark))
    if (!isMarkedPlan(plan) && !mark && release.kind !== 'servicePlan') {
      problems.push(`${key}: a plan that is not being uninstalled was deleted`)
    }
    if (isService || release.kind === 'servicePlan') {
      if (service && this.#known.has(service.metadata.uid ?? ''))
        problems.push(`${key}: the plan was deleted while its LLMService is there`)
      return problems
    }
    if (helmRecordsOf(store, release).length > 0) {
      problems.push(`${key}: the plan was deleted while helm has the release`)
    }
    const pods = this.overlooked(release)
    if (pods.length > 0) problems.push(`${key}: the plan was deleted while ${pods.join(', ')} count`)
    return problems
  }

  #report(problem: string): void {
    this.#violate('the plan is deleted only when no pod counts', problem)
  }
}
