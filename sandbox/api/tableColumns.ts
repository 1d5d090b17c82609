import { at, isRecord, listOf, recordOf, textOf } from './json.ts'
import { podReady, podStatus, restarts } from './podColumns.ts'
import { age, timeOf } from './times.ts'
import type { KubeObject } from './types.ts'

/** One column of a table. */
export interface Column {
  name: string
  type: string
  /** Printed with `-o wide` only. */
  wide?: boolean
  cell(object: KubeObject, now: number): unknown
}

export function ageOf(object: KubeObject, now: number): string {
  const created = timeOf(object.metadata.creationTimestamp)
  return created === undefined ? '<unknown>' : age(now - created)
}

function column(name: string, cell: Column['cell'], type = 'string'): Column {
  return { name, type, cell }
}

function wide(name: string, cell: Column['cell']): Column {
  return { name, type: 'string', wide: true, cell }
}

const field =
  (fallback: unknown, ...path: string[]): Column['cell'] =>
  (object) =>
    at(object, ...path) ?? fallback

const name = column('Name', (object) => object.metadata.name)
const ageColumn = column('Age', ageOf)
const size = (member: string): Column =>
  column('Data', (object) => Object.keys(recordOf(object[member])).length, 'integer')

const byKind: Record<string, Column[]> = {
  Pod: [
    name,
    column('Ready', podReady),
    column('Status', podStatus),
    column('Restarts', restarts),
    ageColumn,
    wide('IP', field('<none>', 'status', 'podIP')),
    wide('Node', field('<none>', 'spec', 'nodeName')),
  ],
  ConfigMap: [name, size('data'), ageColumn],
  Secret: [name, column('Type', field('Opaque', 'type')), size('data'), ageColumn],
  Node: [
    name,
    column('Status', nodeStatus),
    column('Roles', () => '<none>'),
    ageColumn,
    column('Version', field('', 'status', 'nodeInfo', 'kubeletVersion')),
  ],
  Namespace: [name, column('Status', field('Active', 'status', 'phase')), ageColumn],
  Service: [
    name,
    column('Type', field('ClusterIP', 'spec', 'type')),
    column('Cluster-IP', field('<none>', 'spec', 'clusterIP')),
    column('Port(s)', servicePorts),
    ageColumn,
  ],
  Event: [
    column('Last Seen', lastSeen),
    column('Type', field('', 'type')),
    column('Reason', field('', 'reason')),
    column(
      'Object',
      (object) =>
        `${textOf(at(object, 'involvedObject', 'kind')).toLowerCase()}/${textOf(at(object, 'involvedObject', 'name'))}`,
    ),
    column('Message', (object) => textOf(object.message).trim()),
  ],
  PersistentVolumeClaim: [
    name,
    column('Status', field('', 'status', 'phase')),
    column('Volume', field('', 'spec', 'volumeName')),
    column('Capacity', field('', 'status', 'capacity', 'storage')),
    ageColumn,
  ],
  Deployment: [
    name,
    column('Ready', (object) => outOf(at(object.status, 'readyReplicas'), at(object.spec, 'replicas'))),
    column('Up-to-date', field(0, 'status', 'updatedReplicas'), 'integer'),
    column('Available', field(0, 'status', 'availableReplicas'), 'integer'),
    ageColumn,
  ],
  ReplicaSet: [
    name,
    column('Desired', field(0, 'spec', 'replicas'), 'integer'),
    column('Current', field(0, 'status', 'replicas'), 'integer'),
    column('Ready', field(0, 'status', 'readyReplicas'), 'integer'),
    ageColumn,
  ],
  StatefulSet: [
    name,
    column('Ready', (object) => outOf(at(object.status, 'readyReplicas'), at(object.spec, 'replicas'))),
    ageColumn,
  ],
  ControllerRevision: [
    name,
    column('Controller', (object) => controllerOf(object)),
    column('Revision', field(0, 'revision'), 'integer'),
    ageColumn,
  ],
  Job: [
    name,
    column('Status', jobStatus),
    column('Completions', (object) =>
      outOf(at(object.status, 'succeeded'), at(object.spec, 'completions') ?? 1),
    ),
    ageColumn,
  ],
  Lease: [name, column('Holder', field('', 'spec', 'holderIdentity')), ageColumn],
  CustomResourceDefinition: [
    name,
    column('Created At', (object) => object.metadata.creationTimestamp, 'date'),
  ],
}

/** The columns of a built-in kind, as kubectl shows them; NAME and AGE where there is nothing of its own. */
export function columnsOf(kind: string): Column[] {
  return byKind[kind] ?? [name, ageColumn]
}

function outOf(part: unknown, whole: unknown): string {
  return `${part ?? 0}/${whole ?? 0}`
}

function nodeStatus(node: KubeObject): string {
  const ready = listOf(at(node.status, 'conditions')).find((one) => at(one, 'type') === 'Ready')
  const word = ready === undefined ? 'Unknown' : at(ready, 'status') === 'True' ? 'Ready' : 'NotReady'
  return at(node.spec, 'unschedulable') === true ? `${word},SchedulingDisabled` : word
}

function servicePorts(service: KubeObject): string {
  const ports = listOf(at(service.spec, 'ports')).filter(isRecord)
  return ports.map((port) => `${port.port}/${textOf(port.protocol) || 'TCP'}`).join(',') || '<none>'
}

function lastSeen(event: KubeObject, now: number): string {
  const seen =
    timeOf(event.lastTimestamp) ?? timeOf(event.eventTime) ?? timeOf(event.metadata.creationTimestamp)
  return seen === undefined ? '<unknown>' : age(now - seen)
}

function controllerOf(object: KubeObject): string {
  const owner = (object.metadata.ownerReferences ?? []).find((one) => one.controller === true)
  return owner === undefined ? '<none>' : `${textOf(owner.kind).toLowerCase()}/${textOf(owner.name)}`
}

function jobStatus(job: KubeObject): string {
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating'
  const conditions = listOf(at(job.status, 'conditions')).filter((one) => at(one, 'status') === 'True')
  const types = conditions.map((one) => at(one, 'type'))
  if (types.includes('Complete')) return 'Complete'
  if (types.includes('Failed')) return 'Failed'
  return types.includes('Suspended') ? 'Suspended' : 'Running'
}
