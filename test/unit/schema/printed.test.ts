import { readFileSync } from 'node:fs'
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  printSchema,
} from 'graphql'
import { expect, test } from 'vitest'
import { schema } from '../../../resolvers/index.ts'

test('schema.graphql is what the code prints', () => {
  const committed = readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8')
  expect(`${printSchema(schema)}\n`).toBe(committed)
})

test('every type, field, argument and enum value has a description', () => {
  const silent: string[] = []
  const look = (path: string, thing: { description?: string | null | undefined }) => {
    if (!thing.description?.trim()) silent.push(path)
  }
  let looked = 0
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue
    look(type.name, type)
    if (isEnumType(type)) for (const value of type.getValues()) look(`${type.name}.${value.name}`, value)
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) look(`${type.name}.${field.name}`, field)
    }
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const field of Object.values(type.getFields())) {
      looked++
      look(`${type.name}.${field.name}`, field)
      for (const arg of field.args) look(`${type.name}.${field.name}(${arg.name})`, arg)
    }
  }
  expect(looked).toBeGreaterThan(100)
  expect(silent).toEqual([])
})

test('the root fields are those of this version, no stubs', () => {
  const fields = (type: { getFields(): object } | null | undefined) => Object.keys(type?.getFields() ?? {})
  expect(fields(schema.getQueryType())).toEqual([
    'deployments',
    'deployment',
    'release',
    'runs',
    'run',
    'cluster',
    'viewer',
    'node',
    'nodes',
  ])
  expect(fields(schema.getMutationType())).toEqual([
    'uninstallRelease',
    'composePlan',
    'applyPlan',
    'rollbackRelease',
    'setAutoscale',
    'setSlo',
    'resetSlo',
  ])
  expect(fields(schema.getSubscriptionType())).toEqual([
    'deploymentPhaseChanged',
    'deploymentChanged',
    'deletionProgressed',
  ])
})
