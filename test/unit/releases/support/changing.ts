/**
 * Whole gateways on a sandbox API server and a still clock, with a helm in this process that does to its records
 * what helm does: for what happens inside a change of a release, between its steps.
 */
import { onTestFinished } from 'vitest'
import { type Gateway, startGateway } from '../../../../server/gateway.ts'
import { memoryAudit } from '../../../../services/audit/memoryAudit.ts'
import type { KubeClient } from '../../../../services/cluster/client.ts'
import { isKubeError } from '../../../../services/cluster/errors.ts'
import { type Kind, Kinds, type KubeObject } from '../../../../services/cluster/kinds.ts'
import { recordName, trimHelmRecord } from '../../../../services/helm/records.ts'
import type { HelmResult } from '../../../../services/helm/result.ts'
import type { HelmRunner, RunOptions } from '../../../../services/helm/runner.ts'
import type { Upgrade } from '../../../../services/helm/upgrade.ts'
import { withHash } from '../../../../services/plans/change.ts'
import type { PlanData } from '../../../../services/plans/document.ts'
import { readPlan } from '../../../../services/plans/document.ts'
import { writeYaml } from '../../../../services/plans/yaml.ts'
import { ComposedPlans } from '../../../../services/releases/composedPlans.ts'
import type { CheckpointName } from '../../../../services/runtime/checkpoint.ts'
import { HttpClient } from '../../../cases/http.ts'
import { plainConnection } from '../../cluster/support/harness.ts'
import { startSandbox } from '../../cluster/support/sandbox.ts'
import { until } from '../../cluster/support/until.ts'

export const chat = { namespace: 'team-a', name: 'chat' }
export const ada = { user: 'ada', groups: [] }

/** How the next runs of helm end; `held` ones wait for `helm.release()`. */
export interface HelmBehaviour {
  stderr?: string
  held?: boolean
  killed?: boolean
  version?: string
}

/** helm, as far as its records go. */
export class RecordingHelm {
  readonly calls: { ref: typeof chat; upgrade: Upgrade | null; rollbackTo: number | null }[] = []
  behaviour: HelmBehaviour = {}
  readonly #client: KubeClient
  #waiting: (() => void)[] = []
  #running = 0

  constructor(client: KubeClient) {
    this.#client = client
  }

  get running() {
    return this.#running
  }

  get held() {
    return this.#waiting.length
  }

  release() {
    for (const go of this.#waiting.splice(0)) go()
  }

  async available() {
    return { version: this.behaviour.version ?? 'v4.3.1' }
  }

  upgrade(ref: typeof chat, upgrade: Upgrade, options: RunOptions) {
    return this.#run(ref, { upgrade, rollbackTo: null }, options)
  }

  rollback(ref: typeof chat, rollbackTo: number, options: RunOptions) {
    return this.#run(ref, { upgrade: null, rollbackTo }, options)
  }

  async uninstall(ref: typeof chat): Promise<HelmResult> {
    for (const { metadata } of await this.#records(ref)) {
      await this.#client.delete(Kinds.Secret, { namespace: ref.namespace, name: metadata.name })
    }
    return { kind: 'exited', code: 0, stdout: 'uninstalled', stderr: '' }
  }

  async killAll() {
    this.release()
  }

  async #records({ namespace, name }: typeof chat) {
    const labelSelector = `owner=helm,name=${name}`
    return (await this.#client.list(Kinds.Secret, { namespace, labelSelector })).items
  }

  /** Adds a record of the next revision, as helm's labels have it. */
  async record(ref: typeof chat, status: string): Promise<number> {
    const records = await this.#records(ref)
    const revision = Math.max(0, ...records.map((it) => trimHelmRecord(it)?.revision ?? 0)) + 1
    for (const { metadata } of records) {
      if (metadata.labels?.status !== 'deployed' || status !== 'deployed') continue
      const labels = { status: 'superseded' }
      const name = metadata.name
      await this.#client.patch(Kinds.Secret, { ...ref, name }, 'merge', { metadata: { labels } })
    }
    await this.#client.create(Kinds.Secret, {
      type: 'helm.sh/release.v1',
      metadata: {
        namespace: ref.namespace,
        name: recordName(ref.name, revision),
        labels: { owner: 'helm', name: ref.name, version: String(revision), status },
      },
    })
    return revision
  }

  async #run(
    ref: typeof chat,
    call: { upgrade: Upgrade | null; rollbackTo: number | null },
    { signal, lease }: RunOptions,
  ): Promise<HelmResult> {
    const { stderr, held, killed } = this.behaviour
    this.calls.push({ ref, ...call })
    this.#running++
    try {
      if (held) {
        const lost = await new Promise<boolean>((resolve) => {
          this.#waiting.push(() => resolve(false))
          for (const end of [signal, lease?.lost]) end?.addEventListener('abort', () => resolve(true))
        })
        if (lost) return { kind: 'lost', stdout: '', stderr: '' }
      }
      if (killed) {
        await this.record(ref, 'pending-upgrade')
        return { kind: 'killed', signal: 'SIGKILL', stdout: '', stderr: '' }
      }
      await this.record(ref, stderr === undefined ? 'deployed' : 'failed')
      if (stderr !== undefined) return { kind: 'exited', code: 1, stdout: '', stderr }
      return { kind: 'exited', code: 0, stdout: `Release "${ref.name}" is there.`, stderr: '' }
    } finally {
      this.#running--
    }
  }
}

