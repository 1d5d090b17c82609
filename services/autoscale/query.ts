import type { ReleaseRef } from '../deployments/row.ts'

const VARIABLE = /^\$(namespace|release)(?![A-Za-z0-9_])/
const QUOTES = ['"', "'", '`']

/**
 * The PromQL of a policy for one release: `$namespace` and `$release` become its quoted label values, inside a
 * text the values without quotes. Whatever they hold, they stay values: what could end a text is escaped.
 */
export function queryFor(query: string, { namespace, name }: ReleaseRef): string {
  const values: Record<string, string> = { namespace, release: name }
  let open: string | null = null
  let result = ''
  for (let at = 0; at < query.length; ) {
    const variable = VARIABLE.exec(query.slice(at, at + 12))
    if (variable) {
      result += valueIn(open, values[variable[1] as string] as string)
      at += variable[0].length
      continue
    }
    const char = query[at] as string
    // A backslash says nothing between backquotes; elsewhere what follows it ends no text.
    const length = char === '\\' && open !== null && open !== '`' ? 2 : 1
    if (open === null && QUOTES.includes(char)) open = char
    else if (char === open) open = null
    result += query.slice(at, at + length)
    at += length
  }
  return result
}

/** @param quote the one that is open there; null outside of a text */
function valueIn(quote: string | null, value: string): string {
  if (quote === null) return JSON.stringify(value)
  if (quote === '`') return value.replaceAll('`', '')
  const escaped = JSON.stringify(value).slice(1, -1)
  return quote === "'" ? escaped.replaceAll("'", "\\'") : escaped
}
