/**
 * The one way in which other tools' YAML is read and ours is written. Nothing here ever quotes a text in a
 * message: plans hold secrets.
 */
import {
  type Alias,
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLParseError,
  type YAMLSeq,
} from 'yaml'
import { readPlainYaml } from './plainYaml.ts'
import { isPlanMap, keyOf, type PlanMap, type PlanValue, resolvePlain, setKey } from './scalars.ts'

/** A ConfigMap ends at 1 MiB, and so does what is read of one. */
export const MAX_YAML_BYTES = 1024 * 1024
/** More aliases than any plan has; each may also only unfold to so much (`MAX_NODES`). */
const MAX_ALIASES = 100
/** Values in a document once its aliases are unfolded: twice what 1 MiB can hold without any. */
const MAX_NODES = 1024 * 1024
const MAX_DEPTH = 200

export type YamlReading = { ok: true; value: PlanValue } | { ok: false; reason: string }

export interface ReadOptions {
  /** Every scalar is text, digit for digit (a version `1.10` stays that); null is the only other value. */
  asText?: boolean
}

/**
 * Reads one YAML document as helm does (`scalars.ts`); the last of several equal keys wins, as there. The
 * reason of a failure names a position and a kind of error, never the text.
 */
export function readYaml(text: string, options: ReadOptions = {}): YamlReading {
  if (Buffer.byteLength(text) > MAX_YAML_BYTES) return { ok: false, reason: 'is larger than 1 MiB' }
  const plain = text === '' ? null : readPlainYaml(text, options.asText === true)
  return plain === null ? parseYaml(text, options) : { ok: true, value: plain }
}

/** As `readYaml`, for any text. */
export function parseYaml(text: string, options: ReadOptions = {}): YamlReading {
  try {
    const lines = new LineCounter()
    const document = parseDocument(text, {
      schema: 'failsafe',
      version: '1.1',
      merge: false,
      resolveKnownTags: false,
      // Comparing every key with every other is quadratic, which a plan of 1 MiB must not be able to ask for.
      uniqueKeys: false,
      prettyErrors: false,
      lineCounter: lines,
      logLevel: 'error',
    })
    const error = document.errors[0]
    if (error) return { ok: false, reason: `is not valid YAML (${where(error, lines)})` }
    const walk = new Walk(options.asText === true)
    return { ok: true, value: walk.value(document.contents as Node | null, 0) }
  } catch (error) {
    if (error instanceof LimitError) return { ok: false, reason: error.message }
    // The parser is recursive: a text of nothing but brackets ends its stack.
    if (error instanceof RangeError) return { ok: false, reason: 'is nested too deeply' }
    throw error
  }
}

/** As `readYaml`, for a document that has to be a map; an empty text is one without keys. */
export function readYamlMap(
  text: string,
  options: ReadOptions = {},
): { ok: true; value: PlanMap } | { ok: false; reason: string } {
  const reading = readYaml(text, options)
  if (!reading.ok) return reading
  if (reading.value === null) return { ok: true, value: {} }
  if (!isPlanMap(reading.value)) return { ok: false, reason: 'is not a map' }
  return { ok: true, value: reading.value }
}

class LimitError extends Error {}

function where(error: YAMLParseError, lines: LineCounter): string {
  if (error.code === 'MULTIPLE_DOCS') return 'more than one document'
  const { line, col } = lines.linePos(error.pos[0])
  const kind = error.code.toLowerCase().replaceAll('_', ' ')
  return line > 0 ? `line ${line}, column ${col}: ${kind}` : kind
}

/** Turns a parsed document into plain values. Aliases share their target, and are counted as copies of it. */
class Walk {
  readonly #asText: boolean
  readonly #anchors = new Map<string, { value: PlanValue; nodes: number } | null>()
  #nodes = 0
  #aliases = 0

  constructor(asText: boolean) {
    this.#asText = asText
  }

