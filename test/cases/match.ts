import { fieldOf, isMap, type Json, type JsonMap } from './json.ts'

/**
 * An expectation against a value: a map is a subset, a list has the same length and order, `"*"` is anything but
 * null, `/re/` a regular expression (on the compact JSON of a list or map), null is null or absent.
 */
export function matches(expected: Json, got: Json | undefined): boolean {
  if (expected === null) return got === null || got === undefined
  if (got === null || got === undefined) return false
  if (expected === '*') return true
  const pattern = regexOf(expected)
  if (pattern) return pattern.test(textOf(got))
  if (Array.isArray(expected)) {
    return (
      Array.isArray(got) &&
      got.length === expected.length &&
      expected.every((item, at) => matches(item, got[at]))
    )
  }
  if (isMap(expected)) {
    return isMap(got) && Object.entries(expected).every(([key, item]) => matches(item, fieldOf(got, key)))
  }
  return expected === got
}

/** The pattern that a string stands for, or undefined. Throws a SyntaxError when it is not a regular expression. */
export function regexOf(expected: Json): RegExp | undefined {
  if (typeof expected !== 'string' || expected.length < 3) return undefined
  return expected.startsWith('/') && expected.endsWith('/') ? new RegExp(expected.slice(1, -1)) : undefined
}

const textOf = (got: Json) => (typeof got === 'string' ? got : JSON.stringify(got))

const longest = 4_000
const cutText = (text: string) =>
  text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length - longest} more characters)`

/**
 * What `got` looks like to someone who only asked for `expected`: parts that match stand there as they were
 * expected, the rest as it is, cut to the keys that were asked for. Comparing the two line by line shows what is
 * wrong and nothing else.
 */
export function seenThrough(expected: Json, got: Json | undefined): Json {
  if (matches(expected, got)) return expected
  if (got === undefined) return null
  if (regexOf(expected)) return cutText(textOf(got))
  if (isMap(expected) && isMap(got)) {
    return Object.fromEntries(
      Object.entries(expected).map(([key, item]) => [key, seenThrough(item, fieldOf(got, key))]),
    )
  }
  if (Array.isArray(expected) && Array.isArray(got)) return seenList(expected, got)
  return summary(got)
}

/** Elements that match one of the expected, in order, stay beside it, so that one missing element is one hunk. */
function seenList(expected: Json[], got: Json[]): Json[] {
  const common = longestCommon(expected, got, matches)
  const shown: Json[] = []
  let nextExpected = 0
  let nextGot = 0
  for (const [atExpected, atGot] of [...common, [expected.length, got.length] as const]) {
    // Between two matches: pair what is left in order, then show the rest with the keys that others were asked for.
    for (; nextGot < atGot; nextGot++) {
      const partner = nextExpected < atExpected ? expected[nextExpected++] : undefined
      const item = got[nextGot] as Json
      shown.push(partner === undefined ? cutTo(keysOf(expected), item) : seenThrough(partner, item))
    }
    nextExpected = atExpected
    const match = expected[atExpected]
    if (match !== undefined) {
      shown.push(match)
      nextExpected++
      nextGot++
    }
  }
  return shown
}

const identity = ['namespace', 'name', 'phase', 'previousPhase', 'action', 'outcome', '__typename']

function keysOf(list: Json[]): string[] {
  const keys = new Set<string>()
  for (const item of list) if (isMap(item)) for (const key of Object.keys(item)) keys.add(key)
  return keys.size > 0 ? [...keys] : identity
}

function cutTo(keys: string[], got: Json): Json {
  if (!isMap(got)) return summary(got)
  const cut: JsonMap = {}
  for (const key of keys) if (Object.hasOwn(got, key)) cut[key] = summary(got[key] as Json)
  return Object.keys(cut).length > 0 ? cut : summary(got)
}

const summary = (got: Json): Json => {
  const text = JSON.stringify(got)
  return text.length <= longest ? got : cutText(text)
}

/** Pairs of positions of a longest common subsequence under `same`. */
export function longestCommon<A, B>(
  left: A[],
  right: B[],
  same: (a: A, b: B) => boolean,
): (readonly [number, number])[] {
  const width = right.length + 1
  const lengths = new Uint32Array((left.length + 1) * width)
  const at = (row: number, column: number) => lengths[row * width + column] as number
  for (let row = left.length - 1; row >= 0; row--) {
    for (let column = right.length - 1; column >= 0; column--) {
      lengths[row * width + column] = same(left[row] as A, right[column] as B)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const pairs: (readonly [number, number])[] = []
  for (let row = 0, column = 0; row < left.length && column < right.length; ) {
    if (same(left[row] as A, right[column] as B)) pairs.push([row++, column++])
    else if (at(row + 1, column) >= at(row, column + 1)) row++
    else column++
  }
  return pairs
}
