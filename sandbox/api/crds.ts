import { withDefaults } from './defaults.ts'
import { crdCleanup } from './deletion.ts'
import type { Change } from './history.ts'
import { jsonCopy } from './json.ts'
import type { KindDef } from './kinds.ts'
import type { Objects } from './objects.ts'
import { keyOf } from './objects.ts'
import type { Registry } from './registry.ts'
import { definedBy } from './registry.ts'
import { timestamp } from './times.ts'
import type { KubeObject } from './types.ts'
import type { Writes } from './writes.ts'

const crdKind = 'CustomResourceDefinition'

/**
 * What happens around CustomResourceDefinitions: their kinds are served while they are there; deleting one
 * deletes all its objects first, and it goes when the last of them has gone.
 */
export class CustomKinds {
  private readonly objects: Objects
  private readonly registry: Registry
  private readonly writes: Writes
  /** The newest definition of each kind, so that it can be served again after it was taken away. */
  private readonly definitions = new Map<string, KubeObject>()

  constructor(objects: Objects, registry: Registry, writes: Writes) {
    this.objects = objects
    this.registry = registry
    this.writes = writes
  }

  /** Follows a change in the store. Returns the kind that is no longer served because of it, if any. */
  follow(change: Change): string | undefined {
    if (change.kind !== crdKind) {
      if (change.type === 'DELETED') this.finish(this.registry.byKind(change.kind))
      return undefined
    }
    if (change.type === 'DELETED') return this.registry.withdraw(change.object)
    const def = definedBy(change.object)
    if (def === undefined) return change.previous && this.registry.withdraw(change.previous)
    if (!this.registry.define(change.object)) return undefined
    const deleting = change.object.metadata.deletionTimestamp !== undefined
    if (!deleting) this.definitions.set(def.kind, change.object)
    if (deleting && change.previous?.metadata.deletionTimestamp === undefined) this.empty(def)
    return undefined
  }

  /** Serves exactly these custom kinds. Objects of the others stay in the store. */
  serve(kinds: string[], now: number): void {
    for (const crd of this.objects.all(crdKind)) {
      const kind = definedBy(crd)?.kind
      const stays = kind !== undefined && kinds.includes(kind) && crd.metadata.deletionTimestamp === undefined
      if (!stays) this.objects.drop(crdKind, keyOf('', crd.metadata.name))
    }
    for (const kind of kinds) {
      const def = this.registry.byKind(kind)
      if (def !== undefined && !def.custom) throw new Error(`${kind} is a built-in kind: it is always served`)
      if (def !== undefined && this.registry.isServed(def)) continue
      this.objects.put(withDefaults(this.definitions.get(kind) ?? ownDefinition(kind, now), now))
    }
  }

  private empty(def: KindDef): void {
    for (const object of this.objects.all(def.kind)) {
      const { namespace = '', name } = object.metadata
      this.writes.delete({ def, namespace, name, subresource: '', dryRun: false }, {})
    }
    this.finish(def)
  }

  private finish(def: KindDef | undefined): void {
    if (def === undefined || !def.custom || this.objects.count(def.kind) > 0) return
    const key = keyOf('', `${def.plural}.${def.group}`)
    const crd = this.objects.get(crdKind, key)
    if (crd?.metadata.deletionTimestamp === undefined) return
    const finalizers = (crd.metadata.finalizers ?? []).filter((one) => one !== crdCleanup)
    if (finalizers.length === 0) this.objects.drop(crdKind, key)
    else if (finalizers.length !== crd.metadata.finalizers?.length) {
      this.objects.put({ ...crd, metadata: { ...crd.metadata, finalizers } })
    }
  }
}

/** Why this server cannot serve what a CRD defines: it keeps one kind of a name. */
export function crdProblem(registry: Registry, crd: KubeObject): string | undefined {
  const def = definedBy(crd)
  const known = def === undefined ? undefined : registry.byKind(def.kind)
  if (def === undefined || known === undefined) return undefined
  if (known.group === def.group && known.plural === def.plural) return undefined
  return `this server keeps one kind of a name, and ${known.kind} belongs to ${known.group || 'the core group'}`
}

/** The definition of a kind that nobody has defined: as `LLMService` is, in its group. */
function ownDefinition(kind: string, now: number): KubeObject {
  const singular = kind.toLowerCase()
  const plural = `${singular}s`
  const group = 'serving.modelsphere.dev'
  return jsonCopy({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: crdKind,
    metadata: {
      name: `${plural}.${group}`,
      uid: `crd-${plural}`,
      creationTimestamp: timestamp(now),
      generation: 1,
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular, kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })
}
