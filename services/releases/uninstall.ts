/**
 * Uninstalling a release, as it is asked for (contract, sections 3 and 5): which backend, the lock, and what is
 * answered when. Whatever is refused leaves no trace in the cluster and no run.
 */
import type { Actor } from '../auth/actor.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { isDeleting, type LLMServiceObject } from '../deployments/llmService.ts'
import { type ReleaseRef, releaseKey } from '../deployments/row.ts'
import type { DeploymentView } from '../deployments/view.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Acceptance, type Accepted, follow, type Refused } from './acceptance.ts'
import { type AcceptHelm, STARTED } from './acceptHelm.ts'
import type { AcceptService } from './acceptService.ts'
import type { Checks } from './checks.ts'
import type { LockAttempt, ReleaseLocks } from './lock.ts'
import type { LiveMarks, Marks } from './marks.ts'
import type {
  UninstallAccepted,
  UninstallFailure,
  UninstallOutcome,
  UninstallRefusal,
  UninstallRequest,
} from './outcome.ts'
import { busy, readOnly as isReadOnly, notFound, unavailable } from './refusals.ts'
import { runOf } from './runs.ts'
import type { OpenUninstall, UninstallTracker } from './tracker.ts'
import { within } from './within.ts'

const IN_PROGRESS = 'uninstall already in progress'

export interface UninstallerOptions {
  client: KubeClient
  marks: Marks
  locks: ReleaseLocks
  tracker: UninstallTracker
  checks: Checks
  view: DeploymentView
  clock: Clock
  acceptHelm: AcceptHelm
  acceptService: AcceptService
  /** Aborts when the gateway is shut down: whoever waits is then answered with what there is. */
  stopping: AbortSignal
  readOnly: boolean
  /** Empty for all. */
  namespaces: readonly string[]
}

export class Uninstaller {
  readonly #options: UninstallerOptions
  /** Uninstalls that this process is about to mark: a second request waits for the first one's mark. */
  readonly #accepting = new Map<string, Promise<unknown>>()

  constructor(options: UninstallerOptions) {
    this.#options = options
  }

  /** Never throws for what the cluster answers. */
  async uninstall(request: UninstallRequest, actor: Actor): Promise<UninstallOutcome> {
    const { readOnly, namespaces } = this.#options
    const ref = { namespace: request.namespace, name: request.name }
    if (readOnly) return isReadOnly()
    if (namespaces.length > 0 && !namespaces.includes(ref.namespace)) return notFound(ref)
    try {
      const accepted = await this.#oneAtATime(ref, () => this.#accept(ref, request, actor))
      return 'refusal' in accepted ? accepted.refusal : await this.#answer(accepted, request)
    } catch (error) {
      if (!isKubeError(error)) throw error
      return unavailable(error)
    }
  }

  async #oneAtATime<T>(ref: ReleaseRef, accept: () => Promise<T>): Promise<T> {
    const key = releaseKey(ref)
    for (let before = this.#accepting.get(key); before; before = this.#accepting.get(key)) await before
    const accepting = accept()
    const settled = accepting.then(
      () => this.#accepting.delete(key),
      () => this.#accepting.delete(key),
    )
    this.#accepting.set(key, settled)
    return accepting
  }

