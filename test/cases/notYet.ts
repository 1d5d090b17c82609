/** Something that is not built yet, and how a case that needs it shows that it is not. */
export interface NotYet {
  needs: string
  /** Part of what the case fails with; a failure without it is another one, and counts. */
  says: string
}

/**
 * Cases of this folder that cannot pass yet, by path. Each is run all the same, and must fail for its reason: one
 * that passes, or fails otherwise, is a failure.
 */
export const notYet: Record<string, NotYet> = {}
