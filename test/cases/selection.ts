import {
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { fieldOf, isMap, type Json } from './json.ts'

/**
 * Fields that leave the caches of the gateway: asked only when a case names them, so that a check does not call
 * what the case is about to forbid, or to count.
 */
const leavesTheCaches: Record<string, readonly string[]> = { Release: ['revisions', 'slo'] }

/**
 * Selects every field of a type, and of the types of its fields, `levels` deep; fields that need an argument are
 * left out. Lists and non-null make no level of their own.
 *
 * @param expected what the case expects there; fields that leave the caches are asked where it names them
 */
export function selectAll(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  expected: Json | undefined,
  levels = 2,
): string {
  if (isAbstractType(type)) return selectMembers(schema, type, expected, levels)
  if (!isObjectType(type)) throw new Error(`${type.name} has no fields`)
  const parts = Object.values(type.getFields()).map((field) => select(schema, type, field, expected, levels))
  return `{ ${['__typename', ...parts].filter((part) => part !== '').join(' ')} }`
}

function select(
  schema: GraphQLSchema,
  parent: GraphQLNamedType,
  field: GraphQLField<unknown, unknown>,
  expected: Json | undefined,
  levels: number,
): string {
  if (field.args.some(isRequiredArgument)) return ''
  if (leavesTheCaches[parent.name]?.includes(field.name) && !names(expected, field.name)) return ''
  const type = getNamedType(field.type)
  if (isLeafType(type)) return field.name
  if (levels === 0 || !isCompositeType(type)) return ''
  return `${field.name} ${selectAll(schema, type, inside(expected, field.name), levels - 1)}`
}

/**
 * A union is asked member by member. Two members may have a field of one name and of two types (`String` beside
 * `String!`), which one answer cannot hold: such a field gets an alias, and `withoutAliases` takes it off again.
 */
function selectMembers(
  schema: GraphQLSchema,
  type: GraphQLCompositeType,
  expected: Json | undefined,
  levels: number,
): string {
  if (!isAbstractType(type)) throw new Error(`${type.name} is no union`)
  const members = schema.getPossibleTypes(type)
  const seen = new Map<string, Set<string>>()
  for (const member of members) {
    for (const field of Object.values(member.getFields())) {
      seen.set(field.name, (seen.get(field.name) ?? new Set()).add(String(field.type)))
    }
  }
  const parts = members.map((member) => {
    const fields = Object.values(member.getFields()).map((field) => {
      const selected = select(schema, member, field, expected, levels)
      const clash = (seen.get(field.name)?.size ?? 0) > 1
      return selected !== '' && clash ? `${member.name}${mark}${field.name}: ${selected}` : selected
    })
    return `... on ${member.name} { ${['__typename', ...fields].join(' ')} }`
  })
  return `{ __typename ${parts.join(' ')} }`
}

const mark = '__as__'

/** Takes the aliases of `selectAll` off an answer. */
export function withoutAliases(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutAliases)
  if (!isMap(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.split(mark).at(-1) ?? key, withoutAliases(item)]),
  )
}

function names(expected: Json | undefined, key: string): boolean {
  if (Array.isArray(expected)) return expected.some((item) => names(item, key))
  return isMap(expected) && Object.hasOwn(expected, key)
}

function inside(expected: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(expected)) return expected.map((item) => inside(item, key) ?? null)
  return isMap(expected) ? fieldOf(expected, key) : undefined
}
