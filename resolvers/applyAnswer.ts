import type { ApplyOutcome } from '../services/releases/outcome.ts'
import type { GatewayContext } from './context.ts'

/** The outcome of an apply or a rollback as the schema shows it. */
export function applyAnswer(outcome: ApplyOutcome, { feed }: GatewayContext) {
  if (outcome.kind !== 'Apply') return outcome
  const { position, ...payload } = outcome
  return { ...payload, cursor: feed.cursor(position) }
}
