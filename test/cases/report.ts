import type { MakeHouse } from './gateway.ts'
import type { NotYet } from './notYet.ts'
import { runCase } from './run.ts'
import type { CaseFile } from './suite.ts'

/** How one case has ended. */
export type Verdict = { kind: 'ok' } | { kind: 'FAIL'; why: string } | { kind: 'skip'; why: string }

export interface Options {
  makeHouse: MakeHouse
  /** One line of output. */
  print: (line: string) => void
  /** How many cases run at a time. */
  concurrency: number
  /** Cases that cannot pass yet, by path, with the reason: expected to fail, and shown as skipped while they do. */
  notYet?: Record<string, NotYet>
}

/**
 * Runs cases and prints a line for each in their order, with its time, the reason of a failure below it, and at
 * the end `N passed, N failed, N skipped` alone on a line.
 *
 * @returns whether none has failed
 */
export async function runAndReport(files: CaseFile[], options: Options): Promise<boolean> {
  const { print, concurrency } = options
  const count = { ok: 0, FAIL: 0, skip: 0 }
  const done: (() => void)[] = []
  let next = 0
  let printed = 0
  const work = async () => {
    for (let at = next++; at < files.length; at = next++) {
      const file = files[at] as CaseFile
      const began = performance.now()
      const verdict = await judge(file, options)
      const seconds = ((performance.now() - began) / 1000).toFixed(2)
      count[verdict.kind]++
      done[at] = () => {
        const name = file.read instanceof Error ? '' : `  ${file.read.name}`
        print(`${verdict.kind.padEnd(4)} ${seconds.padStart(6)} s  ${file.path}${name}`)
        if (verdict.kind === 'FAIL') for (const line of verdict.why.split('\n')) print(`     ${line}`)
        if (verdict.kind === 'skip') print(`     ${verdict.why}`)
      }
      for (; done[printed]; printed++) done[printed]?.()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  print(`${count.ok} passed, ${count.FAIL} failed, ${count.skip} skipped`)
  return count.FAIL === 0
}

/** What has become of one case. */
async function judge({ path, read }: CaseFile, { makeHouse, notYet }: Options): Promise<Verdict> {
  if (read instanceof Error) return { kind: 'FAIL', why: read.message }
  if (read.skip !== undefined) return { kind: 'skip', why: read.skip }
  return verdictOf(await runCase(read, makeHouse), notYet?.[path])
}

/**
 * @param why what is wrong with a case; undefined when nothing is
 * @param waits what the case is known to wait for
 */
export function verdictOf(why: string | undefined, waits: NotYet | undefined): Verdict {
  if (!waits) return why === undefined ? { kind: 'ok' } : { kind: 'FAIL', why }
  if (why?.includes(waits.says)) return { kind: 'skip', why: `not yet: needs ${waits.needs}` }
  const told = `it is listed in test/cases/notYet.ts as one that needs ${waits.needs}`
  return {
    kind: 'FAIL',
    why: why === undefined ? `passes, but ${told}: take it off` : `${told}, but:\n${why}`,
  }
}
