/** Orders of the list, and the cursors that name a place in one. Pure. */
import { InvalidCursor, type OrderField, type PageArgs } from './lister.ts'
import type { Row } from './row.ts'

/** A place in an order: the value sorted by, then the release, so that ties are ordered too. */
export interface Place {
  value: string | null
  namespace: string
  name: string
}

const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** By namespace, then name: the order in which ties stand, whatever the direction. */
export const byRelease = (
  a: { namespace: string; name: string },
  b: { namespace: string; name: string },
): number => text(a.namespace, b.namespace) || text(a.name, b.name)

function sortValue(row: Row, field: OrderField): string | null {
  switch (field) {
    case 'NAMESPACE_NAME':
      return null
    case 'NAME':
      return row.name
    case 'UPDATED_AT':
      return instant(row.updatedAt)
    case 'PHASE':
      return row.phase
    case 'UNINSTALLING_SINCE':
      return instant(row.deletion?.startedAt ?? null)
  }
}

/** Times as other tools wrote them may differ in form; as milliseconds of one width they compare as text. */
function instant(time: string | null): string | null {
  const ms = time === null ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? null : String(ms).padStart(16, '0')
}

export const placeOf = (row: Row, field: OrderField): Place => ({
  value: sortValue(row, field),
  namespace: row.namespace,
  name: row.name,
})

/** Compares two places. Rows without a value come last in both directions. */
export function comparePlaces(a: Place, b: Place, { field, direction }: PageArgs['orderBy']): number {
  const sign = direction === 'DESC' ? -1 : 1
  if (field === 'NAMESPACE_NAME') return sign * byRelease(a, b)
  if (a.value === null || b.value === null) {
    if (a.value === b.value) return byRelease(a, b)
    return a.value === null ? 1 : -1
  }
  return sign * text(a.value, b.value) || byRelease(a, b)
}

/** Opaque to clients: the place, and the order that it belongs to. */
export function encodePlace(row: Row, orderBy: PageArgs['orderBy']): string {
  const { value, namespace, name } = placeOf(row, orderBy.field)
  return Buffer.from(JSON.stringify([orderBy.field, orderBy.direction, value, namespace, name])).toString(
    'base64url',
  )
}

export function decodePlace(cursor: string, orderBy: PageArgs['orderBy']): Place {
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    parts = null
  }
  const [field, direction, value, namespace, name] = Array.isArray(parts) ? (parts as unknown[]) : []
  const isPlace =
    (value === null || typeof value === 'string') && typeof namespace === 'string' && typeof name === 'string'
  if (!isPlace) throw new InvalidCursor('not a cursor of this list')
  if (field !== orderBy.field || direction !== orderBy.direction) {
    throw new InvalidCursor('the cursor belongs to another order of the list; begin again at its first page')
  }
  return { value, namespace, name }
}
