import { isRecord, listOf, recordOf, textOf } from './json.ts'
import type { KindDef } from './kinds.ts'
import type { StatusCause } from './status.ts'
import type { KubeObject } from './types.ts'

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const annotationLimit = 256 * 1024

/** A cause of a 422 for a field with a wrong value. */
export function invalidValue(field: string, value: unknown, why: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field }
}

export function tooLong(field: string, limit: number): StatusCause {
  const message = `Too long: may not be more than ${limit} bytes`
  return { reason: 'FieldValueTooLong', message, field }
}

export function forbiddenField(field: string, why: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }
}

export function required(field: string, why: string): StatusCause {
  return { reason: 'FieldValueRequired', message: `Required value${why === '' ? '' : `: ${why}`}`, field }
}

/** What is wrong with an object's metadata, in the API server's words. */
export function metadataCauses(def: KindDef, object: KubeObject): StatusCause[] {
  const { name, labels, annotations, ownerReferences } = object.metadata
  return [
    ...nameCauses(def, name),
    ...labelCauses('metadata.labels', labels ?? {}),
    ...annotationCauses(annotations ?? {}),
    ...ownerCauses(listOf(ownerReferences)),
  ]
}

function nameCauses(def: KindDef, name: string): StatusCause[] {
  const field = 'metadata.name'
  if (name === '') return [required(field, 'name or generateName is required')]
  if (def.kind === 'Namespace' || def.kind === 'Service') {
    if (name.length > 63) return [invalidValue(field, name, 'must be no more than 63 characters')]
    if (dnsLabel.test(name)) return []
    if (name.includes('.')) return [invalidValue(field, name, 'must not contain dots')]
    const why =
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
    return [invalidValue(field, name, why)]
  }
  if (name.length > 253) return [invalidValue(field, name, 'must be no more than 253 characters')]
  if (subdomain.test(name)) return []
  const why =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
  return [invalidValue(field, name, why)]
}

function labelCauses(field: string, labels: Record<string, string>): StatusCause[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const causes: StatusCause[] = []
    const wrongKey = qualifiedNameProblem(key)
    if (wrongKey !== undefined) causes.push(invalidValue(field, key, wrongKey))
    const wrongValue = labelValueProblem(value)
    if (wrongValue !== undefined) causes.push(invalidValue(field, value, wrongValue))
    return causes
  })
}

/** Why a text is no label value; undefined when it is one. */
export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return 'must be no more than 63 bytes'
  if (value === '' || qualifiedPart.test(value)) return undefined
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
}

/** Why a text is no `prefix/name` key of a label or annotation; undefined when it is one. */
export function qualifiedNameProblem(key: string): string | undefined {
  const parts = key.split('/')
  const name = parts.pop() ?? ''
  if (parts.length > 1) return 'a qualified name must have at most one slash'
  const prefix = parts[0]
  if (prefix !== undefined && (prefix.length > 253 || !subdomain.test(prefix))) {
    return 'prefix part must be a lowercase RFC 1123 subdomain'
  }
  if (name.length > 63) return 'name part must be no more than 63 bytes'
  if (qualifiedPart.test(name)) return undefined
  return "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
}

function annotationCauses(annotations: Record<string, string>): StatusCause[] {
  const field = 'metadata.annotations'
  let size = 0
  const causes: StatusCause[] = []
  for (const [key, value] of Object.entries(annotations)) {
    size += Buffer.byteLength(key) + Buffer.byteLength(value)
    const wrong = qualifiedNameProblem(key.toLowerCase())
    if (wrong !== undefined) causes.push(invalidValue(field, key, wrong))
  }
  if (size > annotationLimit) causes.push(tooLong(field, annotationLimit))
  return causes
}

function ownerCauses(owners: unknown[]): StatusCause[] {
  return owners.flatMap((owner) =>
    ['apiVersion', 'kind', 'name', 'uid']
      .filter((member) => textOf(recordOf(owner)[member]) === '')
      .map((member) => invalidValue(`metadata.ownerReferences.${member}`, '', 'must not be empty')),
  )
}

/**
 * Why a JSON value cannot be read as an object at all (400, before any rule of its kind is looked at);
 * undefined when it can.
 */
export function shapeProblem(value: unknown): string | undefined {
  if (!isRecord(value)) return 'the body is not a JSON object'
  const metadata = value.metadata
  if (metadata === undefined || metadata === null) return undefined
  if (!isRecord(metadata)) return 'json: cannot unmarshal metadata into Go struct field of type v1.ObjectMeta'
  for (const member of ['name', 'generateName', 'namespace', 'uid', 'resourceVersion']) {
    const given = metadata[member]
    if (given !== undefined && given !== null && typeof given !== 'string') {
      return `json: cannot unmarshal into Go struct field ObjectMeta.metadata.${member} of type string`
    }
  }
  for (const member of ['labels', 'annotations']) {
    const map = metadata[member]
    if (map === undefined || map === null) continue
    if (!isRecord(map) || Object.values(map).some((text) => typeof text !== 'string')) {
      return `json: cannot unmarshal into Go struct field ObjectMeta.metadata.${member} of type map[string]string`
    }
  }
  const finalizers = metadata.finalizers
  if (finalizers !== undefined && finalizers !== null) {
    if (!Array.isArray(finalizers) || finalizers.some((one) => typeof one !== 'string')) {
      return 'json: cannot unmarshal into Go struct field ObjectMeta.metadata.finalizers of type []string'
    }
  }
  return undefined
}
