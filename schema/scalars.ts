import { GraphQLError, Kind, type ValueNode } from 'graphql'
import { type PlanValue, toJson } from '../services/plans/scalars.ts'
import { builder } from './builder.ts'

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/
const UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/

/** The same moment in UTC, or null when the text is no RFC 3339 time. What is UTC already stays as it is. */
export function toUtc(text: string): string | null {
  if (!RFC_3339.test(text)) return null
  const time = Date.parse(text)
  // Date.parse takes the 30th of February for the 2nd of March: such a day does not exist.
  const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)].map(Number)
  const daysInMonth = new Date(Date.UTC(year ?? 0, month ?? 0, 0)).getUTCDate()
  if (Number.isNaN(time) || (day ?? 0) > daysInMonth) return null
  return UTC.test(text) ? text : new Date(time).toISOString()
}

const unreadable = (message: string) => new GraphQLError(message, { extensions: { code: 'UNREADABLE' } })
const invalid = (message: string) => new GraphQLError(message, { extensions: { code: 'INVALID_INPUT' } })

builder.scalarType('DateTime', {
  description:
    'A moment as RFC 3339 text, always in UTC in answers (`2031-01-01T00:00:00Z`); as input any offset will do.',
  serialize: (value) => {
    // Nearly every time in a list is UTC already: one test is all it costs.
    if (UTC.test(value)) return value
    const time = Date.parse(value)
    if (Number.isNaN(time)) throw unreadable('What the cluster holds here is no time.')
    return new Date(time).toISOString()
  },
  parseValue: (value) => {
    const utc = typeof value === 'string' ? toUtc(value) : null
    if (utc === null) throw invalid('A DateTime must be RFC 3339 text, like 2031-01-01T00:00:00Z.')
    return utc
  },
})

builder.scalarType('JSON', {
  description: 'Any JSON value. An integer beyond 2^53 is a string in answers, so that no digit is lost.',
  serialize: (value) => toJson(value as PlanValue),
  parseValue: (value) => value,
  parseLiteral: (node, variables) => literal(node, variables ?? {}),
})

/** A literal with every digit: an integer that JSON would round is a bigint, for whoever takes it to refuse. */
function literal(node: ValueNode, variables: Record<string, unknown>): unknown {
  switch (node.kind) {
    case Kind.NULL:
      return null
    case Kind.INT:
      return Number.isSafeInteger(Number(node.value)) ? Number(node.value) : BigInt(node.value)
    case Kind.FLOAT:
      return Number(node.value)
    case Kind.LIST:
      return node.values.map((item) => literal(item, variables))
    case Kind.OBJECT:
      // By entries, since a key `__proto__` is one like any other.
      return Object.fromEntries(
        node.fields.map(({ name, value }) => [name.value, literal(value, variables)] as const),
      )
    case Kind.VARIABLE:
      return variables[node.name.value]
    default:
      return node.value
  }
}

builder.scalarType('Cursor', {
  description:
    'An opaque position in the event feed of one replica, for `since`. The cursors of pages are plain strings of their own.',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value === 'string') return value
    throw invalid('A Cursor must be the text that a connection, a payload or an event gave.')
  },
})
