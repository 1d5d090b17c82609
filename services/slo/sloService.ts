/** Reading and changing the service level of a release, at the SLO service (contract, section 9). */
import type { AuditLog, Run } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import { boundText } from '../helm/bound.ts'
import { readLiveRelease } from '../releases/liveRelease.ts'
import { notFound, unavailable } from '../releases/refusals.ts'
import { failed, succeeded } from '../releases/runs.ts'
import { readSlo, sloBody } from './slo.ts'
import { readSloAccess, type SloAccess } from './sloAccess.ts'
import type { SloAnswer, SloClient } from './sloClient.ts'
import type { SetSloOutcome, SetSloRequest, SloReading, SloThresholds, SloUnavailable } from './sloOutcome.ts'

const MAX_WORDS = 300

export interface SloServiceOptions {
  client: Pick<KubeClient, 'get' | 'list' | 'now'>
  sloClient: Pick<SloClient, 'send'>
  audit: Pick<AuditLog, 'start' | 'finish'>
  newId: () => string
  gatewayNamespace: string
  readOnly: boolean
  /** Empty for all. */
  namespaces: readonly string[]
}

type Write = { action: 'SET_SLO'; body: object } | { action: 'RESET_SLO' }

export class SloService implements SloThresholds {
  readonly #options: SloServiceOptions

  constructor(options: SloServiceOptions) {
    this.#options = options
  }

  async read(ref: ReleaseRef): Promise<SloReading> {
    try {
      const access = await this.#access()
      return 'kind' in access ? access : await this.#read(access, ref)
    } catch (error) {
      if (!isKubeError(error)) throw error
      return sloUnavailable(unavailable(error).message, error.retryable)
    }
  }