  async #accept(ref: ReleaseRef, request: UninstallRequest, actor: Actor): Promise<Accepted | Refused> {
    const { marks, view } = this.#options
    const { position } = view
    const live = await marks.read(ref)
    if (isMarked(live)) return this.#repeat(ref, live, null, position)
    const found = await this.#findService(ref)
    if ('refusal' in found) return found
    const { service } = found
    if (service && isDeleting(service)) return this.#repeat(ref, live, service, position)
    const attempt = await this.#lock(ref)
    if (attempt.kind === 'nowhere') return { refusal: notFound(ref) }
    // Whoever holds it may have marked the release between our look and the lock.
    const acceptance =
      attempt.kind === 'busy'
        ? 'MARKED'
        : await this.#backend(ref, request, actor, service, live, attempt.lock)
    if (acceptance !== 'MARKED') return acceptance
    const again = await marks.read(ref)
    if (isMarked(again)) return this.#repeat(ref, again, null, position)
    return {
      refusal: busy(ref, attempt.kind === 'busy' ? attempt : { holder: 'another gateway', since: null }),
    }
  }

  /** In a namespace that does not exist no Lease can be made, and there is no release either. */
  async #lock(ref: ReleaseRef): Promise<LockAttempt | { kind: 'nowhere' }> {
    try {
      return await this.#options.locks.tryAcquire(ref)
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return { kind: 'nowhere' }
      throw error
    }
  }

  async #backend(
    ref: ReleaseRef,
    request: UninstallRequest,
    actor: Actor,
    service: LLMServiceObject | null,
    { plan }: LiveMarks,
    lock: Parameters<AcceptHelm['accept']>[3],
  ): Promise<Acceptance> {
    const { acceptHelm, acceptService } = this.#options
    if (service === null) return acceptHelm.accept(ref, request, actor, lock)
    try {
      return await acceptService.accept(ref, request, actor, plan?.managed ? plan : null)
    } finally {
      await lock.release()
    }
  }

  /** The LLMService of that name decides the backend. One that cannot be looked up may be there, unless helm is known to have the release. */
  async #findService(ref: ReleaseRef): Promise<{ service: LLMServiceObject | null } | Refused> {
    const { acceptService, view } = this.#options
    try {
      return { service: await acceptService.find(ref) }
    } catch (error) {
      if (!isKubeError(error)) throw error
      return view.get(ref)?.backend === 'HELM' ? { service: null } : { refusal: unavailable(error) }
    }
  }

  /** Section 3, step 1: success at once. What the first one left undone is taken up again. */
  #repeat(ref: ReleaseRef, live: LiveMarks, service: LLMServiceObject | null, position: number): Accepted {
    const { client, tracker, checks, view } = this.#options
    const open = tracker.get(ref) ?? tracker.open(ref, live)
    open.service ??= service
    open.run ??= runOf(open, new Date(client.now()).toISOString())
    const accepted = follow(open, position, true)
    view.refresh(ref, 'MUTATION')
    checks.request(ref, { live: true, mayRunHelm: true, askedAgain: true })
    return accepted
  }

  async #answer(accepted: Accepted, request: UninstallRequest): Promise<UninstallOutcome> {
    const { clock, stopping } = this.#options
    const { open, alreadyInProgress } = accepted
    const isService = open.backend === 'LLMSERVICE'
    const timeout = request.timeoutSeconds * 1000
    let output = alreadyInProgress || isService ? IN_PROGRESS : STARTED
    if (request.waitFor === 'HELM' && !alreadyInProgress && !isService) {
      const end = await within(clock, timeout, accepted.helmOver, stopping)
      if (end?.kind === 'failed') return helmFailed(open, end.failure)
      if (end) output = end.output || output
    }
    if (request.waitFor === 'GONE') {
      const end = await within(clock, timeout, accepted.over, stopping)
      if (end?.kind === 'failed') return helmFailed(open, end.failure)
    }
    return this.#success(accepted, output)
  }

  #success({ open, alreadyInProgress, position }: Accepted, output: string): UninstallAccepted {
    const row = this.#options.view.get(open.ref) ?? null
    return { kind: 'Uninstall', ...open.ref, alreadyInProgress, output, row, run: open.run, position }
  }
}

const isMarked = (live: LiveMarks): boolean => live.mark !== null || live.plan?.marked === true

function helmFailed(
  { ref, run }: OpenUninstall,
  { error, output, exitCode }: UninstallFailure,
): UninstallRefusal {
  const message = `helm could not uninstall ${releaseKey(ref)}: ${error}`
  return { kind: 'HelmFailed', message, output, exitCode, run }
}
