import type { JsonRecord } from './json.ts'
import { equalJson, isRecord } from './json.ts'

/** JSON merge patch, RFC 7386. The target is left as it is; members that do not change are shared. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch
  const merged = new Map<string, unknown>(isRecord(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

/** Why a JSON patch could not be applied. `malformed` is the sender's mistake, `failed` does not fit the object. */
export interface PatchFailure {
  failure: 'malformed' | 'failed'
  why: string
}

/** JSON patch, RFC 6902. All or nothing; the target is left as it is. */
export function jsonPatch(target: unknown, patch: unknown): { value: unknown } | PatchFailure {
  if (!Array.isArray(patch)) return { failure: 'malformed', why: 'a JSON patch is a list of operations' }
  let value: unknown = structuredClone(target)
  for (const operation of patch) {
    const done = isRecord(operation) ? apply(value, operation) : malformed('an operation is an object')
    if ('failure' in done) return done
    value = done.value
  }
  return { value }
}

type Step = { value: unknown } | PatchFailure

function malformed(why: string): PatchFailure {
  return { failure: 'malformed', why }
}

function failed(why: string): PatchFailure {
  return { failure: 'failed', why }
}

function apply(document: unknown, operation: JsonRecord): Step {
  const path = pointer(operation.path)
  if (path === undefined) return malformed('"path" is not a JSON pointer')
  switch (operation.op) {
    case 'add':
      return 'value' in operation
        ? add(document, path, structuredClone(operation.value))
        : malformed('no value')
    case 'replace':
      if (!('value' in operation)) return malformed('no value')
      return replace(document, path, structuredClone(operation.value))
    case 'remove':
      return remove(document, path)
    case 'test': {
      const found = read(document, path)
      if (found !== undefined && equalJson(found.value, operation.value)) return { value: document }
      // An absent member equals null here, as it does in the library Kubernetes uses.
      if (found === undefined && operation.value === null) return { value: document }
      return failed(`testing path ${String(operation.path)} failed`)
    }
    case 'move':
    case 'copy': {
      const from = pointer(operation.from)
      if (from === undefined) return malformed('"from" is not a JSON pointer')
      const found = read(document, from)
      if (found === undefined) return failed(`${String(operation.from)} is not there`)
      const moved = structuredClone(found.value)
      if (operation.op === 'copy') return add(document, path, moved)
      const without = remove(document, from)
      return 'failure' in without ? without : add(without.value, path, moved)
    }
    default:
      return failed(`unknown operation ${JSON.stringify(operation.op)}`)
  }
}

function pointer(text: unknown): string[] | undefined {
  if (text === '') return []
  if (typeof text !== 'string' || !text.startsWith('/')) return undefined
  return text
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function read(document: unknown, path: string[]): { value: unknown } | undefined {
  let here = document
  for (const step of path) {
    if (Array.isArray(here)) {
      const index = indexIn(here, step)
      if (index === undefined || index >= here.length) return undefined
      here = here[index]
    } else if (isRecord(here) && Object.hasOwn(here, step)) {
      here = here[step]
    } else {
      return undefined
    }
  }
  return { value: here }
}

function indexIn(list: unknown[], step: string): number | undefined {
  if (step === '-') return list.length
  return /^(0|[1-9]\d*)$/.test(step) ? Number(step) : undefined
}

/** The member that holds the last step of a path. */
function parentOf(document: unknown, path: string[]): { parent: unknown; last: string } | undefined {
  const last = path.at(-1)
  const found = read(document, path.slice(0, -1))
  return found === undefined || last === undefined ? undefined : { parent: found.value, last }
}

function add(document: unknown, path: string[], value: unknown): Step {
  if (path.length === 0) return { value }
  const place = parentOf(document, path)
  if (Array.isArray(place?.parent)) {
    const index = indexIn(place.parent, place.last)
    if (index === undefined || index > place.parent.length) return failed('index out of range')
    place.parent.splice(index, 0, value)
    return { value: document }
  }
  if (place === undefined || !isRecord(place.parent)) return failed('the parent is not there')
  setMember(place.parent, place.last, value)
  return { value: document }
}

function replace(document: unknown, path: string[], value: unknown): Step {
  if (path.length === 0) return { value }
  if (read(document, path) === undefined) return failed('there is nothing to replace')
  const place = parentOf(document, path)
  if (Array.isArray(place?.parent)) place.parent[Number(place.last)] = value
  else if (isRecord(place?.parent)) setMember(place.parent, place.last, value)
  return { value: document }
}

function remove(document: unknown, path: string[]): Step {
  const place = parentOf(document, path)
  if (place === undefined || read(document, path) === undefined) return failed('there is nothing to remove')
  if (Array.isArray(place.parent)) place.parent.splice(Number(place.last), 1)
  else if (isRecord(place.parent)) delete place.parent[place.last]
  return { value: document }
}

/** An own member whatever its name: `__proto__` too is only a key here. */
function setMember(record: JsonRecord, key: string, value: unknown): void {
  Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true })
}