  async set({ namespace, name, ...change }: SetSloRequest, actor: { name: string }): Promise<SetSloOutcome> {
    return this.#write({ namespace, name }, actor, () => {
      const made = sloBody(name, change)
      if ('body' in made) return { action: 'SET_SLO', body: made.body }
      const [first] = made.issues
      const message = `${first?.path.join('.')} ${first?.message}.`
      return { kind: 'InvalidInput', message, issues: made.issues }
    })
  }

  async reset(ref: ReleaseRef, actor: { name: string }): Promise<SetSloOutcome> {
    return this.#write(ref, actor, () => ({ action: 'RESET_SLO' }))
  }

  async #write(
    ref: ReleaseRef,
    actor: { name: string },
    make: () => Write | Extract<SetSloOutcome, { kind: 'InvalidInput' }>,
  ): Promise<SetSloOutcome> {
    const { client, readOnly, namespaces } = this.#options
    if (readOnly) return { kind: 'ReadOnly', message: 'this gateway is read-only' }
    const write = make()
    if ('kind' in write) return write
    if (namespaces.length > 0 && !namespaces.includes(ref.namespace)) return notFound(ref)
    try {
      const live = await readLiveRelease(client, ref)
      if (live.backend === null && !live.helm.exists) return notFound(ref)
      const access = await this.#access()
      if ('kind' in access) return access
      const run = this.#run(ref, live, actor, write.action)
      return await this.#send(access, ref, run, write)
    } catch (error) {
      if (!isKubeError(error)) throw error
      return unavailable(error)
    }
  }

  /** One request; only what may have changed something leaves a run. */
  async #send(access: SloAccess, ref: ReleaseRef, run: Run, write: Write): Promise<SetSloOutcome> {
    const { sloClient, audit, client } = this.#options
    const answer =
      write.action === 'SET_SLO'
        ? await sloClient.send(access, 'PUT', pathOf(ref), write.body)
        : await sloClient.send(access, 'DELETE', pathOf(ref))
    const at = () => new Date(client.now()).toISOString()
    // Thresholds that are not there are at their defaults already.
    const done =
      answer.kind === 'answer' && (isGood(answer) || (write.action === 'RESET_SLO' && answer.status === 404))
    if (!done) {
      const refusal = await this.#refusal(access, answer)
      const mayBeDone = answer.kind === 'none' ? answer.sent : answer.status >= 500
      if (mayBeDone) audit.finish(run, failed(at(), refusal.message))
      return refusal
    }
    const end = succeeded(at())
    audit.finish(run, end)
    const fresh = await this.#read(access, ref)
    return { kind: 'SetSlo', slo: fresh.kind === 'Slo' ? fresh.slo : null, run: { ...run, ...end } }
  }

  async #read(access: SloAccess, ref: ReleaseRef): Promise<SloReading> {
    const answer = await this.#options.sloClient.send(access, 'GET', pathOf(ref))
    if (answer.kind === 'none') return sloUnavailable(answer.message, answer.retryable)
    if (answer.status === 404) {
      const notReady = await this.#notReady(access)
      return notReady ?? { kind: 'Slo', slo: null }
    }
    if (!isGood(answer)) return refused(answer.status, answer.text)
    const slo = readSlo(jsonOf(answer.text))
    return slo
      ? { kind: 'Slo', slo }
      : sloUnavailable('the SLO service answers with something that is no configuration', false)
  }

  /** A service that has not read its store yet knows nobody: then a 404 says nothing. */
  async #notReady(access: SloAccess): Promise<SloUnavailable | null> {
    const answer = await this.#options.sloClient.send(access, 'GET', '/readyz')
    if (answer.kind === 'none') return sloUnavailable(answer.message, answer.retryable)
    return answer.status === 503 ? sloUnavailable('the SLO service is not ready', true) : null
  }

  async #refusal(access: SloAccess, answer: SloAnswer): Promise<Exclude<SetSloOutcome, { kind: 'SetSlo' }>> {
    if (answer.kind === 'none') return sloUnavailable(answer.message, answer.retryable)
    const { status, text } = answer
    if (status === 400 || status === 422) {
      const message = `is refused by the SLO service${wordsOf(text)}`
      return { kind: 'InvalidInput', message: `input ${message}.`, issues: [{ path: ['input'], message }] }
    }
    if (status !== 404) return refused(status, text)
    return (await this.#notReady(access)) ?? sloUnavailable('the SLO service has no such route', false)
  }

  async #access(): Promise<SloAccess | SloUnavailable> {
    const { client, gatewayNamespace } = this.#options
    const reading = await readSloAccess(client, gatewayNamespace)
    return 'access' in reading ? reading.access : sloUnavailable(reading.missing, false)
  }

  #run(
    { namespace, name }: ReleaseRef,
    { backend, revision }: Awaited<ReturnType<typeof readLiveRelease>>,
    actor: { name: string },
    action: Write['action'],
  ): Run {
    const { newId, client } = this.#options
    return {
      id: newId(),
      namespace,
      name,
      backend: backend ?? 'HELM',
      action,
      outcome: 'STARTED',
      actor: actor.name,
      note: null,
      planHash: null,
      revision,
      changed: true,
      error: null,
      output: null,
      startedAt: new Date(client.now()).toISOString(),
      endedAt: null,
      objectUid: null,
    }
  }
}

const pathOf = ({ name }: ReleaseRef): string => `/config/${encodeURIComponent(name)}`

const isGood = ({ status }: { status: number }): boolean => status >= 200 && status < 300

const sloUnavailable = (message: string, retryable: boolean): SloUnavailable => ({
  kind: 'SloUnavailable',
  message,
  retryable,
})

function refused(status: number, text: string): SloUnavailable {
  if (status === 401 || status === 403) {
    return sloUnavailable(`the SLO service does not take the gateway's token (HTTP ${status})`, false)
  }
  const retryable = status >= 500 || status === 429 || status === 408
  return sloUnavailable(`the SLO service answers HTTP ${status}${wordsOf(text)}`, retryable)
}

/** What it says in its answer, bounded; a page of HTML says nothing. */
function wordsOf(text: string): string {
  const json = jsonOf(text) as { error?: unknown; message?: unknown } | null | undefined
  const said =
    typeof json?.message === 'string' ? json.message : typeof json?.error === 'string' ? json.error : ''
  return said === '' ? '' : `: ${boundText(said, MAX_WORDS)}`
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
