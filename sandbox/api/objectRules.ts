import { at, equalJson, isRecord, recordOf, textOf } from './json.ts'
import type { StatusCause } from './status.ts'
import type { KubeObject } from './types.ts'
import { forbiddenField, invalidValue, required, tooLong } from './validation.ts'

const dataLimit = 1024 * 1024
const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/

/**
 * Why the text of an object cannot be decoded as its kind (400); undefined when it can. What stands in the
 * store as it is (`before`) is left alone: it may have been put there without any rules.
 */
export function decodeProblem(object: KubeObject, before?: KubeObject): string | undefined {
  if (object.kind === 'ConfigMap' || object.kind === 'Secret') {
    const wrong = ['data', 'binaryData', 'stringData'].find(
      (member) => !isTextMap(object[member]) && !equalJson(object[member], before?.[member]),
    )
    if (wrong === undefined) return undefined
    const kind = object.kind
    return `${kind} in version "v1" cannot be handled as a ${kind}: json: cannot unmarshal into Go struct field ${kind}.${wrong} of type string`
  }
  if (object.kind !== 'Lease') return undefined
  for (const member of ['acquireTime', 'renewTime']) {
    const given = at(object.spec, member)
    if (given === undefined || given === null || given === at(before?.spec, member)) continue
    if (typeof given === 'string' && microTime.test(given) && !Number.isNaN(Date.parse(given))) continue
    const shown = JSON.stringify(given)
    return `Lease in version "v1" cannot be handled as a Lease: parsing time ${shown} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${shown} as ${JSON.stringify('.000000')}`
  }
  return undefined
}

/** What a kind's own rules say against an object; `before` is what an update would replace. */
export function kindCauses(object: KubeObject, before: KubeObject | undefined): StatusCause[] {
  switch (object.kind) {
    case 'ConfigMap':
      return [...configMapCauses(object), ...immutableCauses(object, before, ['data', 'binaryData'])]
    case 'Secret':
      return [...secretCauses(object, before), ...immutableCauses(object, before, ['data'])]
    case 'Lease':
      return leaseCauses(object)
    case 'CustomResourceDefinition':
      return crdCauses(object)
    default:
      return []
  }
}

function isTextMap(value: unknown): boolean {
  return value === undefined || Object.values(recordOf(value)).every((text) => typeof text === 'string')
}

function configMapCauses(object: KubeObject): StatusCause[] {
  let size = 0
  for (const value of Object.values(recordOf(object.data))) size += Buffer.byteLength(textOf(value))
  for (const value of Object.values(recordOf(object.binaryData))) size += decodedSize(value)
  const causes = dataKeyCauses('data', object.data)
  // The API server names no field here, only the object as a whole.
  if (size > dataLimit) causes.push(tooLong('[]', dataLimit))
  return causes
}

function secretCauses(object: KubeObject, before: KubeObject | undefined): StatusCause[] {
  let size = 0
  for (const value of Object.values(recordOf(object.data))) size += decodedSize(value)
  const causes = dataKeyCauses('data', object.data)
  if (size > dataLimit) causes.push(tooLong('data', dataLimit))
  if (before !== undefined && object.type !== before.type) {
    causes.push(invalidValue('type', object.type, 'field is immutable'))
  }
  return causes
}

function dataKeyCauses(field: string, data: unknown): StatusCause[] {
  return Object.keys(recordOf(data))
    .filter((key) => key.length > 253 || !/^[-._a-zA-Z0-9]+$/.test(key) || /^\.\.?$/.test(key))
    .map((key) =>
      invalidValue(
        `${field}[${key}]`,
        key,
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ),
    )
}

function decodedSize(value: unknown): number {
  return Buffer.byteLength(textOf(value), 'base64')
}

function immutableCauses(
  object: KubeObject,
  before: KubeObject | undefined,
  members: string[],
): StatusCause[] {
  if (before?.immutable !== true) return []
  const why = 'field is immutable when `immutable` is set'
  const changed = members.filter((member) => !equalJson(recordOf(object[member]), recordOf(before[member])))
  if (object.immutable !== true) changed.unshift('immutable')
  return changed.map((member) => forbiddenField(member, why))
}

function leaseCauses(object: KubeObject): StatusCause[] {
  const causes: StatusCause[] = []
  const duration = at(object.spec, 'leaseDurationSeconds')
  if (typeof duration === 'number' && duration <= 0) {
    causes.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'))
  }
  const transitions = at(object.spec, 'leaseTransitions')
  if (typeof transitions === 'number' && transitions < 0) {
    causes.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'))
  }
  return causes
}

function crdCauses(object: KubeObject): StatusCause[] {
  const group = textOf(at(object.spec, 'group'))
  const plural = textOf(at(object.spec, 'names', 'plural'))
  const versions = at(object.spec, 'versions')
  if (group === '') return [required('spec.group', '')]
  if (plural === '') return [required('spec.names.plural', '')]
  if (!Array.isArray(versions) || !versions.some((one) => isRecord(one) && one.storage === true)) {
    const why = 'must have exactly one version marked as storage version'
    return [invalidValue('spec.versions', versions, why)]
  }
  if (object.metadata.name === `${plural}.${group}`) return []
  const why = `must be spec.names.plural+"."+spec.group`
  return [invalidValue('metadata.name', object.metadata.name, why)]
}
