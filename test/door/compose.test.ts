/** Composing and the service level in the sandbox, over HTTP, as the README shows them. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Gateway, startSandbox } from './support/gateway.ts'
import { Processes } from './support/processes.ts'
import { blocksOf, README } from './support/readme.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const processes = new Processes()
let gateway: Gateway

beforeAll(async () => {
  gateway = await startSandbox(processes)
  await gateway.ready()
})
afterAll(() => processes.stop())

const post = async (body: string) => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(gateway.url, { method: 'POST', headers, body })
  return response.json()
}

/** The GraphQL document of the README that calls a mutation. */
const exampleOf = (field: string) =>
  blocksOf(README).find(({ language, text }) => language === 'graphql' && text.includes(field))?.text

it('shows what the README composes, and changes nothing', async () => {
  const { data, errors } = await post(JSON.stringify({ query: exampleOf('composePlan') }))
  expect(errors).toBeUndefined()
  expect(data.composePlan).toEqual({
    __typename: 'ComposePlanPayload',
    plan: { hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    changes: [{ part: 'VALUES', path: 'pd.decode.replicas', from: 1, to: 2 }],
    shadowed: [{ path: 'terminationGracePeriodSeconds', by: 'form', under: ['catalog'] }],
    warnings: [],
  })
  const { release } = await gateway.ask(
    '{ release(namespace: "team-b", name: "assistant-canary") { deployment { revision phase } } }',
  )
  expect(release.deployment).toEqual({ revision: 1, phase: 'APPLIED' })
})

it('refuses an integer of a variable that JSON would round, and takes it as YAML', async () => {
  const query = `mutation ($input: ComposePlanInput!) { composePlan(input: $input) {
    ... on ComposePlanPayload { changes { path to } } ... on InvalidInputError { issues { path } } } }`
  const send = (values: string) =>
    post(
      `{"query":${JSON.stringify(query)},"variables":{"input":{"namespace":"team-a","fromRelease":"docs-search",${values}}}}`,
    )
  expect((await send('"form":{"seed":[9007199254740993]}')).data.composePlan).toEqual({
    issues: [{ path: ['input', 'form', 'seed', '0'] }],
  })
  expect((await send('"formYaml":"seed: [9007199254740993]"')).data.composePlan).toEqual({
    changes: [{ path: 'seed', to: ['9007199254740993'] }],
  })
})

it('sets the service level as the README does, with the service and the profile that the sandbox brings', async () => {
  const thresholds = { minimumReplicas: 1, ttft: [{ statistic: 'P95', threshold: 2.5 }] }
  const read =
    '{ release(namespace: "team-a", name: "chat") { slo { ... on Slo { highPriority minimumReplicas maximumReplicas ttft { statistic threshold } } } } }'
  expect((await gateway.ask(read)).release.slo).toEqual({
    ...thresholds,
    highPriority: true,
    maximumReplicas: 4,
  })
  const { data, errors } = await post(JSON.stringify({ query: exampleOf('setSlo') }))
  expect(errors).toBeUndefined()
  expect(data.setSlo.slo).toEqual({ ...thresholds, highPriority: true, maximumReplicas: 6 })
  const { resetSlo } = await gateway.ask(
    'mutation { resetSlo(input: { namespace: "team-a", name: "chat" }) { ... on SetSloPayload { slo { highPriority } run { action outcome } } } }',
  )
  expect(resetSlo).toEqual({ slo: null, run: { action: 'RESET_SLO', outcome: 'SUCCEEDED' } })
})
