import type { Selection } from './clientOptions.ts'
import { isKubeError, KubeError } from './errors.ts'
import type { KubeObject } from './kinds.ts'

/** One answer to a list request, as far as it is read. */
export interface ListPage<T> {
  metadata?: { resourceVersion?: string; continue?: string }
  items?: T[] | null
}

export interface Listed<R> {
  items: R[]
  /** Of the first page; all pages of one list are of the same version. */
  resourceVersion: string
}

const PAGE_SIZE = 500
const RESTARTS = 3

/**
 * Reads a whole list in pages of 500. A continue token lives for five minutes at most; when it expires on
 * the way, the list starts over: the rest at a newer version would not fit what is there.
 *
 * @param read fetches one page; throws KubeError
 */
export async function listPages<T extends KubeObject, R>(
  read: (query: URLSearchParams) => Promise<ListPage<T>>,
  what: { action: string; selection: Selection; keep: (item: T) => R },
): Promise<Listed<R>> {
  for (let restarts = 0; ; restarts++) {
    try {
      return await allPages(read, what)
    } catch (error) {
      if (!isKubeError(error, 'Gone') || restarts >= RESTARTS) throw error
    }
  }
}

async function allPages<T extends KubeObject, R>(
  read: (query: URLSearchParams) => Promise<ListPage<T>>,
  { action, selection, keep }: { action: string; selection: Selection; keep: (item: T) => R },
): Promise<Listed<R>> {
  const items: R[] = []
  let resourceVersion: string | undefined
  let token: string | undefined
  do {
    const query = selectionQuery(selection)
    query.set('limit', String(PAGE_SIZE))
    if (token !== undefined) query.set('continue', token)
    const page = await read(query)
    // An answer that is no list must never read as an empty one. `items: null` is one without items.
    if (page.items === undefined || !page.metadata) {
      throw new KubeError('Unavailable', `${action}: the answer is no list`)
    }
    for (const item of page.items ?? []) items.push(keep(item))
    resourceVersion ??= page.metadata.resourceVersion
    token = page.metadata.continue || undefined
  } while (token !== undefined)
  return { items, resourceVersion: resourceVersion ?? '' }
}

/** The selectors, as a list and a watch take them. */
export function selectionQuery(selection: Selection): URLSearchParams {
  const query = new URLSearchParams()
  if (selection.labelSelector) query.set('labelSelector', selection.labelSelector)
  if (selection.fieldSelector) query.set('fieldSelector', selection.fieldSelector)
  return query
}
