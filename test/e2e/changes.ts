// Changing a release through a gateway: composed, applied, rolled back.
import assert from 'node:assert/strict'
import type { Ref } from './checks.ts'
import type { Gateway } from './gateway.ts'
import { type ChangeAnswer, COMPOSE, type ComposeAnswer } from './queries.ts'

/** Its hash. */
export async function compose(gateway: Gateway, input: Record<string, unknown>): Promise<string> {
  const { composePlan } = await gateway.ask<{ composePlan: ComposeAnswer }>(COMPOSE, { input })
  assert.equal(composePlan.__typename, 'ComposePlanPayload', JSON.stringify(composePlan))
  assert(composePlan.plan)
  return composePlan.plan.hash
}

/** The hash of the release's plan with this merged onto its form. */
export const composeForm = (gateway: Gateway, { namespace, name }: Ref, form: Record<string, unknown>) =>
  compose(gateway, { namespace, fromRelease: name, form })

/** Whatever it answers. */
export async function change(
  gateway: Gateway,
  query: string,
  input: Record<string, unknown>,
): Promise<ChangeAnswer> {
  const [answer] = Object.values(await gateway.ask<Record<string, ChangeAnswer>>(query, { input }))
  assert(answer)
  return answer
}

/** The change is made. */
export async function changed(
  gateway: Gateway,
  query: string,
  input: Record<string, unknown>,
  revision: number,
  action: string,
): Promise<void> {
  const answer = await change(gateway, query, input)
  assert.equal(answer.__typename, 'ApplyPlanPayload', JSON.stringify(answer))
  assert.deepEqual(
    [answer.revision, answer.deployment?.phase, answer.deployment?.revision, answer.run?.action],
    [revision, 'APPLIED', revision, action],
    JSON.stringify(answer),
  )
}
