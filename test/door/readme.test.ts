/** What the README says of the command and of the API. Its examples are run in sandbox.test.ts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { ROOT } from './support/built.ts'
import { Processes } from './support/processes.ts'
import { codesOfTable, README } from './support/readme.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const processes = new Processes()
afterAll(() => processes.stop())

describe('what the README says', () => {
  it('is what package.json has', () => {
    const { scripts: known } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const named = [...README.matchAll(/\bnpm (?:run (?:--silent )?)?([a-z][\w:-]*)/g)].map(([, name]) => name)
    expect(named).toEqual(expect.arrayContaining(['start', 'test']))
    for (const name of named) expect(['ci', 'pack', ...Object.keys(known)]).toContain(name)
  })

  it('is what --help says: the same flags, the same variables', async () => {
    const { stdout } = await processes.run(['--help'])
    const rows = codesOfTable(README, '| flag | environment | default |')
    expect(rows.length).toBeGreaterThan(5)
    const codes = rows.flat().flatMap((code) => code.match(/^--[a-z-]+|^[A-Z_]+$/g) ?? [])
    expect(codes).toEqual(expect.arrayContaining(['--kubeconfig', 'SWISS_KUBECONFIG', 'KUBECONFIG']))
    for (const code of codes) expect(stdout).toMatch(new RegExp(`(^|[\\s[])${code}\\b`, 'm'))
  })

  it('names only answers that the API has', () => {
    const schema = readFileSync(join(ROOT, 'schema.graphql'), 'utf8')
    const answers = codesOfTable(README, '| answer | when |')
      .flat()
      .filter((code) => code.endsWith('Error'))
    expect(answers).toEqual(expect.arrayContaining(['HelmFailedError', 'ReleaseNotFoundError']))
    for (const answer of answers) expect(schema).toContain(`type ${answer} implements UserError`)
  })
})
