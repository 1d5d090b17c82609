import { randomUUID } from 'node:crypto'
import { getNamedType } from 'graphql'
import { CaseFailure, difference, errorLines } from './failure.ts'
import { firstGateway } from './gateways.ts'
import { defaultCaller, type Response } from './http.ts'
import { atPath, type Json, type JsonMap } from './json.ts'
import { withPatience } from './quiet.ts'
import { selectAll, withoutAliases } from './selection.ts'
import type { Answer, Asked, AwaitStep, GraphqlStep, MutationKey, MutationStep } from './stepFormat.ts'
import type { World } from './world.ts'

/** Root field of each mutation, and what its input has unless the case says otherwise. */
const mutations: Record<MutationKey, { field: string; input: JsonMap }> = {
  uninstall: { field: 'uninstallRelease', input: { waitFor: 'HELM' } },
  compose: { field: 'composePlan', input: {} },
  apply: { field: 'applyPlan', input: {} },
  rollback: { field: 'rollbackRelease', input: {} },
  autoscale: { field: 'setAutoscale', input: {} },
}

/** A request under way, and how to get from its response to what `expect` is about. */
export interface Pending {
  /** What the case calls it. */
  what: string
  response: Promise<Response>
  pick: (response: Response) => Json | undefined
}

/** Sends a mutation; its `expect` is of its result. */
export async function mutate(world: World, step: MutationStep): Promise<void> {
  const { field, input } = mutations[step.key]
  const { schema } = world.house
  const known = schema.getMutationType()?.getFields()[field]
  // A mutation that the schema does not have is sent all the same: the gateway's error says so.
  const type =
    known?.args.find(({ name }) => name === 'input')?.type ??
    `${field[0]?.toUpperCase()}${field.slice(1)}Input!`
  const selection = known ? selectAll(schema, getNamedType(known.type), step.expect) : '{ __typename }'
  const query = `mutation ($input: ${type}) { result: ${field}(input: $input) ${selection} }`
  const variables = { input: { ...input, ...step.value } }
  await start(world, step, { query, variables }, ({ data }) => (data ? atPath(data, 'result') : undefined))
}

/** Sends a document; its `expect` is of the whole response. */
export async function send(world: World, step: GraphqlStep): Promise<void> {
  const { query, variables } = step.value
  const document = variables ? { query, variables } : { query }
  await start(world, step, document, ({ data, errors }) => ({
    ...(data === undefined ? {} : { data }),
    ...(errors === undefined ? {} : { errors }),
  }))
}

/** Waits for the answer of a background step. */
export async function awaitAnswer(world: World, step: AwaitStep): Promise<void> {
  const pending = world.pending.get(step.value)
  if (!pending) throw new Error(`there is no background step ${step.value}`)
  world.pending.delete(step.value)
  await finish(world, pending, step)
}

async function start(
  world: World,
  step: { key: string } & Asked,
  document: { query: string; variables?: JsonMap },
  pick: Pending['pick'],
): Promise<void> {
  const name = step.background
  if (name === undefined) {
    const response = world.up(step.on).http.post(document, step.as ?? defaultCaller)
    return finish(world, { what: step.key, response, pick }, step)
  }
  if (world.pending.has(name)) throw new Error(`there is a background step ${name} already`)
  const gateway = world.gateways.get(step.on ?? firstGateway)
  const id = randomUUID()
  const arrived = world.gateways.arrival(id)
  const response = gateway
    ? gateway.http.post(document, step.as ?? defaultCaller, id)
    : Promise.reject(new Error('its gateway was down'))
  // Nobody has to await it, and then it may fail.
  const over = response.then(nothing, nothing)
  world.pending.set(name, { what: `${step.key} ${name}`, response, pick })
  if (!gateway) return
  await withPatience(`the arrival of ${step.key} ${name}`, Promise.race([arrived, over]))
  // What takes the same way through the server and starts later is answered later: so the step is under way.
  await gateway.http.post({ query: '{ __typename }' }, defaultCaller).then(nothing, nothing)
}

const nothing = () => {}

async function finish(world: World, { what, response, pick }: Pending, step: Answer): Promise<void> {
  const answer = await withPatience(`the answer of ${what}`, response, () => world.busy())
  const picked = pick(answer)
  const got = picked === undefined ? null : withoutAliases(picked)
  if (step.expect !== undefined) {
    const found = difference(what, step.expect, got)
    if (found) throw new CaseFailure(found + errorLines(answer.errors))
  } else if (answer.errors !== undefined) {
    throw new CaseFailure(`${what} was answered with errors${errorLines(answer.errors)}`)
  }
  for (const [name, path] of Object.entries(step.save ?? {})) {
    const value = atPath(got, path)
    if (value === undefined || value === null) throw new CaseFailure(`${what}: there is no ${path} to save`)
    world.saved.set(name, value)
  }
}
