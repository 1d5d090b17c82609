import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runCase } from '../../cases/run.ts'
import { readCases } from '../../cases/suite.ts'
import { makeFakeHouse } from './fakeHouse.ts'

const fixtures = fileURLToPath(new URL('./fixtures/', import.meta.url))
const cases = (folder: string) => readCases([fixtures + folder], fixtures)

describe('a case that holds', () => {
  for (const { path, read } of cases('passes')) {
    it.concurrent(path, async () => {
      if (read instanceof Error) throw read
      expect(await runCase(read, makeFakeHouse)).toBeUndefined()
    })
  }
})

// Beside each case stands what is printed of it.
describe('a case that does not hold', () => {
  for (const { path, read } of cases('fails')) {
    it.concurrent(path, async () => {
      if (read instanceof Error) throw read
      const printed = readFileSync(fixtures + path.replace(/yaml$/, 'txt'), 'utf8')
      expect(`${await runCase(read, makeFakeHouse)}\n`).toBe(printed)
    })
  }
})

/** What is said of each file in `malformed/`. */
const mistakes: Record<string, string | RegExp> = {
  'background-expect': 'steps[0]: in the background there is no answer yet; `await` it with expect and save',
  'bad-pattern': /^steps\[0\]\.check\.rows\[0\]\.name: Invalid regular expression: /,
  'bad-ref': 'steps[0].remove: is not Kind/namespace/name or Kind//name of a kind that is known here',
  'empty-check': 'steps[0].check: expects nothing',
  'empty-expect': 'steps[0].expect: expects nothing',
  'empty-match': 'steps[0].check.objects.match[0]: expects nothing of it',
  'empty-objects': 'steps[0].check.objects: expects nothing',
  'empty-stream': 'steps[0].check.stream: expects nothing',
  'first-no-cluster-step': 'steps[0].fault.first[0]: advance is no step of the cluster',
  'idle-fault': 'steps[0].fault: does nothing',
  'no-check': 'steps: expect nothing',
  'no-name': /^name: /,
  'no-steps': /^steps: /,
  'not-yaml': /^is no YAML: /,
  'null-expect': 'steps[0].expect: expects nothing',
  'patch-without-with': 'steps[0]: patch needs `with`',
  twice: /^is no YAML: Map keys must be unique/,
  'two-steps': /^steps\[0\]: one of .* is needed; found `advance`, `tick`$/,
  'unknown-beside': 'steps[0]: unknown key `expect`',
  'unknown-check': 'steps[0].check: unknown key `row5`',
  'unknown-config': 'config: unknown key `readonly`',
  'unknown-fault': 'steps[0].fault: unknown key `code`',
  'unknown-given': 'given: unknown key `helms`',
  'unknown-helm': 'steps[0].sandboxHelm.uninstall: unknown key `exitCode`',
  'unknown-key': 'unknown key `note`',
  'unknown-kind':
    'steps[0].check.objects.absent[0]: is not Kind/namespace/name or Kind//name of a kind that is known here',
  'unknown-step': /^steps\[0\]: one of .* is needed; found `wait`$/,
}

describe('a file that is no case', () => {
  for (const { path, read } of cases('malformed')) {
    it(path, () => {
      const said = mistakes[path.replace(/^malformed\/|\.yaml$/g, '')]
      expect(said).toBeDefined()
      expect(read).toBeInstanceOf(Error)
      if (typeof said === 'string') expect((read as Error).message).toBe(said)
      else expect((read as Error).message).toMatch(said as RegExp)
    })
  }

  it('is told apart by its name', () => {
    const [one, two] = cases('duplicate')
    expect(one?.read).not.toBeInstanceOf(Error)
    expect(two?.read).toEqual(new Error('name: is that of duplicate/one.yaml too'))
  })
})
