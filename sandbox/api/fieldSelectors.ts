import { at } from './json.ts'
import type { SelectorProblem } from './labelSelectors.ts'
import type { KubeObject } from './types.ts'

/** A field selector that has been read. */
export interface FieldSelector {
  everything: boolean
  /** The one name it asks for, when it says `metadata.name=…`: such a list or watch is about one object. */
  name: string | undefined
  matches(object: KubeObject): boolean
}

const basic = ['metadata.name', 'metadata.namespace']

/** The fields that can be selected by, besides name and namespace, by kind. */
const selectable: Record<string, string[]> = {
  Pod: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  Event: [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  Secret: ['type'],
  Namespace: ['status.phase'],
  Node: ['spec.unschedulable'],
  Job: ['status.successful'],
  ReplicaSet: ['status.replicas'],
}

/** Reads `field=value,field!=value`. A field the kind does not offer is a problem (400). */
export function parseFieldSelector(text: string, kind: string): FieldSelector | SelectorProblem {
  const terms: { path: string[]; value: string; equal: boolean }[] = []
  let name: string | undefined
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue
    const read = /^([^=!]+?)\s*(==|=|!=)\s*(.*)$/.exec(part)
    if (read === null) return { problem: `invalid selector: '${text}'; can't understand '${part}'` }
    const [, field = '', operator = '', value = ''] = read
    const known = selectable[kind]
    if (!basic.includes(field) && known?.includes(field) !== true) {
      if (known !== undefined) return { problem: `field label not supported: ${field}` }
      const offered = basic.map((one) => `"${one}"`).join(', ')
      return { problem: `"${field}" is not a known field selector: only ${offered}` }
    }
    const equal = operator !== '!='
    if (field === 'metadata.name' && equal) name = value
    terms.push({ path: field.split('.'), value, equal })
  }
  return {
    everything: terms.length === 0,
    name,
    matches: (object) =>
      terms.every(({ path, value, equal }) => (fieldText(object, path) === value) === equal),
  }
}

/** A missing field reads as the empty text, `spec.unschedulable` as `false`. */
function fieldText(object: KubeObject, path: string[]): string {
  const value = path[0] === 'source' ? at(object, 'source', 'component') : at(object, ...path)
  if (value === undefined || value === null) return path[1] === 'unschedulable' ? 'false' : ''
  return String(value)
}
