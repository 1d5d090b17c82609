import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { makeRealHouse } from './cases/house.ts'
import { notYet } from './cases/notYet.ts'
import { verdictOf } from './cases/report.ts'
import { runCase } from './cases/run.ts'
import { type CaseFile, readCases } from './cases/suite.ts'

const own = fileURLToPath(new URL('./cases/', import.meta.url))
/** Cases beside the project, where there are any; the project carries a copy of them. */
const beside = ['uninstalling', 'llmservice', 'canary', 'apply', 'watch']
  .map((folder) => join(own, '../../../shared/cases', folder))
  .filter((folder) => existsSync(folder))

/** Real milliseconds for one case; the runner has limits of its own for each step and names what hangs. */
const limitMs = 120_000

function runAll(files: CaseFile[]): void {
  for (const { path, read } of files) {
    const waits = notYet[path]
    const name = read instanceof Error ? path : `${path}: ${read.name}`
    const body = async () => {
      if (read instanceof Error) throw read
      const verdict = verdictOf(await runCase(read, makeRealHouse), waits)
      // One that waits for something is run all the same: the day it passes, this fails and it leaves the list.
      expect('why' in verdict ? verdict.why : 'ok').toBe(waits ? `not yet: needs ${waits.needs}` : 'ok')
    }
    if (!(read instanceof Error) && read.skip !== undefined) it.skip(`${name} (${read.skip})`, body)
    else it.concurrent(waits ? `${name} (not yet: needs ${waits.needs})` : name, body, limitMs)
  }
}

const ownFiles = readCases([own], own)

describe('cases', () => runAll(ownFiles))

describe('the list of what cannot pass yet', () => {
  it('names cases that are there', () => {
    const paths = new Set(ownFiles.map(({ path }) => path))
    expect(Object.keys(notYet).filter((path) => !paths.has(path))).toEqual([])
  })
})

if (beside.length > 0) {
  describe('cases beside the project', () => {
    const root = join(own, '../../../shared/cases')
    const sameAsOwn = (file: CaseFile) =>
      ownFiles.some(({ path, read }) => path === file.path && isDeepStrictEqual(read, file.read))
    const others = readCases(beside, root).filter((file) => !sameAsOwn(file))
    // Those that the project has word for word have run above.
    runAll(others)
    it('are there or are copied', () => expect(beside).not.toEqual([]))
  })
}
