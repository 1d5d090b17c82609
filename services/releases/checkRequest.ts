/** What a check is asked to do beyond looking at the caches. */
export interface CheckRequest {
  /** Look at the cluster even where the caches say that it is too early. */
  live: boolean
  /** helm may be started again for a run that was lost; only the loop and a repeated request ask for that. */
  mayRunHelm: boolean
  /** A caller asked again: helm is started although it has said once that it is done. */
  askedAgain: boolean
}
