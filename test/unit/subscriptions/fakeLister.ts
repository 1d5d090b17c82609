import type { RowChange } from '../../../services/deployments/change.ts'
import type { DeploymentLister, Page } from '../../../services/deployments/lister.ts'
import { type DeploymentFilter, matches } from '../../../services/deployments/listing.ts'
import {
  type DeploymentPhase,
  type GoneCause,
  type Row,
  releaseKey,
} from '../../../services/deployments/row.ts'

/** A row with nothing in it but what the test cares for. */
export function row(namespace: string, name: string, phase: DeploymentPhase, more: Partial<Row> = {}): Row {
  return {
    namespace,
    name,
    uid: `uid-${namespace}-${name}`,
    backend: 'HELM',
    phase,
    phaseReason: null,
    revision: 1,
    helmStatus: 'deployed',
    chart: null,
    source: null,
    updatedAt: null,
    lastOperation: null,
    drift: null,
    external: false,
    cleanupPending: false,
    pods: { total: 0, ready: 0, terminating: 0, counting: 0, gpus: 0 },
    deletion: null,
    canary: null,
    autoscale: null,
    ...more,
  }
}

/** A view that holds what it is told to, and reports each change as the real one does. */
export class FakeLister implements DeploymentLister {
  ready = true
  position = 0
  readonly rows = new Map<string, Row>()
  readonly #listeners = new Set<(change: RowChange, position: number) => void>()

  get listeners(): number {
    return this.#listeners.size
  }

  /** Makes a release what `after` says; a name that was not there appears. */
  set(after: Row): void {
    const before = this.rows.get(releaseKey(after)) ?? null
    this.rows.set(releaseKey(after), after)
    this.#report({ before, after, gone: null, cause: 'INFORMER', at: AT })
  }

  /** Takes a release out of the view; `gone: null` means that it can only no longer be read. */
  remove(namespace: string, name: string, gone: GoneCause | null): void {
    const before = this.rows.get(releaseKey({ namespace, name })) ?? null
    this.rows.delete(releaseKey({ namespace, name }))
    this.#report({ before, after: null, gone, cause: 'REAP_LOOP', at: AT })
  }

  get(ref: { namespace: string; name: string }): Row | undefined {
    return this.rows.get(releaseKey(ref))
  }

  page(): Page {
    throw new Error('no test here reads pages')
  }

  snapshot(filter: DeploymentFilter | undefined): Row[] {
    return [...this.rows.values()]
      .filter((one) => matches(one, filter))
      .sort((a, b) => (releaseKey(a) < releaseKey(b) ? -1 : 1))
  }

  subscribe(listener: (change: RowChange, position: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #report(change: RowChange): void {
    this.position++
    for (const listener of this.#listeners) listener(change, this.position)
  }
}

/** The time that the fake view gives to all its changes. */
export const AT = '2031-01-01T00:00:00.000Z'
