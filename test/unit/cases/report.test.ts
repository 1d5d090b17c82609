import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NotYet } from '../../cases/notYet.ts'
import { runAndReport } from '../../cases/report.ts'
import { type CaseFile, readCases } from '../../cases/suite.ts'
import { makeFakeHouse } from './fakeHouse.ts'

const fixtures = fileURLToPath(new URL('./fixtures/', import.meta.url))
const good = 'steps: [{check: {rows: [], events: []}}]\n'
const bad = 'steps: [{check: {row: {namespace: a, name: b}}}]\n'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'swiss-report-'))
  const files: Record<string, string> = {
    'one.yaml': `name: one\n${good}`,
    'sub/two.yml': `name: two\n${bad}`,
    'sub/three.yaml': `name: three\nskip: because\n${bad}`,
    'notes.txt': 'no case',
  }
  mkdirSync(join(folder, 'sub'))
  mkdirSync(join(folder, 'empty'))
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content)
  symlinkSync(join(folder, 'sub'), join(folder, 'again'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function report(files: CaseFile[], notYet?: Record<string, NotYet>) {
  const lines: string[] = []
  const print = (line: string) => lines.push(line)
  const passed = await runAndReport(files, {
    ...{ makeHouse: makeFakeHouse, print, concurrency: 2 },
    ...(notYet ? { notYet } : {}),
  })
  return { passed, lines: lines.map((line) => line.replace(/ +\d+\.\d\d s/, ' TIME')) }
}

describe('a report', () => {
  it('has a line for each case in order, the reasons, and the counts alone on the last', async () => {
    const { passed, lines } = await report(readCases([folder], folder))
    expect(passed).toBe(false)
    expect(lines).toEqual([
      'ok TIME  one.yaml  one',
      'skip TIME  sub/three.yaml  three',
      '     because',
      'FAIL TIME  sub/two.yml  two',
      '     steps[0] (check): ',
      '     --- expected row',
      '     +++ got row',
      '     @@ -1,2 +1,1 @@',
      '     -namespace: a',
      '     -name: b',
      '     +null',
      '1 passed, 1 failed, 1 skipped',
    ])
  })

  it('passes when nothing fails', async () => {
    const { passed, lines } = await report(readCases([join(folder, 'one.yaml')], folder))
    expect(passed).toBe(true)
    expect(lines.at(-1)).toBe('1 passed, 0 failed, 0 skipped')
  })

  it.each(['empty', 'nothing'])('fails for a folder that is %s', async (name) => {
    const path = join(folder, name)
    const { passed, lines } = await report(readCases([path]))
    expect(passed).toBe(false)
    expect(lines).toEqual([
      `FAIL TIME  ${path}`,
      name === 'empty' ? '     there is no case in it' : '     is not there',
      '0 passed, 1 failed, 0 skipped',
    ])
  })

  it('fails for each file that is no case', async () => {
    const files = readCases([`${fixtures}malformed`])
    const { passed, lines } = await report(files)
    expect(passed).toBe(false)
    expect(lines.at(-1)).toBe(`0 passed, ${files.length} failed, 0 skipped`)
  })

  it('takes a file once, by whichever way it is reached', () => {
    expect(readCases([folder, join(folder, 'sub'), join(folder, 'again')])).toHaveLength(3)
  })

  it('skips aloud what cannot pass yet', async () => {
    const pony = { needs: 'a pony', says: '+++ got row' }
    const { passed, lines } = await report(readCases([join(folder, 'sub')], folder), { 'sub/two.yml': pony })
    expect(passed).toBe(true)
    expect(lines.slice(-3)).toEqual([
      'skip TIME  sub/two.yml  two',
      '     not yet: needs a pony',
      '0 passed, 0 failed, 2 skipped',
    ])
  })

  it('fails for what is said to be impossible, and passes or fails otherwise', async () => {
    const pony = { needs: 'a pony', says: 'pony' }
    const { passed, lines } = await report(readCases([folder], folder), {
      'one.yaml': pony,
      'sub/two.yml': pony,
    })
    expect(passed).toBe(false)
    const listed = 'it is listed in test/cases/notYet.ts as one that needs a pony'
    expect(lines[1]).toBe(`     passes, but ${listed}: take it off`)
    expect(lines[5]).toBe(`     ${listed}, but:`)
    expect(lines.at(-1)).toBe('0 passed, 2 failed, 1 skipped')
  })
})
