/**
 * A row from what the cluster holds: pure, so that the list, the detail and an event cannot disagree, and so
 * that a row can be made anew for the moment of a read.
 */
import { type CanaryKeys, DEFAULT_CANARY_KEYS } from '../canary/relationship.ts'
import { helmRow } from './helmRow.ts'
import type { ReleaseInputs } from './inputs.ts'
import { llmServiceRow, vanishedServiceRow } from './llmServiceRow.ts'
import { openUninstall } from './openUninstall.ts'
import type { Row } from './row.ts'

/**
 * The row of a release, true for `now` (milliseconds, by the API server's clock); null when it has none.
 * Section 1.6 of the contract chooses the backend: an LLMService that can be seen, else a plan.
 */
export function derive(
  inputs: ReleaseInputs,
  now: number,
  canaryKeys: CanaryKeys = DEFAULT_CANARY_KEYS,
): Row | null {
  const { llmService, plan, mark } = inputs
  if (llmService !== null) return llmServiceRow(inputs, llmService, now, canaryKeys)
  const uninstall = openUninstall(plan, mark)
  if (uninstall?.backend === 'LLMSERVICE') return vanishedServiceRow(inputs, uninstall.marked, now)
  // A plan that somebody deleted while its release was being uninstalled: the mark made in its stead has the row.
  const carrier = plan ?? (mark?.status?.run?.planUid ? mark : null)
  if (carrier !== null) return helmRow(inputs, carrier, now)
  return null
}
