import { expect, test } from 'vitest'
import type { GatewayContext } from '../../../resolvers/context.ts'
import type { ComposeOutcome, ComposeRequest } from '../../../services/releases/composeOutcome.ts'
import { parseJson } from '../../../services/runtime/json.ts'
import { ask } from './ask.ts'
import { fakeContext } from './fakes.ts'

const document = `mutation ($input: ComposePlanInput!) { composePlan(input: $input) {
  __typename
  ... on ComposePlanPayload {
    plan { hash values } shadowed { path by under } changes { part path from to } warnings
  }
  ... on UserError { message code retryable }
  ... on ForbiddenError { permission }
  ... on InvalidInputError { issues { path message } }
} }`

const composed: ComposeOutcome = {
  kind: 'Composed',
  plan: {
    hash: 'abc',
    engine: null,
    profile: null,
    chart: null,
    source: null,
    layers: [],
    values: { seed: 9007199254740993n },
  },
  shadowed: [{ path: 'a', by: 'form', under: ['catalog', 'site'] }],
  changes: [{ part: 'VALUES', path: 'seed', from: null, to: 9007199254740993n }],
  warnings: ['w'],
}

function answering(outcome: ComposeOutcome, part: Partial<GatewayContext> = {}) {
  const asked: { request: ComposeRequest; actor: string }[] = []
  const compose: GatewayContext['composer']['compose'] = async (request, actor) => {
    asked.push({ request, actor: actor.name })
    return outcome
  }
  return { asked, context: fakeContext({ composer: { compose }, ...part }) }
}
const chat = { namespace: 'team-a', fromRelease: 'chat' }

test('the composed plan is answered with what wins, what changes and every digit', async () => {
  const { asked, context } = answering(composed)
  expect((await ask(document, context, { input: chat })).data.composePlan).toEqual({
    __typename: 'ComposePlanPayload',
    plan: { hash: 'abc', values: { seed: '9007199254740993' } },
    shadowed: [{ path: 'a', by: 'form', under: ['catalog', 'site'] }],
    changes: [{ part: 'VALUES', path: 'seed', from: null, to: '9007199254740993' }],
    warnings: ['w'],
  })
  expect(asked).toEqual([
    {
      actor: 'user-a',
      request: {
        ...chat,
        name: null,
        plan: null,
        planYaml: null,
        reuseSource: true,
        form: null,
        formYaml: null,
        edits: null,
        editsYaml: null,
        chartVersion: null,
      },
    },
  ])
})

test('digits of JSON come to the service, in a literal and in variables, so that it can refuse them', async () => {
  const { asked, context } = answering(composed)
  const variables = parseJson(
    '{"input":{"namespace":"team-a","fromRelease":"chat","form":{"a":[9007199254740993]}}}',
  )
  await ask(document, context, variables as Record<string, unknown>)
  await ask(
    `mutation ($n: JSON) { composePlan(input: { namespace: "team-a", fromRelease: "chat",
      form: { a: [9007199254740993], b: -1, c: 1.5, d: "x", e: true, f: null, g: $n, h: WORD, __proto__: 1 } }) { __typename } }`,
    context,
    { n: { x: 1 } },
  )
  expect(asked[0]?.request.form).toEqual({ a: [9007199254740993n] })
  const form = asked[1]?.request.form as Record<string, unknown>
  expect(Object.entries(form)).toEqual([
    ['a', [9007199254740993n]],
    ['b', -1],
    ['c', 1.5],
    ['d', 'x'],
    ['e', true],
    ['f', null],
    ['g', { x: 1 }],
    ['h', 'WORD'],
    ['__proto__', 1],
  ])
})

test('it needs the permission to deploy; a read-only gateway says that it is one', async () => {
  const forbidden = answering(composed, { can: () => ['VIEW', 'UNINSTALL'] })
  expect((await ask(document, forbidden.context, { input: chat })).data.composePlan).toMatchObject({
    __typename: 'ForbiddenError',
    code: 'FORBIDDEN',
    permission: 'DEPLOY',
    retryable: false,
  })
  expect(forbidden.asked).toEqual([])
})

test('names and the version are looked at before anybody is asked', async () => {
  const { asked, context } = answering(composed)
  const input = { namespace: 'Team', name: '../x', fromRelease: 'chat', chartVersion: 'x'.repeat(300) }
  expect((await ask(document, context, { input })).data.composePlan).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [
      { path: ['input', 'namespace'] },
      { path: ['input', 'name'] },
      { path: ['input', 'chartVersion'] },
    ],
  })
  expect(asked).toEqual([])
})
