/** Schedules of one seed after the other, and what to say of one that fails. */
import { Coverage } from './coverage.ts'
import { generate } from './generate.ts'
import { type Outcome, runSchedule } from './runSchedule.ts'
import { describeStep, type Schedule } from './schedule.ts'
import { shrink } from './shrink.ts'
import type { Plant } from './world.ts'

export interface Failure {
  schedule: Schedule
  outcome: Outcome
  /** The shortest schedule found that breaks the same property, and how. */
  shortest: Schedule
  shortestOutcome: Outcome
}

export interface SoakOptions {
  seed: number
  runs: number
  /** Stop after so many. */
  maxFailures: number
  /** Real milliseconds for shortening one failure; 0 leaves it as it is. */
  shrinkMs: number
  plant?: Plant
  onFailure?: (failure: Failure) => void
  onRun?: (seed: number, ms: number) => void
}

/** Runs the schedules of `seed`, `seed + 1` … */
export async function soak(options: SoakOptions) {
  const { seed, runs, maxFailures, plant, onFailure, onRun } = options
  const coverage = new Coverage()
  const failures: Failure[] = []
  let done = 0
  for (; done < runs && failures.length < maxFailures; done++) {
    const began = performance.now()
    const schedule = generate(seed + done)
    const outcome = await runSchedule(schedule, plant)
    coverage.merge(outcome.coverage)
    onRun?.(schedule.seed, performance.now() - began)
    if (outcome.violations.length === 0) continue
    const failure = await examine(schedule, outcome, options)
    failures.push(failure)
    onFailure?.(failure)
  }
  return { runs: done, failures, coverage }
}

async function examine(
  schedule: Schedule,
  outcome: Outcome,
  { shrinkMs, plant }: SoakOptions,
): Promise<Failure> {
  const property = outcome.violations[0]?.property
  let shortestOutcome = outcome
  const shortest = await shrink(
    schedule,
    async (candidate) => {
      const again = await runSchedule(candidate, plant)
      const same = again.violations.some((violation) => violation.property === property)
      if (same) shortestOutcome = again
      return same
    },
    shrinkMs,
  )
  return { schedule, outcome, shortest, shortestOutcome }
}

/** A failure in words: its seed, what was broken, and the shortest schedule that still breaks it. */
export function report({ schedule, outcome, shortest, shortestOutcome }: Failure): string {
  const violated = ({ violations }: Outcome) =>
    violations.map(({ property, message }) => `  ${property}: ${message}`)
  return [
    `seed ${schedule.seed} (again: npm run soak -- --seed ${schedule.seed} --runs 1)`,
    ...violated(outcome),
    `shortest schedule found, ${shortest.steps.length} of ${schedule.steps.length} steps, ${shortest.replicas} replicas:`,
    ...shortest.releases.map((release, index) => `  release ${index}: ${JSON.stringify(release)}`),
    ...shortest.steps.map((step, index) => `  ${index + 1}. ${describeStep(step)}`),
    ...violated(shortestOutcome),
    'what subscribers were told:',
    ...shortestOutcome.told.map((line) => `  ${line}`),
  ].join('\n')
}
