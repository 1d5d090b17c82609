import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from './connection.ts'
import type { Probe, Subject } from './probe.ts'
import { subjects } from './probes/subjects.ts'
import type { Hooks } from './session.ts'
import { Session } from './session.ts'

/** What a cluster answered to the probes of a subject, by the probe's name. */
export type Answers = Record<string, unknown[]>

export interface Outcome {
  subject: string
  probe: string
  /** The answer; or why there is none. */
  seen: { answer: unknown[] } | { error: Error } | { leftOut: string }
}

export interface Run {
  connection: Connection
  hooks: Hooks
  /** How many probes run at once. */
  width: number
  /** Whether a probe is wanted, by `subject` or `subject/probe`. */
  wanted?: (subject: string, probe: string) => boolean
  /** Called when a probe is over. */
  onOutcome?: (outcome: Outcome) => void
}

/** Runs the probes, each in a namespace of its own, and takes away what they have made. Never rejects for a probe. */
export async function runSuite(run: Run): Promise<Outcome[]> {
  const unique = randomBytes(3).toString('hex')
  const queue = subjects.flatMap((subject) =>
    subject.probes
      .filter((probe) => run.wanted?.(subject.name, probe.name) !== false)
      .map((probe) => ({ subject, probe })),
  )
  const outcomes: Outcome[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < queue.length; index = next++) {
      const job = queue[index]
      if (job === undefined) return
      const outcome = await runProbe(run, job.subject, job.probe, `${unique}-${index}`)
      outcomes[index] = outcome
      run.onOutcome?.(outcome)
    }
  }
  await Promise.all(Array.from({ length: run.width }, worker))
  return outcomes
}

async function runProbe(run: Run, subject: Subject, probe: Probe, unique: string): Promise<Outcome> {
  const of = { subject: subject.name, probe: probe.name }
  if (probe.needs === 'compaction' && run.hooks.compact === undefined) {
    return { ...of, seen: { leftOut: 'it needs a cluster whose history can be compacted' } }
  }
  if (probe.needs === 'controllers' && run.hooks.controllers !== true) {
    return { ...of, seen: { leftOut: 'it needs the controllers of a cluster' } }
  }
  const session = new Session(run.connection, unique, run.hooks)
  try {
    await session.prepare('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: session.namespace },
    })
    await probe.run(session)
    return { ...of, seen: { answer: session.recorded() } }
  } catch (error) {
    return { ...of, seen: { error: error instanceof Error ? error : new Error(String(error)) } }
  } finally {
    await session.close()
  }
}

/** The recorded answers of the real API server to the probes of a subject; empty when there are none yet. */
export function recordedAnswers(subject: string): Answers {
  try {
    return JSON.parse(readFileSync(fileOf(subject), 'utf8')) as Answers
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** Writes answers over those recorded; probes that no longer exist fall out, others that were not run stay. */
export function record(outcomes: Outcome[]): void {
  for (const subject of subjects) {
    const before = recordedAnswers(subject.name)
    const answers: Answers = {}
    for (const probe of subject.probes) {
      const outcome = outcomes.find((one) => one.subject === subject.name && one.probe === probe.name)
      const answer = outcome && 'answer' in outcome.seen ? outcome.seen.answer : before[probe.name]
      if (answer !== undefined) answers[probe.name] = answer
    }
    writeFileSync(fileOf(subject.name), `${JSON.stringify(answers, null, 2)}\n`)
  }
}

function fileOf(subject: string): string {
  return join(import.meta.dirname, 'recordings', `${subject}.json`)
}
