import { type PlanMap, resolvePlain, setKey } from './scalars.ts'

/** Nothing that YAML could mean something else by: no tabs, no line breaks of other alphabets, no escapes. */
const PRINTABLE = /^[\x20-\x7e\n]*$/
/**
 * `key:`, `key: plain text`, `key: "quoted"` or `key: 'quoted'`, with any indentation. A plain text has no
 * `: ` and no ` #` in it, no indicator in front, and neither does a quoted one hold a quote or a backslash.
 */
const LINE =
  /^( *)([A-Za-z_][\w.-]*):(?: (?:((?:-?[A-Za-z0-9.]|[_/])(?:[\w./@+=,()-]|:(?=[^ ])| (?=[^ #]))*)|"([^"\\]*)"|'([^']*)'))?$/
const MAX_DEPTH = 50

/**
 * Reads the little YAML that plans and statuses nearly always are written in: maps in block style, with one
 * scalar a line. It is some thirty times faster than a whole parser, which counts at a start with thousands
 * of plans.
 *
 * @returns null for any text that is more than that, or broken: then the parser has the word
 */
export function readPlainYaml(text: string, asText: boolean): PlanMap | null {
  if (!PRINTABLE.test(text)) return null
  const root: PlanMap = {}
  const open = [{ indent: 0, map: root }]
  /** A key whose value, if there is one, is the map on the lines below. */
  let waiting: { indent: number; map: PlanMap; key: string } | null = null
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (const line of lines) {
    const match = LINE.exec(line)
    if (!match) return null
    const [, indentation = '', name = '', plain, double, single] = match
    const indent = indentation.length
    if (waiting !== null && indent > waiting.indent) {
      const map: PlanMap = {}
      setKey(waiting.map, waiting.key, map)
      open.push({ indent, map })
    }
    while (open.length > 1 && (open.at(-1)?.indent ?? 0) > indent) open.pop()
    const top = open.at(-1)
    if (!top || top.indent !== indent || open.length > MAX_DEPTH) return null
    const said = resolvePlain(name)
    const key = asText && said !== null ? name : String(said)
    const quoted = double ?? single
    const resolved = quoted === undefined ? resolvePlain(plain ?? '') : quoted
    setKey(top.map, key, asText && plain !== undefined && resolved !== null ? plain : resolved)
    waiting = plain === undefined && quoted === undefined ? { indent, map: top.map, key } : null
  }
  return root
}
