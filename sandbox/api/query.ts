import type { FieldSelector } from './fieldSelectors.ts'
import { parseFieldSelector } from './fieldSelectors.ts'
import type { KindDef } from './kinds.ts'
import type { LabelSelector } from './labelSelectors.ts'
import { parseLabelSelector } from './labelSelectors.ts'
import type { StatusBody, StatusCause } from './status.ts'
import { badRequest, failure } from './status.ts'
import type { IncludeObject } from './tables.ts'
import type { KubeObject } from './types.ts'
import { forbiddenField } from './validation.ts'

/** `meta/v1 ListOptions`, read from a query. */
export interface ListQuery {
  labelSelector: string
  labels: LabelSelector
  fields: FieldSelector
  resourceVersion: string
  resourceVersionMatch: string
  limit: number
  continue: string
  allowWatchBookmarks: boolean
  sendInitialEvents: boolean | undefined
  /** 0 when it is not given. */
  timeoutSeconds: number
  includeObject: IncludeObject
  /** Within the selectors. */
  selects(object: KubeObject): boolean
}

/** True for a query value Kubernetes reads as a yes: everything but `false`, `0` and an absent one. */
export function truthy(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0'
}

/** Reads the options of a list or a watch; a Status says what is wrong with them (400, 422). */
export function readListQuery(
  def: KindDef,
  params: URLSearchParams,
  watch: boolean,
): { query: ListQuery } | { status: StatusBody } {
  const labelSelector = params.get('labelSelector') ?? ''
  const labels = parseLabelSelector(labelSelector)
  if ('problem' in labels) return { status: badRequest(labels.problem) }
  const fields = parseFieldSelector(params.get('fieldSelector') ?? '', def.kind)
  if ('problem' in fields) return { status: badRequest(fields.problem) }
  const numbers: Record<string, number> = {}
  for (const name of ['limit', 'timeoutSeconds', 'resourceVersion']) {
    const text = params.get(name) ?? ''
    if (!/^\d*$/.test(text) && !(name === 'limit' && /^-\d+$/.test(text))) {
      return { status: badRequest(`invalid value for ${name}: ${JSON.stringify(text)} is not a number`) }
    }
    numbers[name] = Number(text)
  }
  const query: ListQuery = {
    labelSelector,
    labels,
    fields,
    resourceVersion: params.get('resourceVersion') ?? '',
    resourceVersionMatch: params.get('resourceVersionMatch') ?? '',
    limit: numbers.limit ?? 0,
    continue: params.get('continue') ?? '',
    allowWatchBookmarks: truthy(params.get('allowWatchBookmarks')),
    sendInitialEvents: params.has('sendInitialEvents') ? truthy(params.get('sendInitialEvents')) : undefined,
    timeoutSeconds: numbers.timeoutSeconds ?? 0,
    includeObject: included(params.get('includeObject')),
    selects: (object) => labels.matches(object.metadata.labels) && fields.matches(object),
  }
  const causes = watch ? watchCauses(query) : listCauses(query)
  return causes.length === 0 ? { query } : { status: invalidOptions(causes) }
}

function included(value: string | null): IncludeObject {
  return value === 'None' || value === 'Object' ? value : 'Metadata'
}

const matchField = 'resourceVersionMatch'

function watchCauses(query: ListQuery): StatusCause[] {
  const causes: StatusCause[] = []
  const match = query.resourceVersionMatch
  if (query.sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    const why = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
    causes.push(forbiddenField(matchField, why))
  }
  if (match !== '' && query.sendInitialEvents === undefined) {
    const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
    causes.push(forbiddenField(matchField, why))
  }
  return causes
}

function listCauses(query: ListQuery): StatusCause[] {
  const causes: StatusCause[] = []
  const match = query.resourceVersionMatch
  if (match !== '' && query.resourceVersion === '') {
    const why = 'resourceVersionMatch is forbidden unless resourceVersion is provided'
    causes.push(forbiddenField(matchField, why))
  }
  if (match !== '' && query.continue !== '') {
    causes.push(forbiddenField(matchField, 'resourceVersionMatch is forbidden when continue is provided'))
  }
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`
    causes.push({ reason: 'FieldValueNotSupported', message, field: matchField })
  }
  if (match === 'Exact' && query.resourceVersion === '0') {
    const why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
    causes.push(forbiddenField(matchField, why))
  }
  if (query.sendInitialEvents !== undefined) {
    causes.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  }
  return causes
}

function invalidOptions(causes: StatusCause[]): StatusBody {
  const told = causes.map((cause) => `${cause.field}: ${cause.message}`).join(', ')
  const body = failure(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${told}`)
  return { ...body, details: { group: 'meta.k8s.io', kind: 'ListOptions', causes } }
}
