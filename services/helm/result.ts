/** What a run of helm came to. */
export type HelmResult =
  /** helm has ended by itself. */
  | ({ kind: 'exited'; code: number } & HelmOutput)
  /** It ended without an exit code, by a signal from elsewhere (or its supervisor did). */
  | ({ kind: 'killed'; signal: string | null } & HelmOutput)
  /** Its time was over, and it was killed. */
  | ({ kind: 'budget' } & HelmOutput)
  /** The right to run it was over (the Lease, the gateway's shutdown), and it was killed. */
  | ({ kind: 'lost' } & HelmOutput)
  /** It could not be started. */
  | { kind: 'unstarted'; message: string }

/** What helm printed, bounded. */
export interface HelmOutput {
  stdout: string
  stderr: string
}

/** helm did not know the release: an uninstall that says so has nothing left to do. */
export function notFound(result: HelmResult): boolean {
  return result.kind === 'exited' && result.code !== 0 && result.stderr.includes('release: not found')
}

/** What helm printed, errors last, for people. */
export function outputOf(result: HelmResult): string {
  if (result.kind === 'unstarted') return result.message
  return [result.stdout.trim(), result.stderr.trim()].filter((text) => text !== '').join('\n')
}

/** The last line that a supervisor prints (`server/helm-supervisor.ts`). */
export interface SupervisorReport extends HelmOutput {
  code: number | null
  signal: string | null
  /** The system's code for why it could not be started: `ENOENT` … */
  error: string | null
  killedFor: 'asked' | 'deadline' | null
}

/**
 * The result of a run.
 *
 * @param report null when the supervisor ended without one: somebody killed it
 * @param asked why the runner asked for an end; null when it did not
 */
export function resultOf(report: SupervisorReport | null, asked: 'budget' | 'lost' | null): HelmResult {
  const { stdout, stderr } = report ?? { stdout: '', stderr: '' }
  if (report?.error) return { kind: 'unstarted', message: `helm could not be started (${report.error})` }
  // helm was quicker than whoever wanted to end it.
  if (report !== null && report.code !== null) return { kind: 'exited', code: report.code, stdout, stderr }
  if (asked !== null) return { kind: asked, stdout, stderr }
  if (report !== null && report.killedFor !== null) return { kind: 'lost', stdout, stderr }
  return { kind: 'killed', signal: report?.signal ?? null, stdout, stderr }
}
