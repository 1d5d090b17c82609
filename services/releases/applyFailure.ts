/** Why an apply has failed, by how helm ended. Pure. */
import { type HelmResult, outputOf } from '../helm/result.ts'

export interface ApplyFailure {
  /** One sentence for status.yaml and the run; bounded where it is kept. */
  error: string
  /** What helm printed; bounded. */
  output: string
  /** Null when helm had no exit code (it was killed). */
  exitCode: number | null
}

/** What the run of an apply says when its gateway has gone before it ended. */
export const LOST = 'lost with its gateway'

/** helm's words where its newest record is pending: a helm was killed half-way, or somebody else runs one. */
export const ADVICE = /another operation \(install\/upgrade\/rollback\) is in progress/

/**
 * Null when helm has done what it was asked for.
 *
 * @param stopping the gateway is being shut down
 */
export function applyFailure(result: HelmResult, stopping: boolean): ApplyFailure | null {
  const output = outputOf(result)
  const because = (error: string): ApplyFailure => ({ error, output, exitCode: null })
  switch (result.kind) {
    case 'exited': {
      if (result.code === 0) return null
      const said = result.stderr.trim() || result.stdout.trim()
      const error = lastError(said) || `helm ended with exit code ${result.code} and printed nothing`
      return { error, output, exitCode: result.code }
    }
    case 'budget':
      return because('helm did not end within 15 minutes and was stopped')
    case 'killed':
      return because('helm was killed before it ended')
    case 'unstarted':
      return because(result.message)
    case 'lost':
      return because(stopping ? LOST : 'helm was stopped because the lock could not be kept')
  }
}

/** helm says its error last, behind warnings and its log. */
function lastError(said: string): string {
  const at = `\n${said}`.lastIndexOf('\nError: ')
  return at < 0 ? said : said.slice(at)
}
