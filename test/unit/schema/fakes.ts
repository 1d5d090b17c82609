import type { GatewayContext } from '../../../resolvers/context.ts'
import type { Run, RunPage } from '../../../services/audit/run.ts'
import type { RowChange } from '../../../services/deployments/change.ts'
import type { DeploymentLister, Page, PageArgs } from '../../../services/deployments/lister.ts'
import { matches } from '../../../services/deployments/listing.ts'
import type { ReleaseRef, Row } from '../../../services/deployments/row.ts'
import type { ReleaseDetail } from '../../../services/releases/detailTypes.ts'
import { Feed } from '../../../subscriptions/feed.ts'

export const NOW = '2031-01-01T00:00:00Z'

export const row = (part: Partial<Row> = {}): Row => ({
  namespace: 'team-a',
  name: 'chat',
  uid: 'uid-chat',
  backend: 'HELM',
  phase: 'APPLIED',
  phaseReason: null,
  revision: 3,
  helmStatus: 'deployed',
  chart: { name: 'vllm', version: '0.4.0', repo: null },
  source: null,
  updatedAt: NOW,
  lastOperation: null,
  drift: null,
  external: false,
  cleanupPending: false,
  pods: { total: 2, ready: 1, terminating: 0, counting: 0, gpus: 4 },
  deletion: null,
  canary: null,
  autoscale: null,
  ...part,
})

export const run = (part: Partial<Run> = {}): Run => ({
  id: 'run-1',
  namespace: 'team-a',
  name: 'chat',
  backend: 'HELM',
  action: 'UNINSTALL',
  outcome: 'STARTED',
  actor: 'user-a',
  note: null,
  planHash: null,
  revision: 3,
  changed: true,
  error: null,
  output: null,
  startedAt: NOW,
  endedAt: null,
  objectUid: 'uid-chat',
  ...part,
})

export const detail = (part: Partial<ReleaseDetail> = {}): ReleaseDetail => ({
  namespace: 'team-a',
  name: 'chat',
  row: row(),
  exists: true,
  helm: { revision: 3, status: 'deployed', updatedAt: NOW },
  planStatus: null,
  llmService: null,
  pods: [],
  plan: null,
  warnings: [],
  ...part,
})

/** A view that holds what it is given, and writes down what it was asked. */
export class FakeLister implements DeploymentLister {
  ready = true
  position = 7
  rows: Row[]
  readonly asked: PageArgs[] = []
  readonly #listeners = new Set<(change: RowChange, position: number) => void>()

  constructor(rows: Row[] = [row()]) {
    this.rows = rows
  }

  get(ref: ReleaseRef): Row | undefined {
    return this.rows.find((one) => one.namespace === ref.namespace && one.name === ref.name)
  }

  page(args: PageArgs): Page {
    this.asked.push(args)
    const rows = this.rows.filter((one) => matches(one, args.filter))
    return {
      edges: rows.map((node) => ({ cursor: `at-${node.name}`, node })),
      hasNextPage: true,
      hasPreviousPage: false,
      totalCount: rows.length,
      countsByPhase: [{ phase: 'APPLIED', count: rows.length }],
      position: this.position,
    }
  }

  snapshot(filter: PageArgs['filter']): Row[] {
    return this.rows.filter((one) => matches(one, filter))
  }

  subscribe(listener: (change: RowChange, position: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(change: Partial<RowChange>): void {
    this.position++
    const told: RowChange = { before: null, after: null, gone: null, cause: 'INFORMER', at: NOW, ...change }
    for (const listener of this.#listeners) listener(told, this.position)
  }
}

export const runPage = (...runs: Run[]): RunPage => ({
  edges: runs.map((one) => ({ cursor: `at-${one.id}`, run: one })),
  hasNextPage: false,
  hasPreviousPage: false,
  available: true,
})

const unexpected = (what: string) => (): never => {
  throw new Error(`${what} was not to be called`)
}

/** A request of user-a, who may do everything; whatever the test does not give fails when it is called. */
export function fakeContext(part: Partial<GatewayContext> = {}): GatewayContext {
  const lister = part.lister ?? new FakeLister()
  const clock = { now: () => Date.parse(NOW), setTimer: () => () => undefined }
  return {
    actor: { name: 'user-a', groups: ['operators'] },
    can: () => ['VIEW', 'DEPLOY', 'UNINSTALL'],
    authDisabled: true,
    lister,
    details: {
      get: unexpected('details.get'),
      helmChart: unexpected('details.helmChart'),
      servicePlan: unexpected('details.servicePlan'),
      revisions: unexpected('details.revisions'),
    },
    uninstaller: { uninstall: unexpected('uninstall') },
    applier: { applyPlan: unexpected('applyPlan'), rollback: unexpected('rollback') },
    composer: { compose: unexpected('compose') },
    autoscaleSetter: { set: unexpected('setAutoscale') },
    slo: { read: unexpected('slo.read'), set: unexpected('slo.set'), reset: unexpected('slo.reset') },
    audit: {
      shared: true,
      start: unexpected('audit.start'),
      finish: unexpected('audit.finish'),
      open: unexpected('audit.open'),
      get: unexpected('audit.get'),
      page: unexpected('audit.page'),
      warning: () => null,
      flush: unexpected('audit.flush'),
      close: unexpected('audit.close'),
    },
    lastEventId: null,
    feed: new Feed({ lister, clock, epoch: 'e1' }),
    cluster: () => ({
      name: 'lab',
      kubernetesVersion: 'v1.33.0',
      gatewayVersion: '0.1.0',
      helmVersion: null,
      readOnly: false,
      llmServicesServed: true,
      warnings: ['one'],
      leader: null,
    }),
    ...part,
  }
}
