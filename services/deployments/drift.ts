import type { Drift, Row } from './row.ts'

/** What the choice of a drift looks at; gathered by `derive`. */
export interface DriftFacts {
  phase: Row['phase']
  stage: string | null
  unreadable: string | null
  /** Action and error of the last operation, as status.yaml or the operator says. */
  lastAction: string | null
  lastError: string | null
  failed: boolean
  applying: boolean
  lockHeld: boolean
  planWithoutRelease: boolean
  cleanupPending: boolean
}

/** The one drift that is shown: the first that holds, in the order of the contract (section 2). */
export function drift(facts: DriftFacts): Drift | null {
  if (facts.phase === 'UNINSTALLING') {
    const stage = facts.stage === null ? '' : `: ${facts.stage}`
    return { kind: 'UNINSTALL_IN_PROGRESS', message: `uninstall in progress${stage}` }
  }
  if (facts.unreadable !== null) return { kind: 'UNREADABLE', message: facts.unreadable }
  if (facts.applying && !facts.lockHeld) {
    return { kind: 'APPLY_UNFINISHED', message: 'an apply was begun and nobody is working on it any more' }
  }
  if (facts.failed) {
    const because = facts.lastError === null ? '' : `: ${facts.lastError}`
    return facts.lastAction === 'uninstall'
      ? { kind: 'LAST_UNINSTALL_FAILED', message: `the last uninstall failed${because}` }
      : { kind: 'LAST_APPLY_FAILED', message: `the last apply failed${because}` }
  }
  if (facts.planWithoutRelease) {
    return { kind: 'PLAN_WITHOUT_RELEASE', message: 'there is a plan, but helm has no release of that name' }
  }
  if (facts.cleanupPending) {
    return {
      kind: 'CLEANUP_UNFINISHED',
      message: 'a plan of an earlier helm release is left beside the LLMService',
    }
  }
  return null
}
