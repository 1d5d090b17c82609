/** The media types of a GraphQL response; the second always answers 200 to a document that has errors. */
export type JsonType = 'application/graphql-response+json' | 'application/json'

interface Range {
  type: string
  q: number
}

/** What an Accept header leaves us to choose from. */
export interface Accepted {
  /** The JSON type that the client likes best, or null when it takes neither. */
  json: JsonType | null
  /** It takes server-sent events, by name: `*` does not mean a stream. */
  events: boolean
  /** It is a browser that shows a page. */
  html: boolean
}

/** Reads an Accept header. Absent means anything, which is the newer of the two JSON types. */
export function readAccept(header: string | undefined): Accepted {
  const ranges = parse(header?.trim() || '*/*')
  const named = (type: string) => ranges.some((range) => range.type === type)
  return { json: chooseJson(ranges), events: named('text/event-stream'), html: named('text/html') }
}

function chooseJson(ranges: Range[]): JsonType | null {
  for (const { type } of ranges) {
    if (type === 'application/json' || type === 'application/graphql-response+json') return type
    if (type === '*/*' || type === 'application/*') return 'application/graphql-response+json'
  }
  return null
}

/** The media ranges of a header, best first, without those that are refused (`q=0`). */
function parse(header: string): Range[] {
  return header
    .split(',')
    .map((part) => {
      const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
      const q = parameters.find((parameter) => parameter.startsWith('q='))
      return { type, q: q === undefined ? 1 : Number(q.slice(2)) }
    })
    .filter(({ q }) => q > 0)
    .sort((a, b) => b.q - a.q)
}
