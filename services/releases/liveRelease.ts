/** A release as it stands in the cluster now: what composing looks at, and what a write decides by. */
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { type Kind, Kinds, type KubeObject } from '../cluster/kinds.ts'
import { isDeleting, type LLMServiceObject } from '../deployments/llmService.ts'
import type { Backend, ReleaseRef } from '../deployments/row.ts'
import { lookupHelm } from '../helm/lookup.ts'
import type { HelmState } from '../helm/records.ts'
import type { PlanData } from '../plans/document.ts'
import { markName, planName } from '../plans/names.ts'
import { type PlanObject, planData, trimPlan } from '../plans/planObject.ts'
import { planOfService } from '../plans/servicePlan.ts'

export interface LiveRelease {
  ref: ReleaseRef
  /** Contract, 1.6; null for a release that Swiss does not manage, or none at all. */
  backend: Backend | null
  plan: PlanObject | null
  /** The plan's ConfigMap as it was read, to be changed and written back. */
  planMap: KubeObject | null
  mark: PlanObject | null
  /** The LLMService whole. */
  service: KubeObject | null
  helm: HelmState
  /** What the release is made from, of either backend; null without a backend, or where the LLMService is gone. */
  data: PlanData | null
  /** Of the backend; null when there is none. */
  revision: number | null
  /** A mark says so, or the LLMService is being deleted. */
  uninstalling: boolean
}

/** What is asked of the cluster here. */
export type LiveClient = Pick<KubeClient, 'get' | 'list'>

/** Reads a release live. Throws KubeError where a look fails, for no answer is never "not there"; LLMServices that may not be read or are not served are none. */
export async function readLiveRelease(client: LiveClient, ref: ReleaseRef): Promise<LiveRelease> {
  const inNamespace = (name: string) => ({ namespace: ref.namespace, name })
  const [service, planMap, markMap, helm] = await Promise.all([
    find(client, Kinds.LLMService, ref, true),
    find(client, Kinds.ConfigMap, inNamespace(planName(ref.name)), false),
    find(client, Kinds.ConfigMap, inNamespace(markName(ref.name)), false),
    lookupHelm(client, ref),
  ])
  const plan = planMap && trimPlan(planMap)
  const mark = markMap && trimPlan(markMap)
  const backend = backendOf(service, plan, mark)
  const revisions: Record<Backend, () => number | null> = {
    LLMSERVICE: () => (service as LLMServiceObject | null)?.status?.helm?.revision || null,
    HELM: () => helm.newest?.revision ?? plan?.status?.revision ?? null,
  }
  return {
    ref,
    backend,
    plan,
    planMap,
    mark,
    service,
    helm,
    data: dataOf(backend, service, planMap),
    revision: backend === null ? (helm.newest?.revision ?? null) : revisions[backend](),
    uninstalling: mark !== null || plan?.marked === true || (service !== null && isDeleting(service)),
  }
}

function backendOf(
  service: KubeObject | null,
  plan: PlanObject | null,
  mark: PlanObject | null,
): Backend | null {
  if (service !== null) return 'LLMSERVICE'
  // Until its uninstall is over, a release is what its mark says it was.
  const run = mark?.status?.run ?? (plan?.marked ? plan.status?.run : null)
  if (run) return run.backend
  return plan?.managed || plan?.marked ? 'HELM' : null
}

function dataOf(backend: Backend | null, service: KubeObject | null, planMap: KubeObject | null) {
  if (backend === 'LLMSERVICE') return service && planOfService(service)
  return backend === 'HELM' && planMap !== null ? planData(planMap) : null
}

async function find(
  client: LiveClient,
  kind: Kind,
  ref: { namespace: string; name: string },
  maybeUnreadable: boolean,
): Promise<KubeObject | null> {
  try {
    return await client.get(kind, ref)
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return null
    if (maybeUnreadable && isKubeError(error, 'NotServed', 'Forbidden')) return null
    throw error
  }
}
