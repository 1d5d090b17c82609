/** Setting the autoscale policy of a release, as it is asked for: under its lock, after the look for an uninstall. */
import type { AuditLog, Run } from '../audit/run.ts'
import type { Actor } from '../auth/actor.ts'
import { changePolicy, POLICY_KEY, type PolicyChange, readPolicy } from '../autoscale/policy.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import type { AutoscalePolicies } from '../deployments/autoscalePolicies.ts'
import { isExternal, trimLLMService } from '../deployments/llmService.ts'
import { type ReleaseRef, type Row, releaseKey } from '../deployments/row.ts'
import type { DeploymentView } from '../deployments/view.ts'
import type { PlanData } from '../plans/document.ts'
import { autoscaleName } from '../plans/names.ts'
import { planData } from '../plans/planObject.ts'
import type { ApplyLocked } from './applyLocked.ts'
import type { LiveRelease } from './liveRelease.ts'
import type { EntryRefusal, RefusalOf } from './outcome.ts'
import { changedMeanwhile, invalid, notFound } from './refusals.ts'
import { succeeded } from './runs.ts'

export interface SetAutoscaleRequest extends PolicyChange {
  namespace: string
  name: string
}

export interface AutoscaleSet {
  kind: 'SetAutoscale'
  row: Row | null
  /** Null when the policy said that already. */
  run: Run | null
  /** Feed position just before the change's own event. */
  position: number
}

export type SetAutoscaleRefusal = EntryRefusal | RefusalOf<'InvalidInput' | 'Conflict' | 'ExternalRelease'>

export interface AutoscaleSetterOptions {
  client: KubeClient
  applyLocked: ApplyLocked
  policies: AutoscalePolicies
  view: DeploymentView
  audit: AuditLog
  newId: () => string
}

/** Writes over fresh reads, where the autoscaler notes a decision in the same moment. */
const ATTEMPTS = 5

export class AutoscaleSetter {
  readonly #options: AutoscaleSetterOptions

  constructor(options: AutoscaleSetterOptions) {
    this.#options = options
  }

  /** Never throws for what the cluster answers. */
  set(request: SetAutoscaleRequest, actor: Actor): Promise<AutoscaleSet | SetAutoscaleRefusal> {
    const ref = { namespace: request.namespace, name: request.name }
    return this.#options.applyLocked.write(ref, (live) => this.#set(live, request, actor))
  }

  async #set(
    live: LiveRelease,
    request: SetAutoscaleRequest,
    actor: Actor,
  ): Promise<AutoscaleSet | SetAutoscaleRefusal> {
    const { ref } = live
    if (live.backend === null) return notFound(ref)
    // The autoscaler could never apply anything there.
    if (request.enabled && live.service !== null && isExternal(trimLLMService(live.service))) {
      const message = `the LLMService ${releaseKey(ref)} is external: Swiss did not make it, so it does not scale it`
      return { kind: 'ExternalRelease', message }
    }
    const { view } = this.#options
    const { position } = view
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const before = await this.#find(ref)
      const data: PlanData = before === null ? {} : planData(before)
      const text = changePolicy(data, request)
      const reading = readPolicy({ [POLICY_KEY]: text })
      if (!reading.ok) return this.#unfit(request, reading.reason)
      if (text === data[POLICY_KEY]) return this.#answer(ref, null, position)
      const written = await this.#write(ref, before, text)
      if (written === null) continue
      if ('refusal' in written) return written.refusal
      const run = this.#run(live, actor)
      this.#options.policies.put(written.object)
      return this.#answer(ref, run, position)
    }
    return changedMeanwhile(ref)
  }

  async #find(ref: ReleaseRef): Promise<KubeObject | null> {
    try {
      const name = autoscaleName(ref.name)
      return await this.#options.client.get(Kinds.ConfigMap, { namespace: ref.namespace, name })
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return null
      throw error
    }
  }

  /** Null when somebody else was faster. A ConfigMap of older tools keeps whatever else it has. */
  async #write(
    ref: ReleaseRef,
    before: KubeObject | null,
    text: string,
  ): Promise<{ object: KubeObject } | { refusal: SetAutoscaleRefusal } | null> {
    const { client } = this.#options
    const metadata = { namespace: ref.namespace, name: autoscaleName(ref.name) }
    const data = { [POLICY_KEY]: text }
    try {
      if (before === null) return { object: await client.create(Kinds.ConfigMap, { metadata, data }) }
      const { uid, resourceVersion } = before.metadata
      const body = { metadata: { uid, resourceVersion }, data }
      return { object: await client.patch(Kinds.ConfigMap, metadata, 'merge', body) }
    } catch (error) {
      if (isKubeError(error, 'Conflict', 'AlreadyExists', 'NotFound')) return null
      if (!isKubeError(error, 'Invalid', 'TooLarge')) throw error
      return { refusal: invalid(['input'], `the policy cannot be written: ${error.message}`) }
    }
  }

  /** What was asked for is fit by itself; what there was before may not be. */
  #unfit({ pools }: SetAutoscaleRequest, reason: string): SetAutoscaleRefusal {
    const message =
      pools === null ? `there is no policy whose pools could be kept (${reason}); say which pools` : reason
    return invalid(['input', 'pools'], message)
  }

  #run(live: LiveRelease, actor: Actor): Run {
    const { client, audit, newId } = this.#options
    const at = new Date(client.now()).toISOString()
    const run: Run = {
      id: newId(),
      ...live.ref,
      backend: live.backend ?? 'HELM',
      action: 'SET_AUTOSCALE',
      outcome: 'STARTED',
      actor: actor.name,
      note: null,
      planHash: null,
      revision: live.revision,
      changed: true,
      error: null,
      output: null,
      startedAt: at,
      endedAt: null,
      objectUid: null,
    }
    const end = succeeded(at)
    audit.finish(run, end)
    return { ...run, ...end }
  }

  #answer(ref: ReleaseRef, run: Run | null, position: number): AutoscaleSet {
    return { kind: 'SetAutoscale', row: this.#options.view.get(ref) ?? null, run, position }
  }
}
