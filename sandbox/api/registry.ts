import { at, isRecord, listOf, textOf } from './json.ts'
import type { KindDef } from './kinds.ts'
import { builtinKinds } from './kinds.ts'
import type { KubeObject } from './types.ts'

/**
 * The kinds this server knows. Built-in ones are always served; a custom one is served while its
 * CustomResourceDefinition stands in the store, and stays known afterwards (its objects do, too).
 */
export class Registry {
  private readonly kinds = new Map<string, KindDef>(builtinKinds.map((def) => [def.kind, def]))
  private readonly served = new Set<string>(builtinKinds.map((def) => def.kind))

  byKind(kind: string): KindDef | undefined {
    return this.kinds.get(kind)
  }

  /** The kind behind a path, served or not. */
  byPath(group: string, version: string, plural: string): KindDef | undefined {
    for (const def of this.kinds.values()) {
      if (def.plural === plural && def.group === group && def.version === version) return def
    }
    return undefined
  }

  isServed(def: KindDef): boolean {
    return this.served.has(def.kind)
  }

  /** Everything that is served at the moment, built-in kinds first. */
  servedKinds(): KindDef[] {
    return [...this.kinds.values()].filter((def) => this.served.has(def.kind))
  }

  /** Serves what a CustomResourceDefinition defines. False when its kind belongs to somebody else. */
  define(crd: KubeObject): boolean {
    const def = definedBy(crd)
    if (def === undefined) return false
    const known = this.kinds.get(def.kind)
    if (known !== undefined && (known.group !== def.group || known.plural !== def.plural)) return false
    this.kinds.set(def.kind, def)
    this.served.add(def.kind)
    return true
  }

  /** Stops serving what a CustomResourceDefinition defined. Returns the kind, when there was one. */
  withdraw(crd: KubeObject): string | undefined {
    const def = definedBy(crd)
    if (def === undefined || this.kinds.get(def.kind)?.group !== def.group) return undefined
    return this.served.delete(def.kind) ? def.kind : undefined
  }
}

/** The kind a CustomResourceDefinition defines, in its storage version; undefined when it cannot be read. */
export function definedBy(crd: KubeObject): KindDef | undefined {
  const spec = crd.spec
  const versions = listOf(at(spec, 'versions')).filter(isRecord)
  const version = versions.find((one) => one.storage === true && one.served !== false)
  const kind = textOf(at(spec, 'names', 'kind'))
  const plural = textOf(at(spec, 'names', 'plural'))
  const group = textOf(at(spec, 'group'))
  if (version === undefined || kind === '' || plural === '' || group === '') return undefined
  const status = at(version, 'subresources', 'status') !== undefined
  return {
    kind,
    group,
    version: textOf(version.name),
    plural,
    singular: textOf(at(spec, 'names', 'singular')) || kind.toLowerCase(),
    shortNames: listOf(at(spec, 'names', 'shortNames')).map(textOf),
    namespaced: at(spec, 'scope') === 'Namespaced',
    status,
    custom: true,
    unconditionalUpdate: false,
    createOnUpdate: false,
    returnsDeleted: false,
    generation: 'body',
  }
}
