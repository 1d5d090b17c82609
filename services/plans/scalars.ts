/** A value of a plan. An integer beyond 2^53 is a bigint, so that no digit is lost. */
export type PlanValue = null | boolean | number | bigint | string | PlanValue[] | PlanMap
export interface PlanMap {
  [key: string]: PlanValue
}

/** True for a map, as opposed to a list, a scalar or null. */
export const isPlanMap = (value: PlanValue | undefined): value is PlanMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Sets a key of its own, whatever it is called (`__proto__` included). */
export function setKey(map: PlanMap, key: string, value: PlanValue): void {
  if (key === '__proto__') {
    Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    map[key] = value
  }
}

const WORDS: ReadonlyMap<string, PlanValue> = new Map<string, PlanValue>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, true] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, false] as const,
  ),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map(
    (word) => [word, Number.POSITIVE_INFINITY] as const,
  ),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
])

const INTEGER = /^([-+]?)(0[bB][01]+|0[oO]?[0-7]+|0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)$/
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/

/**
 * What a plain scalar means to helm and Kubernetes, which read YAML with go-yaml v2: the booleans and octal
 * numbers of YAML 1.1, but neither its base 60 numbers nor its timestamps (`resolve.go`). The yaml package's
 * own 1.1 schema differs in these, and takes `e5` and `.` for numbers that are none.
 */
export function resolvePlain(text: string): PlanValue {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  if (!/^[-+.0-9]/.test(text)) return text
  const digits = text.startsWith('.') ? text : text.replaceAll('_', '')
  const integer = INTEGER.exec(digits)
  if (integer) return integerOf(integer[1] === '-', integer[2] as string)
  const float = FLOAT.test(digits) ? Number(digits) : Number.NaN
  return Number.isFinite(float) ? float : text
}

function integerOf(negative: boolean, digits: string): PlanValue {
  const octal = /^0[0-7]+$/.test(digits)
  const size = BigInt(octal ? `0o${digits.slice(1)}` : digits)
  const value = negative ? -size : size
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** The key that a value stands for in a map: Kubernetes' tools turn it into text (`on:` is the key `true`). */
export function keyOf(value: PlanValue): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null) return null
  return String(value)
}

/** The value as JSON can hold it: integers beyond 2^53 and numbers JSON does not know become text. */
export function toJson(value: PlanValue): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (!isPlanMap(value)) return value
  const copy: PlanMap = {}
  for (const [key, item] of Object.entries(value)) setKey(copy, key, toJson(item) as PlanValue)
  return copy
}
