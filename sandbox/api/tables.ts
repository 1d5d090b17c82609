import { at } from './json.ts'
import type { KindDef } from './kinds.ts'
import type { ListMeta } from './rendering.ts'
import { partialOf } from './rendering.ts'
import type { Column } from './tableColumns.ts'
import { ageOf, columnsOf } from './tableColumns.ts'
import type { KubeObject } from './types.ts'

/** How much of each object a row carries beside its cells. */
export type IncludeObject = 'Metadata' | 'Object' | 'None'

/** `meta.k8s.io/v1 Table`: what `kubectl get` prints. `crd` defines the kind when it is a custom one. */
export function table(
  def: KindDef,
  crd: KubeObject | undefined,
  objects: KubeObject[],
  include: IncludeObject,
  now: number,
  options: { meta?: ListMeta; headers: boolean },
): Record<string, unknown> {
  const columns = def.custom ? customColumns(crd) : columnsOf(def.kind)
  const body: Record<string, unknown> = {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.meta ?? {},
    columnDefinitions: options.headers ? columns.map(definition) : null,
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.cell(object, now)),
      object: include === 'None' ? null : include === 'Object' ? object : partialOf(object),
    })),
  }
  return body
}

function definition(column: Column): Record<string, unknown> {
  return {
    name: column.name,
    type: column.type,
    format: column.name === 'Name' ? 'name' : '',
    description: '',
    priority: column.wide === true ? 1 : 0,
  }
}

function customColumns(crd: KubeObject | undefined): Column[] {
  const name: Column = { name: 'Name', type: 'string', cell: (object) => object.metadata.name }
  const asked = printerColumns(crd)
  if (asked.length === 0) return [name, { name: 'Age', type: 'date', cell: ageOf }]
  return [
    name,
    ...asked.map(
      (column): Column => ({
        name: column.name,
        type: column.type,
        cell: (object, now) => {
          if (column.path.join('.') === 'metadata.creationTimestamp') return ageOf(object, now)
          return at(object, ...column.path) ?? null
        },
      }),
    ),
  ]
}

/** The columns a CRD asks `kubectl get` to print, name and JSON path. */
function printerColumns(crd: KubeObject | undefined): { name: string; type: string; path: string[] }[] {
  const versions = at(crd?.spec, 'versions')
  const storage = Array.isArray(versions) ? versions.find((one) => at(one, 'storage') === true) : undefined
  const columns = at(storage, 'additionalPrinterColumns')
  if (!Array.isArray(columns)) return []
  return columns.flatMap((column) => {
    const path = at(column, 'jsonPath')
    const name = at(column, 'name')
    if (typeof path !== 'string' || typeof name !== 'string') return []
    return [{ name, type: String(at(column, 'type')), path: path.split('.').filter((step) => step !== '') }]
  })
}
