/**
 * JSON that loses no digit: an integer beyond 2^53 is a bigint here, which `JSON.parse` would round and
 * `JSON.stringify` refuses. The API server keeps such integers, and so must whoever writes an object back.
 */

/** Such an integer, perhaps within a string. Most texts have none and need no second look. */
const LARGE = /(?:^|[:[,])\s*-?[1-9]\d{15}/
/** The strings and numbers of a JSON text. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/gs
const INTEGER = /^-?[1-9]\d{15,}$/

/** As `JSON.parse`, with bigints. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  if (!LARGE.test(text)) return JSON.parse(text)
  let found = false
  // Every string gets an `s` in front, so that a large integer can be one with a `b`, whatever the text says.
  const tagged = text.replace(TOKEN, (token) => {
    if (token.startsWith('"')) return `"s${token.slice(1)}`
    if (!INTEGER.test(token) || Number.isSafeInteger(Number(token))) return token
    found = true
    return `"b${token}"`
  })
  return found ? untagged(JSON.parse(tagged)) : JSON.parse(text)
}

function untagged(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('b') ? BigInt(value.slice(1)) : value.slice(1)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(untagged)
  // By entries, since a key `__proto__` is one like any other in JSON.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.slice(1), untagged(item)]))
}

/** As `JSON.stringify`, with a bigint as the integer it is. */
export function printJson(value: unknown): string {
  return holdsBigint(value) ? printed(value) : JSON.stringify(value)
}

function holdsBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(holdsBigint)
}

function printed(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(printed).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, item]) => item !== undefined)
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${printed(item)}`).join(',')}}`
}
