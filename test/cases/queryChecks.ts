import { getNamedType } from 'graphql'
import type { Check } from './checkFormat.ts'
import { difference, errorLines } from './failure.ts'
import { atPath, fieldOf, isMap, type Json, type JsonMap } from './json.ts'
import { selectAll, withoutAliases } from './selection.ts'
import type { Caller } from './stepFormat.ts'
import type { World } from './world.ts'

/** The largest page a list gives. */
const pageSize = 500

/** A check that is answered by one field of Query. */
interface Asked {
  check: 'rows' | 'row' | 'release' | 'runs'
  field: string
  args: JsonMap
  /** Where in its answer the things are that are expected, when it is a list of them. */
  list: boolean
  expected: Json
}

/** The checks that are queries. One operation for all, so that they see the same moment. */
export async function checkAnswers(
  world: World,
  check: Check,
  on: string | undefined,
  as: Caller | undefined,
): Promise<(string | undefined)[]> {
  const { rows, row, release, runs } = check
  const asked: Asked[] = []
  if (rows !== undefined)
    asked.push({ check: 'rows', field: 'deployments', args: {}, list: true, expected: rows })
  if (row) asked.push({ check: 'row', field: 'deployment', args: nameOf(row), list: false, expected: row })
  if (release)
    asked.push({ check: 'release', field: 'release', args: nameOf(release), list: false, expected: release })
  if (runs !== undefined) asked.push({ check: 'runs', field: 'runs', args: {}, list: true, expected: runs })
  if (asked.length === 0) return []

  await world.house.flush()
  const gateway = world.up(on)
  const answer = await world.ask({ query: documentOf(world, asked) }, gateway, as)
  const data: JsonMap = {}
  for (const item of asked) {
    const value = atPath(answer.data ?? null, item.check)
    data[item.check] = withoutAliases(
      item.list ? await allPages(world, item, value, on, as) : (value ?? null),
    )
  }
  // The log is asked newest first and expected oldest first.
  if (Array.isArray(data.runs)) data.runs.reverse()
  return asked.map((item) => {
    const found = difference(item.check, item.expected, data[item.check])
    return found && found + errorLines(errorsOf(answer.errors, item.check))
  })
}

const nameOf = ({ namespace, name }: { namespace: string; name: string }) => ({ namespace, name })

/** Errors of one check, and those of the whole document. */
function errorsOf(errors: Json | undefined, check: string): Json {
  if (!Array.isArray(errors)) return []
  return errors.filter((error) => {
    const path = isMap(error) ? fieldOf(error, 'path') : undefined
    return !Array.isArray(path) || path[0] === check
  })
}

function documentOf({ house: { schema } }: World, asked: Asked[]): string {
  const fields = schema.getQueryType()?.getFields() ?? {}
  const parts = asked.map(({ check, field, args, list, expected }) => {
    const type = fields[field] && getNamedType(fields[field].type)
    if (!type) throw new Error(`the schema has no query ${field}`)
    const given = list ? { first: pageSize, ...args } : args
    const written = Object.entries(given).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    if (!list) return `${check}: ${field}(${written.join(', ')}) ${selectAll(schema, type, expected)}`
    const node = 'getFields' in type ? type.getFields().nodes : undefined
    if (!node) throw new Error(`${field} has no nodes`)
    const nodes = selectAll(schema, getNamedType(node.type), expected)
    return `${check}: ${field}(${written.join(', ')}) { nodes ${nodes} pageInfo { hasNextPage endCursor } }`
  })
  return `{ ${parts.join('\n')} }`
}

/** The nodes of the first page and of all that follow it. */
async function allPages(
  world: World,
  item: Asked,
  first: Json | undefined,
  on: string | undefined,
  as: Caller | undefined,
): Promise<Json> {
  const nodes = isMap(first) ? first.nodes : undefined
  if (!isMap(first) || !Array.isArray(nodes)) return null
  if (atPath(first, 'pageInfo.hasNextPage') !== true) return nodes
  const after = atPath(first, 'pageInfo.endCursor') ?? null
  const next = { ...item, args: { ...item.args, after } }
  const answer = await world.ask({ query: documentOf(world, [next]) }, world.up(on), as)
  const rest = await allPages(world, next, atPath(answer.data ?? null, item.check), on, as)
  return Array.isArray(rest) ? [...nodes, ...rest] : null
}
