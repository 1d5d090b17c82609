import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { decideDeletion, endsDeletion } from './deletion.ts'
import { equalJson, isRecord, jsonCopy } from './json.ts'
import type { Objects } from './objects.ts'
import { keyOf } from './objects.ts'
import { mergePatch } from './patching.ts'
import type { Registry } from './registry.ts'
import { timestamp } from './times.ts'
import type { KubeObject, ObjectRef, Store } from './types.ts'

/** The in-process door to the objects: as written, with no rule of the API in between. */
export class Seeds implements Store {
  private readonly objects: Objects
  private readonly registry: Registry
  private readonly clock: Clock
  /** Namespaces nobody has written, made because something was put into them. */
  private readonly implied = new Set<string>()

  constructor(objects: Objects, registry: Registry, clock: Clock) {
    this.objects = objects
    this.registry = registry
    this.clock = clock
  }

  get(ref: ObjectRef): KubeObject | undefined {
    const found = this.objects.get(ref.kind, keyOf(ref.namespace, ref.name))
    return found === undefined ? undefined : jsonCopy(found)
  }

  list(kind: string): KubeObject[] {
    return this.objects.all(kind).map(jsonCopy)
  }

  create(object: KubeObject): KubeObject {
    const { kind, metadata } = object
    const there = this.objects.get(kind, keyOf(metadata.namespace, metadata.name))
    const implied = kind === 'Namespace' && this.implied.has(metadata.name)
    if (there !== undefined && !implied) throw new Error(`${shown(object)} exists already`)
    return this.write(object, there)
  }

  replace(object: KubeObject): KubeObject {
    const key = keyOf(object.metadata.namespace, object.metadata.name)
    const there = this.objects.get(object.kind, key)
    const { uid } = object.metadata
    if (there !== undefined && uid !== undefined && uid !== there.metadata.uid) {
      this.objects.drop(object.kind, key)
      return this.write(object, undefined)
    }
    return this.write(object, there)
  }

  patch(ref: ObjectRef, patch: unknown): KubeObject {
    const before = this.there(ref)
    const merged = mergePatch(before, patch)
    if (!isRecord(merged) || !isRecord(merged.metadata)) throw new Error('the patch leaves no object')
    const metadata = { ...merged.metadata, resourceVersion: before.metadata.resourceVersion }
    const after = jsonCopy({ ...merged, metadata }) as unknown as KubeObject
    if (equalJson(before, after)) return jsonCopy(before)
    const key = keyOf(ref.namespace, ref.name)
    if (keyOf(after.metadata.namespace, after.metadata.name) !== key || after.kind !== ref.kind) {
      throw new Error(`a patch cannot rename ${shown(before)}`)
    }
    if (endsDeletion(before, after)) {
      this.objects.drop(ref.kind, key)
      return after
    }
    return jsonCopy(this.objects.put(after))
  }

  delete(ref: ObjectRef): void {
    const object = this.there(ref)
    const def = this.registry.byKind(ref.kind)
    if (def === undefined) throw new Error(`${ref.kind} is not a kind this server knows`)
    const deletion = decideDeletion(def, object, { propagationPolicy: 'Background' }, this.clock.now())
    if (deletion.outcome === 'refused') throw new Error(deletion.status.message)
    const next = deletion.outcome === 'kept' ? deletion.object : deletion.last
    if (!equalJson(next, object)) this.objects.put(next)
    if (deletion.outcome === 'gone') this.objects.drop(ref.kind, keyOf(ref.namespace, ref.name))
  }

  remove(ref: ObjectRef): void {
    this.there(ref)
    this.objects.drop(ref.kind, keyOf(ref.namespace, ref.name))
  }

  /** Makes the namespaces that every cluster has; a later `create` of one of them writes over it. */
  standardNamespaces(): void {
    for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) this.imply(name)
  }

  private write(object: KubeObject, before: KubeObject | undefined): KubeObject {
    const { metadata } = object
    if (typeof object.kind !== 'string' || typeof metadata?.name !== 'string') {
      throw new Error('an object needs kind, metadata and metadata.name')
    }
    const def = this.registry.byKind(object.kind)
    if (def?.namespaced === true && !metadata.namespace) throw new Error(`${shown(object)} has no namespace`)
    if (def?.namespaced === false && metadata.namespace) {
      throw new Error(`${shown(object)}: ${object.kind} has no namespaces`)
    }
    if (metadata.namespace) this.imply(metadata.namespace)
    if (object.kind === 'Namespace') this.implied.delete(metadata.name)
    const copy = jsonCopy(object)
    copy.metadata.uid ??= before?.metadata.uid ?? randomUUID()
    copy.metadata.creationTimestamp ??= before?.metadata.creationTimestamp ?? timestamp(this.clock.now())
    return jsonCopy(this.objects.put(copy))
  }

  private imply(namespace: string): void {
    if (this.objects.get('Namespace', keyOf('', namespace)) !== undefined) return
    this.objects.put({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: namespace,
        uid: randomUUID(),
        creationTimestamp: timestamp(this.clock.now()),
        labels: { 'kubernetes.io/metadata.name': namespace },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
    this.implied.add(namespace)
  }

  private there(ref: ObjectRef): KubeObject {
    const found = this.objects.get(ref.kind, keyOf(ref.namespace, ref.name))
    if (found === undefined) throw new Error(`${ref.kind} ${ref.namespace ?? ''}/${ref.name} is not there`)
    return found
  }
}

function shown(object: KubeObject): string {
  return `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`
}
