import type { DeploymentLister, Page, PageArgs } from '../deployments/lister.ts'
import type { DeploymentFilter } from '../deployments/listing.ts'
import type { ReleaseRef, Row } from '../deployments/row.ts'
import type { Checks } from './checks.ts'

/** The view as readers see it: a read of a release that is being uninstalled also starts its check. */
export class CheckingLister implements DeploymentLister {
  readonly #view: DeploymentLister
  readonly #checks: Checks

  constructor(view: DeploymentLister, checks: Checks) {
    this.#view = view
    this.#checks = checks
  }

  get ready(): boolean {
    return this.#view.ready
  }

  get position(): number {
    return this.#view.position
  }

  get(ref: ReleaseRef): Row | undefined {
    const row = this.#view.get(ref)
    if (row) this.#checks.onRead([row])
    return row
  }

  page(args: PageArgs): Page {
    const page = this.#view.page(args)
    this.#checks.onRead(page.edges.map(({ node }) => node))
    return page
  }

  snapshot(filter: DeploymentFilter | undefined): Row[] {
    const rows = this.#view.snapshot(filter)
    this.#checks.onRead(rows)
    return rows
  }

  subscribe(listener: Parameters<DeploymentLister['subscribe']>[0]): () => void {
    return this.#view.subscribe(listener)
  }
}