const FIELDS = `__typename
  ... on UserError { message code retryable }
  ... on ApplyPlanPayload { revision output cursor deployment { phase revision drift { kind } lastOperation { action outcome actor } }
    run { action outcome changed actor note planHash revision error output } }
  ... on HelmFailedError { output exitCode run { action outcome error } }
  ... on ReleaseUninstallingError { deletion { stage } }
  ... on ApplyInProgressError { holder since }
  ... on PreconditionFailedError { expectedRevision currentRevision }
  ... on PlanNotFoundError { planHash }
  ... on RevisionNotFoundError { missing: revision }
  ... on InvalidInputError { issues { path message } }`

/** A plan of `chat`, complete with its hash. */
export function planData(
  form: object,
  more: { name?: string; plan?: object; keys?: PlanData } = {},
): PlanData {
  const plan = {
    apiVersion: 'plan.swiss/v1',
    release: { ...chat, ...(more.name === undefined ? {} : { name: more.name }) },
    chart: { name: 'vllm', version: '0.4.0', repo: 'oci://charts.invalid/llm' },
    engine: 'vllm',
    ...more.plan,
  }
  return withHash({ 'plan.yaml': writeYaml(plan), 'form.yaml': writeYaml({ ...form }), ...more.keys })
}

export async function startChanging() {
  const { clock, server, makeClient, logger, lines, settle } = await startSandbox()
  const client = makeClient()
  const helm = new RecordingHelm(client)
  const audit = memoryAudit()
  const composed = new ComposedPlans({ client, namespace: 'swiss-system' })
  for (const name of ['team-a', 'swiss-system']) await client.create(Kinds.Namespace, { metadata: { name } })

  const start = async (identity: string, at?: CheckpointName) => {
    let isDead = false
    let died = () => {}
    const dead = new Promise<void>((resolve) => {
      died = resolve
    })
    const gateway: Gateway = await startGateway({
      clock,
      logger,
      identity,
      random: () => 0.5,
      connection: plainConnection(server.url),
      audit: { ...audit, close: async () => {} },
      helm: helm as unknown as HelmRunner,
      tickers: false,
      config: {
        ...{ host: '127.0.0.1', port: 0, allowedHosts: [], allowedOrigins: [], namespaces: [] },
        ...{ gatewayNamespace: 'swiss-system', clusterName: null, readOnly: false },
      },
      authenticate: (headers) => ({ name: String(headers['x-test-user'] ?? 'nobody'), groups: [] }),
      checkpoint: async (name) => {
        if (!isDead && name !== at) return
        isDead = true
        gateway.kill()
        died()
        await new Promise(() => {})
      },
    })
    const http = new HttpClient(gateway.url)
    const kill = () => {
      isDead = true
      gateway.kill()
      http.close().catch(() => {})
    }
    onTestFinished(kill)
    await until('the gateway is ready', () => gateway.ready)
    const ask = async (query: string, variables: object = {}, as = ada) => {
      const answer = await http.post({ query, variables: variables as never }, as)
      if (answer.errors) throw new Error(JSON.stringify(answer.errors))
      return answer.data as Record<string, never>
    }
    const mutate = async (field: string, type: string, input: object, as = ada) => {
      const query = `mutation ($input: ${type}!) { it: ${field}(input: $input) { ${FIELDS} } }`
      return (await ask(query, { input }, as)).it as unknown as Record<string, unknown>
    }
    return {
      gateway,
      kill,
      dead,
      ask,
      apply: (plan: PlanData, more: object = {}, as = ada) =>
        mutate('applyPlan', 'ApplyPlanInput', { ...chat, planHash: readPlan(plan).hash, ...more }, as),
      rollback: (toRevision: number, more: object = {}) =>
        mutate('rollbackRelease', 'RollbackReleaseInput', { ...chat, toRevision, ...more }),
      row: async () => {
        const query = `{ deployment(namespace: "team-a", name: "chat") { phase revision phaseReason drift { kind } lastOperation { action outcome } } }`
        return (await ask(query)).deployment as unknown as Record<string, unknown> | null
      },
      runs: async () => {
        const query = `{ runs(first: 100) { nodes { action outcome changed error revision } } }`
        const { runs } = (await ask(query)) as unknown as { runs: { nodes: Record<string, unknown>[] } }
        return runs.nodes.reverse()
      },
    }
  }

  const find = async (kind: Kind, name: string) => {
    try {
      return await client.get<KubeObject & { data: Record<string, string> }>(kind, { ...chat, name })
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return null
      throw error
    }
  }
  return {
    clock,
    client,
    server,
    helm,
    lines,
    settle,
    start,
    /** Keeps a plan as composePlan does; the same plan, for chaining. */
    compose: async (data: PlanData, actor = 'ada') => {
      const { hash, release } = readPlan(data)
      await composed.put({ hash: hash ?? '', release: release ?? chat, data }, { name: actor, groups: [] })
      return data
    },
    plan: () => find(Kinds.ConfigMap, 'swiss-plan-chat'),
    archives: async () => {
      const labelSelector = 'owner=swiss'
      const { items } = await client.list(Kinds.Secret, { namespace: 'team-a', labelSelector })
      return items.map(({ metadata }) => metadata.name).sort()
    },
  }
}
