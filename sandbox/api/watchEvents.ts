import type { Change } from './history.ts'
import type { KindDef } from './kinds.ts'
import { apiVersionOf } from './kinds.ts'
import { fullText, partialText } from './rendering.ts'
import type { StatusBody } from './status.ts'
import type { KubeObject } from './types.ts'

/** What a watch tells about an object. */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/**
 * What a change is to a watcher that sees only some objects: one that leaves its selection reads as DELETED,
 * with the old state under the new version, one that enters it as ADDED. Undefined: nothing.
 */
export function seenAs(
  change: Change,
  selects: (object: KubeObject) => boolean,
): { type: EventType; object: KubeObject } | undefined {
  const was = change.previous !== undefined && selects(change.previous)
  const is = change.type !== 'DELETED' && selects(change.object)
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: change.object }
  if (!was) return undefined
  return { type: 'DELETED', object: change.type === 'DELETED' ? change.object : left(change) }
}

const leftObjects = new WeakMap<Change, KubeObject>()

function left(change: Change): KubeObject {
  const known = leftObjects.get(change)
  if (known !== undefined) return known
  const previous = change.previous ?? change.object
  const metadata = { ...previous.metadata, resourceVersion: String(change.version) }
  const made = { ...previous, metadata }
  leftObjects.set(change, made)
  return made
}

const lines = new WeakMap<KubeObject, Map<string, Buffer>>()

/** A line about an object. It is written once for all streams that show it in the same way. */
export function objectLine(type: EventType, object: KubeObject, shape: 'full' | 'partial'): Buffer {
  let known = lines.get(object)
  if (known === undefined) {
    known = new Map()
    lines.set(object, known)
  }
  const name = `${shape} ${type}`
  const ready = known.get(name)
  if (ready !== undefined) return ready
  const text = shape === 'full' ? fullText(object) : partialText(object)
  const made = eventLine(type, text)
  known.set(name, made)
  return made
}

/** A line around the JSON text of an object. */
export function eventLine(type: EventType | 'BOOKMARK' | 'ERROR', text: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${text}}\n`)
}

export function errorLine(status: StatusBody): Buffer {
  return eventLine('ERROR', JSON.stringify(status))
}

/** The object of a bookmark: nothing but a version, and a mark where it ends the initial events. */
export function bookmarkObject(
  def: KindDef,
  shape: 'full' | 'partial',
  version: number,
  initialEnd: boolean,
): KubeObject {
  const annotations = initialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  const metadata = { resourceVersion: String(version), ...annotations }
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
  if (shape === 'partial') return partial as unknown as KubeObject
  // Go writes the members that have no omitempty, empty as they are.
  const body = emptyBodies[def.kind] ?? {}
  return { kind: def.kind, apiVersion: apiVersionOf(def), metadata, ...body } as unknown as KubeObject
}

const emptyTemplate = { metadata: {}, spec: { containers: null } }

const emptyBodies: Record<string, Record<string, unknown>> = {
  Pod: { spec: { containers: null }, status: {} },
  Node: { spec: {}, status: {} },
  Namespace: { spec: {}, status: {} },
  Service: { spec: {}, status: { loadBalancer: {} } },
  PersistentVolumeClaim: { spec: { resources: {} }, status: {} },
  Event: { involvedObject: {}, source: {}, firstTimestamp: null, lastTimestamp: null, eventTime: null },
  Deployment: { spec: { replicas: 0, selector: null, template: emptyTemplate, strategy: {} }, status: {} },
  ReplicaSet: { spec: { replicas: 0, selector: null, template: emptyTemplate }, status: { replicas: 0 } },
  StatefulSet: { spec: { replicas: 0, selector: null, template: emptyTemplate }, status: { replicas: 0 } },
  ControllerRevision: { data: null, revision: 0 },
  Job: { spec: { template: emptyTemplate }, status: {} },
  Lease: { spec: {} },
}
