import type { PlanObject } from '../plans/planObject.ts'
import type { Progress } from './inputs.ts'
import type { LLMServiceObject } from './llmService.ts'
import type { ReleaseRef } from './row.ts'

/** Objects of an uninstall in progress, kept beside the caches. */
export interface Retained {
  plan: PlanObject | null
  mark: PlanObject | null
  /** The LLMService that is being deleted. */
  service: LLMServiceObject | null
  /** resourceVersion of the plan that this gateway's mark replaced; null when it did not write the mark. */
  replaced: string | null
}

/** What the view asks of whoever carries uninstalls through. */
export interface UninstallProgress {
  progress(ref: ReleaseRef): Progress | null
  /** The plan and the mark of an uninstall that is not over, also when they have left the caches. */
  retained(ref: ReleaseRef): Retained | null
  /** True when the object of that uid has been reaped: the caches may still hold it for a moment. */
  reaped(uid: string): boolean
}
