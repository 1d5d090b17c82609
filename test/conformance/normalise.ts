import type { Json } from './json.ts'
import type { Step } from './session.ts'

interface Names {
  namespace: string
  unique: string
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
/** Numbers in messages that are versions of this cluster. */
const versionInText = [
  /(too old resource version: )\d+ \(\d+\)/g,
  /(Too large resource version: \d+, current: )\d+/g,
  /(ResourceVersion: )\d+(?=, AdditionalErrorMsg)/g,
]
/** Times are compared to the second a request was sent in; what lies this far ahead is told as a distance. */
const NOW_SECONDS = 4
const ROUND_SECONDS = 5
const DAY_MS = 86_400_000

/**
 * Replaces what changes from run to run by words that still say what is equal and what comes before what:
 *
 * - uids: `uid-1`, `uid-2` in the order they appear
 * - versions of objects: `v1`, `v2` by rank; those of lists, tables and bookmarks: `at least v2`, the newest version of
 *   an object that they cover (others write to a real cluster in between)
 * - times: `time`, `microtime`, or `time+30s` where they lie ahead; times that the probe has made up stay
 * - generated names, continue tokens, the namespace, the run's own names
 *
 * `managedFields` are left out: nobody who reads through this suite looks at them.
 */
export function normalise(steps: Step[], sent: string[], names: Names): unknown[] {
  const versions = new Set<number>()
  for (const { seen } of steps) collectVersions(seen, versions)
  const ranked = [...versions].sort((one, other) => one - other)
  const words = new Words(ranked, sent, names)
  return steps.map((step) => words.of(step))
}

function collectVersions(value: unknown, found: Set<number>): void {
  if (Array.isArray(value)) for (const one of value) collectVersions(one, found)
  if (typeof value !== 'object' || value === null) return
  const record = value as Json
  const version = record.metadata?.resourceVersion
  if (typeof version === 'string' && version !== '' && !coversOthers(record)) found.add(Number(version))
  for (const member of Object.values(record)) collectVersions(member, found)
}

/** A list, a table or a bookmark: its version is that of the whole. */
function coversOthers(record: Json): boolean {
  return 'items' in record || 'rows' in record || record.metadata?.name === undefined
}

class Words {
  readonly #versions: number[]
  readonly #sent: string
  readonly #names: Names
  readonly #uids = new Map<string, string>()
  readonly #tokens = new Map<string, string>()
  readonly #generated = new Map<string, string>()
  #now = 0

  constructor(versions: number[], sent: string[], names: Names) {
    this.#versions = versions
    this.#sent = sent.join('\n')
    this.#names = names
  }

  of(step: Step): unknown {
    this.#now = step.at
    // The order of its members tells what happened; only what is below them gets sorted.
    return Object.fromEntries(Object.entries(step.seen).map(([key, one]) => [key, this.#value(one, key)]))
  }

  #value(value: unknown, key: string): unknown {
    if (typeof value === 'string') return this.#text(value, key)
    if (Array.isArray(value)) return value.map((one) => this.#value(one, ''))
    if (typeof value !== 'object' || value === null) return value
    const record = value as Json
    const { generateName, name } = record
    if (typeof generateName === 'string' && typeof name === 'string' && name !== generateName) {
      this.#generated.set(name, `${generateName}*`)
    }
    const entries: [string, unknown][] = []
    for (const [member, one] of Object.entries(record)) {
      if (member === 'managedFields') continue
      const covers = member === 'metadata' && typeof one === 'object' && one !== null && coversOthers(record)
      const word = covers ? this.#covering(one as Json) : this.#value(one, member)
      entries.push([this.#text(member, ''), word])
    }
    // Go writes the members of a type in their order, JavaScript in the order of their making.
    return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)))
  }

  #covering(metadata: Json): unknown {
    const { resourceVersion, ...rest } = metadata
    const words = this.#value(rest, 'metadata') as Json
    if (typeof resourceVersion !== 'string') return words
    return { ...words, resourceVersion: resourceVersion === '' ? '' : this.#atLeast(Number(resourceVersion)) }
  }

  #atLeast(version: number): string {
    const covered = this.#versions.filter((one) => one <= version).length
    return covered === 0 ? 'before all' : `at least v${covered}`
  }

  #text(text: string, key: string): string {
    if (key === 'resourceVersion') return this.#version(text)
    if (key === 'continue' && text !== '') return numbered(this.#tokens, text, 'token')
    if (time.test(text) && !this.#isOwn(text)) return this.#time(text)
    let words = text.replace(uuid, (uid) => numbered(this.#uids, uid, 'uid'))
    for (const [name, word] of this.#generated) words = words.replaceAll(name, word)
    words = words.replaceAll(this.#names.namespace, '{namespace}').replaceAll(this.#names.unique, '{unique}')
    for (const pattern of versionInText) words = words.replace(pattern, '$1{version}')
    words = words.replace(
      /([?&]resourceVersion=)(\d{2,})/,
      (_all, before: string, version: string) =>
        `${before}${this.#versions.includes(Number(version)) ? this.#version(version) : '{version}'}`,
    )
    words = words.replace(
      /([?&]continue=)([^&]+)/,
      (_all, before: string, token: string) =>
        `${before}${this.#tokens.get(decodeURIComponent(token)) ?? (token.startsWith('eyJ') ? '{token}' : token)}`,
    )
    return words.replace(
      /((?:Version|record) \(|in record \()(\d{2,})(?=\))/g,
      (_all, before: string, version: string) => `${before}${this.#version(version)}`,
    )
  }

  /** Whether the probe has made it up; one of today may be the server's, sent back. */
  #isOwn(text: string): boolean {
    return this.#sent.includes(text) && Math.abs(Date.parse(text) - this.#now) > DAY_MS
  }

  #time(text: string): string {
    if (text.includes('.')) return /\.\d{6}Z$/.test(text) ? 'microtime' : 'time with a fraction'
    const ahead = (Date.parse(text) - this.#now) / 1000
    return ahead < NOW_SECONDS ? 'time' : `time+${Math.round(ahead / ROUND_SECONDS) * ROUND_SECONDS}s`
  }

  #version(text: string): string {
    if (!/^\d+$/.test(text)) return text
    const rank = this.#versions.indexOf(Number(text))
    return rank < 0 ? (Number(text) < 2 ? text : this.#atLeast(Number(text))) : `v${rank + 1}`
  }
}

function numbered(known: Map<string, string>, text: string, word: string): string {
  const number = known.get(text) ?? `${word}-${known.size + 1}`
  known.set(text, number)
  return number
}
