import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The command behind `npm run cases -- PATH…`, without the build. */
function cases(...paths: string[]): Promise<{ code: number | null; lines: string[] }> {
  return new Promise((resolve, reject) => {
    const args = ['--import', 'tsx', 'test/cases/main.ts', ...paths]
    const child = spawn(process.execPath, args, { cwd: root })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, lines: out.trimEnd().split('\n') }))
  })
}

it('exits with 1 and the counts when a case fails or is none, or a folder is not there', async () => {
  const { code, lines } = await cases(
    'test/unit/cases/fixtures/malformed',
    'test/unit/cases/fixtures/nowhere',
  )
  expect(code).toBe(1)
  expect(lines.at(-1)).toMatch(/^0 passed, \d\d failed, 0 skipped$/)
  expect(lines).toContain('     is not there')
}, 60_000)

it('exits with 0 when all cases of a path pass against the whole gateway', async () => {
  const { code, lines } = await cases('test/cases/uninstalling/untracked-release.yaml')
  expect(lines.at(-1)).toBe('1 passed, 0 failed, 0 skipped')
  expect(code).toBe(0)
}, 60_000)
