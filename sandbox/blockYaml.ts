import { readFlowYaml, readScalar } from './flowYaml.ts'

/**
 * A reader of the block style that kubectl and helm write: maps, lists and scalars, quoted or plain, literal
 * blocks, flow collections on one line. It exists because the helm stand-in starts in every uninstall and loading a
 * whole YAML library would be most of its running time. JSON is read as JSON.
 *
 * Throws an Error with one sentence for what lies outside that subset (anchors, tags, multi-line plain scalars).
 */
export function readBlockYaml(text: string): unknown {
  const first = text.trimStart()[0]
  if (first === '{' || first === '[') return JSON.parse(text)
  const lines = toLines(text)
  const cursor: Cursor = { lines, at: 0 }
  const head = lines[0]
  if (head === undefined) return null
  const value = readNode(cursor, head.indent)
  const rest = lines[cursor.at]
  if (rest) throw outside(rest)
  return value
}

interface Line {
  indent: number
  text: string
  number: number
}

interface Cursor {
  lines: Line[]
  at: number
}

const outside = (line: Line) => new Error(`line ${line.number} is not YAML in block style: ${line.text}`)

function toLines(text: string): Line[] {
  const lines: Line[] = []
  // Inside a literal block everything deeper than its key belongs to it, comments and blank lines included.
  let literalAbove: number | undefined
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/\r$/, '')
    const indent = line.length - line.trimStart().length
    const content = line.slice(indent)
    if (literalAbove !== undefined) {
      if (content === '' || indent > literalAbove) {
        lines.push({ indent, text: content, number: index + 1 })
        continue
      }
      literalAbove = undefined
    }
    if (content === '' || content.startsWith('#') || content === '---') continue
    if (/(^|[:-] )[|>][+-]?\d?\s*(#.*)?$/.test(content)) {
      // In "- key: |" the block belongs to the key behind the dash.
      literalAbove = indent + (/^(?:- +(?=\S+:))+/.exec(content)?.[0].length ?? 0)
    }
    lines.push({ indent, text: content, number: index + 1 })
  }
  while (lines.at(-1)?.text === '') lines.pop()
  return lines
}

function readNode(cursor: Cursor, indent: number): unknown {
  const line = cursor.lines[cursor.at]
  if (!line || line.indent < indent) return null
  if (line.text === '-' || line.text.startsWith('- ')) return readList(cursor, line.indent)
  return readMap(cursor, line.indent)
}

function readList(cursor: Cursor, indent: number): unknown[] {
  const list: unknown[] = []
  for (;;) {
    const line = cursor.lines[cursor.at]
    if (!line || line.indent !== indent || !(line.text === '-' || line.text.startsWith('- '))) return list
    const rest = line.text.slice(1)
    const inner = rest.trimStart()
    if (inner === '') {
      cursor.at += 1
      list.push(readNode(cursor, indent + 1))
    } else if (splitKey(inner) || inner === '-' || inner.startsWith('- ')) {
      // "- key: value" begins a nested node: the dash counts as indentation.
      cursor.lines[cursor.at] = { ...line, indent: indent + 1 + rest.length - inner.length, text: inner }
      list.push(readNode(cursor, indent + 1))
    } else {
      cursor.at += 1
      list.push(readInline(cursor, inner, indent, line))
    }
  }
}

function readMap(cursor: Cursor, indent: number): Record<string, unknown> {
  const map: Record<string, unknown> = {}
  for (;;) {
    const line = cursor.lines[cursor.at]
    if (!line || line.indent < indent) return map
    const pair = line.indent === indent ? splitKey(line.text) : undefined
    if (!pair) throw outside(line)
    cursor.at += 1
    const value = withoutComment(pair.rest)
    if (value !== '') {
      map[pair.key] = readInline(cursor, value, indent, line)
      continue
    }
    const next = cursor.lines[cursor.at]
    // A list may stand at the indentation of its key; kubectl writes kubeconfigs that way.
    const listHere = next?.indent === indent && (next.text === '-' || next.text.startsWith('- '))
    map[pair.key] = next && (next.indent > indent || listHere) ? readNode(cursor, next.indent) : null
  }
}

function splitKey(text: string): { key: string; rest: string } | undefined {
  const match =
    /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#[\]{}&*!|>%@`,-][^#]*?|-[^\s#][^#]*?)\s*:(?:\s+(.*))?$/.exec(
      text,
    )
  if (!match?.[1]) return undefined
  const key = match[1]
  return { key: /^["']/.test(key) ? String(readScalar(key)) : key, rest: (match[2] ?? '').trim() }
}

function withoutComment(text: string): string {
  if (/^["']/.test(text)) return text.replace(/^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s+#.*$/, '$1')
  return text.replace(/(^|\s)#.*$/, '').trim()
}

function readInline(cursor: Cursor, text: string, indent: number, line: Line): unknown {
  const literal = /^([|>])([+-]?)/.exec(text)
  if (literal) return readLiteral(cursor, indent, literal[1] === '>', literal[2] === '-')
  if (/^[&*!%@`]/.test(text)) throw outside(line)
  if (!/^[[{]/.test(text)) return readScalar(text)
  try {
    return readFlowYaml(text)
  } catch {
    throw outside(line)
  }
}

function readLiteral(cursor: Cursor, indent: number, folded: boolean, strip: boolean): string {
  const taken: Line[] = []
  for (;;) {
    const line = cursor.lines[cursor.at]
    if (!line || (line.text !== '' && line.indent <= indent)) break
    taken.push(line)
    cursor.at += 1
  }
  const base = Math.min(...taken.filter((line) => line.text !== '').map((line) => line.indent))
  const text = taken
    .map((line) => (line.text === '' ? '' : ' '.repeat(line.indent - base) + line.text))
    .join(folded ? ' ' : '\n')
  return strip || text === '' ? text : `${text}\n`
}
