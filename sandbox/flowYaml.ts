/**
 * Reads one YAML collection in flow style on one line, such as `{a: b, c: [1, 'x']}`, and scalars. Throws an Error
 * for what is none of these.
 */
export function readFlowYaml(text: string): unknown {
  const reader = { text, at: 0 }
  const value = readValue(reader)
  skipSpace(reader)
  if (reader.at < text.length) throw outside(reader)
  return value
}

interface Reader {
  text: string
  at: number
}

const outside = ({ text }: Reader) => new Error(`this is not YAML in flow style: ${text}`)

function skipSpace(reader: Reader): void {
  while (reader.text[reader.at] === ' ') reader.at += 1
}

/** Moves over `sign` when it is next. */
function take(reader: Reader, sign: string): boolean {
  skipSpace(reader)
  if (reader.text[reader.at] !== sign) return false
  reader.at += 1
  return true
}

function readValue(reader: Reader): unknown {
  if (take(reader, '[')) {
    const list: unknown[] = []
    while (!take(reader, ']')) {
      list.push(readValue(reader))
      if (!take(reader, ',') && reader.text[reader.at] !== ']') throw outside(reader)
    }
    return list
  }
  if (take(reader, '{')) {
    const map: Record<string, unknown> = {}
    while (!take(reader, '}')) {
      const key = readValue(reader)
      if (!take(reader, ':')) throw outside(reader)
      skipSpace(reader)
      const valueless = [',', '}'].includes(reader.text[reader.at] ?? '')
      map[String(key)] = valueless ? null : readValue(reader)
      if (!take(reader, ',') && reader.text[reader.at] !== '}') throw outside(reader)
    }
    return map
  }
  skipSpace(reader)
  const rest = reader.text.slice(reader.at)
  // A plain scalar ends before what could be the collection's own: ": ", a comma, a closing bracket.
  const match =
    /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,[\]{}&*!|>'"%@`#:-](?:[^,[\]{}:]|:(?=[^\s,[\]{}]))*|-\d[\d.]*)/.exec(
      rest,
    )
  if (!match) throw outside(reader)
  reader.at += match[0].length
  return readScalar(match[0].trim())
}

/** A scalar on one line, quoted or plain, by the core schema of YAML 1.2 as far as kubectl and helm write it. */
export function readScalar(text: string): unknown {
  if (text.startsWith('"')) return JSON.parse(text)
  if (text.startsWith("'")) {
    if (!/^'(?:[^']|'')*'$/.test(text)) throw new Error(`this quoted text does not end: ${text}`)
    return text.slice(1, -1).replaceAll("''", "'")
  }
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null' || text === '~') return null
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text
}
