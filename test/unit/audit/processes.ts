/** Two processes that close the same runs at the same time. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { AuditLog } from '../../../services/audit/run.ts'

const ACTORS = ['a', 'b']

/**
 * Lets two processes open one new store and write to it, and looks at what is in it then.
 *
 * @param store path of a SQLite file, or URL of a PostgreSQL database
 * @param openLog opens the same store here, when they are done
 */
export async function expectExactlyOnce(store: string, openLog: () => AuditLog): Promise<void> {
  const outputs = await Promise.all(ACTORS.map((actor) => auditProcess(store, actor)))
  expect(outputs).toEqual(['null\n', 'null\n'])
  const { edges } = await openLog().page({ first: 100 })
  expect(edges).toHaveLength(15 + 2 * 5)
  for (const { run } of edges) {
    expect(run.outcome).toBe('SUCCEEDED')
    if (run.id.startsWith('shared-')) expect(ACTORS).toContain(run.output)
  }
}

function auditProcess(store: string, actor: string): Promise<string> {
  const script = fileURLToPath(new URL('./auditProcess.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, store, actor], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  return new Promise((resolve) => child.once('close', () => resolve(output)))
}