  value(node: Node | null, depth: number): PlanValue {
    if (depth > MAX_DEPTH) throw new LimitError('is nested too deeply')
    if (isAlias(node)) return this.#alias(node)
    const anchor = (node as { anchor?: string } | null)?.anchor
    // Until its end an anchor stands for nothing: a value that holds itself cannot be unfolded.
    if (anchor) this.#anchors.set(anchor, null)
    const before = this.#nodes
    this.#count(1)
    const value = this.#own(node, depth)
    if (anchor) this.#anchors.set(anchor, { value, nodes: this.#nodes - before })
    return value
  }

  #own(node: Node | null, depth: number): PlanValue {
    if (isMap(node)) return this.#map(node as YAMLMap<Node, Node | null>, depth)
    if (isSeq(node)) return (node as YAMLSeq<Node>).items.map((item) => this.value(item, depth + 1))
    return isScalar(node) ? this.#scalar(node) : null
  }

  #scalar(node: Scalar): PlanValue {
    const text = typeof node.value === 'string' ? node.value : (node.source ?? '')
    // A tag names the type whatever the quotes (`!!int "3"`); one that nobody knows stands before a text.
    const tag = node.tag ?? null
    if (tag !== null && !/^tag:yaml\.org,2002:(int|float|bool|null)$/.test(tag)) return text
    if (tag === null && node.type !== undefined && node.type !== Scalar.PLAIN) return text
    const value = resolvePlain(text)
    return this.#asText && value !== null ? text : value
  }

  #map(node: YAMLMap<Node, Node | null>, depth: number): PlanMap {
    const own: PlanMap = {}
    const merged: PlanMap[] = []
    for (const { key, value } of node.items) {
      if (isScalar(key) && key.value === '<<' && key.type === Scalar.PLAIN) {
        merged.push(...this.#mergeSources(value, depth))
        continue
      }
      const name = keyOf(key === null ? null : this.value(key, depth + 1))
      if (name === null) throw new LimitError('has a key that is a list or a map')
      setKey(own, name, this.value(value, depth + 1))
    }
    if (merged.length === 0) return own
    // A key of the map itself wins over a merged one, and an earlier source over a later one.
    const all: PlanMap = {}
    for (const source of merged.reverse()) {
      for (const [key, value] of Object.entries(source)) setKey(all, key, value)
    }
    for (const [key, value] of Object.entries(own)) setKey(all, key, value)
    return all
  }

  #mergeSources(node: Node | null, depth: number): PlanMap[] {
    const value = this.value(node, depth + 1)
    const sources = Array.isArray(value) ? value : [value]
    return sources.map((source) => {
      if (!isPlanMap(source)) throw new LimitError('merges something that is not a map')
      return source
    })
  }

  #alias(node: Alias): PlanValue {
    if (++this.#aliases > MAX_ALIASES) throw new LimitError('has too many aliases')
    const target = this.#anchors.get(node.source)
    if (!target) throw new LimitError('has an alias that stands for nothing')
    this.#count(target.nodes)
    return target.value
  }

  #count(nodes: number): void {
    this.#nodes += nodes
    if (this.#nodes > MAX_NODES) throw new LimitError('has too many aliases')
  }
}

/** Characters that YAML 1.1 takes for line breaks, or refuses, when they stand there as they are. */
const SPECIAL =
  /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Writes a value so that readers of YAML 1.1 and 1.2 find the same types: whatever could be read otherwise is quoted. */
export function writeYaml(value: PlanValue): string {
  const document = new Document(value, {
    version: '1.1',
    compat: 'core',
    // A key `<<` of ours is a text, never a merge.
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !tag.tag.endsWith(':merge')),
    aliasDuplicateObjects: false,
  })
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && mustBeQuoted(node.value)) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  const text = document.toString({
    lineWidth: 0,
    blockQuote: 'literal',
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  })
  // Texts with such characters stand between double quotes now, where an escape says the same.
  return text.replace(SPECIAL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Texts that the package's own rules would leave plain or in a block, and that a reader could take for something else. */
export function mustBeQuoted(text: string): boolean {
  SPECIAL.lastIndex = 0
  if (SPECIAL.test(text)) return true
  // PyYAML takes no tab in a plain text.
  if (text.includes('\t')) return true
  if (text.includes('\n')) return /^\s/.test(text)
  return typeof resolvePlain(text) !== 'string' || /^[=<]|^\s|\s$/.test(text)
}
