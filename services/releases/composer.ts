/** Composing a plan for a release (contract, section 7): reads, and keeps what it composed. It touches nothing of the release. */
import type { Actor } from '../auth/actor.ts'
import { isKubeError } from '../cluster/errors.ts'
import { isExternal } from '../deployments/llmService.ts'
import { releaseKey } from '../deployments/row.ts'
import { composePlan } from '../plans/compose.ts'
import { type PlanData, readPlan } from '../plans/document.ts'
import type { PlanIssue } from '../plans/planInput.ts'
import { oddLayers } from '../plans/servicePlan.ts'
import type { ComposedPlans } from './composedPlans.ts'
import { type ComposeInput, documentPath, readComposeInput } from './composeInput.ts'
import type { ComposeOutcome, ComposeRefusal, ComposeRequest } from './composeOutcome.ts'
import { type LiveClient, type LiveRelease, readLiveRelease } from './liveRelease.ts'
import { planOf } from './planDetail.ts'
import { notFound, unavailable } from './refusals.ts'

/** helm's own limit. */
const MAX_HELM_NAME = 53

export interface ComposerOptions {
  client: LiveClient
  composedPlans: Pick<ComposedPlans, 'put'>
  readOnly: boolean
  /** Empty for all. */
  namespaces: readonly string[]
}

export class Composer {
  readonly #options: ComposerOptions

  constructor(options: ComposerOptions) {
    this.#options = options
  }

  /** Never throws for what the cluster answers. */
  async compose(request: ComposeRequest, actor: Actor): Promise<ComposeOutcome> {
    if (this.#options.readOnly) return { kind: 'ReadOnly', message: 'this gateway is read-only' }
    const read = readComposeInput(request)
    if ('issues' in read) return invalid(read.issues)
    try {
      return await this.#compose(request, read.value, actor)
    } catch (error) {
      if (!isKubeError(error)) throw error
      return unavailable(error)
    }
  }

  async #compose(request: ComposeRequest, input: ComposeInput, actor: Actor): Promise<ComposeOutcome> {
    const { client, composedPlans, namespaces } = this.#options
    const { namespace, fromRelease, chartVersion } = request
    const release = { namespace, name: input.name }
    if (namespaces.length > 0 && !namespaces.includes(namespace)) {
      return notFound({ namespace, name: fromRelease ?? input.name })
    }
    const target = await readLiveRelease(client, release)
    const source =
      fromRelease === null || fromRelease === input.name
        ? target
        : await readLiveRelease(client, { namespace, name: fromRelease })
    const base = input.document?.data ?? source.data
    if (base === null) return withoutPlan(source)

    const composed = composePlan({
      base,
      basePath: documentPath(request),
      release,
      form: input.form,
      edits: input.edits,
      chartVersion,
      running: target.data,
    })
    if ('issues' in composed) return invalid(composed.issues)
    const issues = unfitting(target, composed.data)
    if (issues.length > 0) return invalid(issues)
    const document = readPlan(composed.data)
    await composedPlans.put({ hash: document.hash ?? '', release, data: composed.data }, actor)
    const warnings = [
      ...(input.document?.warnings ?? []),
      ...warningsOf(target),
      ...(source.service !== null && input.document === null ? oddLayers(source.service) : []),
      ...composed.warnings,
    ]
    const { shadowed, changes } = composed
    const plan = planOf(document, composed.layers)
    return { kind: 'Composed', plan, shadowed, changes, warnings }
  }
}

function withoutPlan({ ref, helm }: LiveRelease): ComposeRefusal {
  const message = `helm has ${releaseKey(ref)}, but there is no plan of it to start from; send one as plan`
  return { ...notFound(ref), ...(helm.exists ? { message } : {}) }
}

/** What the backend of the release cannot do with the plan. */
function unfitting({ backend, ref }: LiveRelease, data: PlanData): PlanIssue[] {
  if (backend === 'LLMSERVICE') {
    const message = 'is an LLMService, whose chart comes from a repository and not from a path'
    return readPlan(data).chartPath === null ? [] : [{ path: ['input', 'name'], message }]
  }
  const message = `must have at most ${MAX_HELM_NAME} characters, as a release of helm`
  return ref.name.length > MAX_HELM_NAME ? [{ path: ['input', 'name'], message }] : []
}

/** What will be in the way of applying it, or makes the comparison doubtful. */
function warningsOf({ backend, uninstalling, service, plan, helm }: LiveRelease): string[] {
  const warnings: string[] = []
  if (uninstalling)
    warnings.push('the release is being uninstalled; nothing can be applied to it until it is gone')
  if (backend === 'LLMSERVICE' && service !== null && isExternal(service)) {
    warnings.push('the LLMService was not made by Swiss, so that applying to it is refused')
  }
  if (backend === 'HELM' && plan?.status?.phase === 'failed' && plan.status.action !== 'uninstall') {
    warnings.push('the last apply failed: changes are against its plan, which may not be what runs')
  }
  if (backend === null && helm.exists) {
    warnings.push('helm has a release of this name that Swiss has no plan of; applying would change it')
  }
  return warnings
}

function invalid(issues: PlanIssue[]): ComposeRefusal {
  const [first] = issues
  const message = `${first?.path.join('.') ?? 'input'} ${first?.message ?? 'makes no sense'}.`
  return { kind: 'InvalidInput', message, issues }
}
