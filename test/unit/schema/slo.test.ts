import { expect, test } from 'vitest'
import type { GatewayContext } from '../../../resolvers/context.ts'
import { ask } from './ask.ts'
import { fakeContext } from './fakes.ts'

const chat = { namespace: 'team-a', name: 'chat' }
const mutation = (field: string, type: string) =>
  `mutation ($input: ${type}!) { it: ${field}(input: $input) {
    __typename ... on UserError { code } ... on ForbiddenError { permission } ... on InvalidInputError { issues { path } } } }`
const set = mutation('setSlo', 'SetSloInput')
const reset = mutation('resetSlo', 'ResetSloInput')
const counting = (part: Partial<GatewayContext> = {}) => {
  const asked: unknown[] = []
  const refuse = async (request: unknown) => {
    asked.push(request)
    return { kind: 'ReadOnly' as const, message: 'this gateway is read-only' }
  }
  const read = async () => ({ kind: 'Slo' as const, slo: null })
  return { asked, context: fakeContext({ slo: { read, set: refuse, reset: refuse }, ...part }) }
}

test('both need the permission to deploy', async () => {
  const { asked, context } = counting({ can: () => ['VIEW', 'UNINSTALL'] })
  for (const document of [set, reset]) {
    expect((await ask(document, context, { input: chat })).data.it).toEqual({
      __typename: 'ForbiddenError',
      code: 'FORBIDDEN',
      permission: 'DEPLOY',
    })
  }
  expect(asked).toEqual([])
})

test('what is left out is null for the service, and its refusal is the answer', async () => {
  const { asked, context } = counting()
  for (const document of [set, reset]) {
    expect((await ask(document, context, { input: chat })).data.it).toMatchObject({
      __typename: 'ReadOnlyError',
    })
  }
  const nothing = {
    route: null,
    priority: null,
    highPriority: null,
    minimumReplicas: null,
    maximumReplicas: null,
  }
  expect(asked).toEqual([{ ...chat, ...nothing, ttft: null, otps: null }, chat])
})

test('names that cannot be one are refused by their path', async () => {
  const { asked, context } = counting()
  const input = { namespace: 'Team', name: '../x' }
  for (const document of [set, reset]) {
    expect((await ask(document, context, { input })).data.it).toMatchObject({
      issues: [{ path: ['input', 'namespace'] }, { path: ['input', 'name'] }],
    })
  }
  expect(asked).toEqual([])
})
