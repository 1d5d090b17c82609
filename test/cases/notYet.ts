/** Something that is not built yet, and how a case that needs it shows that it is not. */
export interface NotYet {
  needs: string
  /** Part of what the case fails with; a failure without it is another one, and counts. */
  says: string
}

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
  'apply/autoscale-holds-lock.yaml': autoscaleLoop,
  'apply/refused-while-uninstalling.yaml': setAutoscale,
  'canary/rollback-and-autoscale-not-refused.yaml': setAutoscale,
}
