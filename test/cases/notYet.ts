/** Something that is not built yet, and how a case that needs it shows that it is not. */
export interface NotYet {
  needs: string
  /** Part of what the case fails with; a failure without it is another one, and counts. */
  says: string
}

const llmServiceUninstall = {
  needs: 'the uninstall of an LLMService',
  says: 'uninstalling one is not supported yet',
}
const deletionProgressed = {
  needs: 'the subscription deletionProgressed',
  says: 'Cannot query field \\"deletionProgressed\\"',
}
const composePlan = { needs: 'the mutation composePlan', says: 'Cannot query field "composePlan"' }
const setAutoscale = { needs: 'the mutation setAutoscale', says: 'Cannot query field "setAutoscale"' }
const autoscaleLoop = { needs: 'the autoscale loop', says: 'there is no autoscale loop' }

/**
 * Cases of this folder that cannot pass yet, by path. Each is run all the same, and must fail for its reason: one
 * that passes, or fails otherwise, is a failure.
 */
export const notYet: Record<string, NotYet> = {
  'apply/autoscale-holds-helm.yaml': autoscaleLoop,
  'apply/autoscale-holds-llm-deleting.yaml': autoscaleLoop,
  'apply/autoscale-holds-llm-phase.yaml': autoscaleLoop,
  'apply/autoscale-holds-lock.yaml': composePlan,
  'apply/dead-holder.yaml': composePlan,
  'apply/external-not-upgraded.yaml': composePlan,
  'apply/install-refused-while-uninstalling.yaml': composePlan,
  'apply/lock-across-replicas.yaml': composePlan,
  'apply/refused-while-helm-runs.yaml': composePlan,
  'apply/refused-while-uninstalling.yaml': composePlan,
  'apply/reuse-source.yaml': composePlan,
  'apply/uninstall-while-apply-holds.yaml': composePlan,
  'canary/rollback-and-autoscale-not-refused.yaml': setAutoscale,
  'canary/writes-not-refused.yaml': composePlan,
  'llmservice/conflict-once.yaml': llmServiceUninstall,
  'llmservice/conflict-twice.yaml': llmServiceUninstall,
  'llmservice/delete-refused.yaml': llmServiceUninstall,
  'llmservice/deletion-passthrough.yaml': llmServiceUninstall,
  'llmservice/deletion-pods-passthrough.yaml': llmServiceUninstall,
  'llmservice/gone-before-delete.yaml': llmServiceUninstall,
  'llmservice/lock-held.yaml': llmServiceUninstall,
  'llmservice/operator-gone.yaml': llmServiceUninstall,
  'llmservice/phase-deleting.yaml': llmServiceUninstall,
  'llmservice/reap-on-notfound.yaml': llmServiceUninstall,
  'llmservice/reap-read-error.yaml': llmServiceUninstall,
  'llmservice/recreated-without-plan.yaml': llmServiceUninstall,
  'llmservice/recreated.yaml': llmServiceUninstall,
  'llmservice/repeat.yaml': llmServiceUninstall,
  'llmservice/restart-rebuilds.yaml': llmServiceUninstall,
  'llmservice/returns-at-once.yaml': llmServiceUninstall,
  'llmservice/uid-changed.yaml': llmServiceUninstall,
  'llmservice/unstaged-operator.yaml': llmServiceUninstall,
  'llmservice/vanished-while-down.yaml': llmServiceUninstall,
  'watch/deletion-progress-gone.yaml': deletionProgressed,
  'watch/llmservice-list-fails.yaml': llmServiceUninstall,
}
