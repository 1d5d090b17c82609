import { buildSchema, getNamedType, parse, print } from 'graphql'
import { describe, expect, it } from 'vitest'
import { selectAll, withoutAliases } from '../../cases/selection.ts'

const schema = buildSchema(/* GraphQL */ `
  type Query { deployment: Deployment result: Result }
  type Deployment { name: String! tags: [String!]! pods: [Pod!]! release: Release! find(id: ID!): Pod can(all: Boolean): Boolean }
  type Pod { name: String! node: Node }
  type Node { name: String! zone: Zone }
  type Zone { name: String! }
  type Release { exists: Boolean! revisions(first: Int = 20): Revisions slo: Int }
  type Revisions { totalCount: Int! }
  union Result = Payload | Failure
  type Payload { output: String deployment: Deployment }
  type Failure { output: String! }
`)

const select = (type: string, expected?: Parameters<typeof selectAll>[2]) => {
  const named = schema.getType(type)
  if (!named) throw new Error(type)
  return print(parse(selectAll(schema, getNamedType(named), expected)))
    .replace(/\s+/g, ' ')
    .trim()
}

describe('selectAll', () => {
  it('asks for every field two levels deep and leaves out what needs an argument', () => {
    expect(select('Deployment')).toBe(
      '{ __typename name tags pods { __typename name node { __typename name } } release { __typename exists } can }',
    )
  })

  it('asks for what leaves the caches only where it is named, in lists too', () => {
    expect(select('Release', { exists: true, revisions: { totalCount: 1 } })).toContain('revisions')
    expect(select('Deployment', [{ name: 'a' }, { release: { slo: null } }])).toContain('slo')
  })

  it('asks each member of a union and tells fields of two types apart', () => {
    const selected = select('Result')
    expect(selected).toContain('... on Payload { __typename Payload__as__output: output deployment {')
    expect(selected).toContain('... on Failure { __typename Failure__as__output: output }')
  })

  it('takes its aliases off again', () => {
    expect(withoutAliases([{ Failure__as__output: 'a', b: { Payload__as__c: null } }])).toEqual([
      { output: 'a', b: { c: null } },
    ])
  })
})
