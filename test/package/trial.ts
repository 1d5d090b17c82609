import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const START_MS = 120_000
const STOP_MS = 20_000

/**
 * Starts a `swiss-gateway sandbox`, asks it for its releases over HTTP, and ends it as a person would. Answers how
 * many releases it lists. Throws with what it printed when it does not start, does not answer or does not end.
 */
export async function tryOut(
  command: readonly [string, ...string[]],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<number> {
  const [bin, ...args] = command
  const child = spawn(bin, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => {
    printed += chunk
  })
  const ended = new Promise<number | null>((resolve) => {
    child.on('error', (error) => {
      printed += error.message
      resolve(null)
    })
    child.on('close', resolve)
  })
  const address = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      printed += `${line}\n`
      const url = /http:\/\/127\.0\.0\.1:\d+\/graphql/.exec(line)
      if (url) resolve(url[0])
    })
  })
  try {
    const url = await Promise.race([address, ended.then(() => null), after(START_MS)])
    if (url === null) throw new Error(`it did not start:\n${printed}`)
    const rows = await ask(url)
    process.kill(-(child.pid as number), 'SIGTERM')
    const over = await Promise.race([ended.then(() => true), after(STOP_MS)])
    if (!over) throw new Error(`it did not end within ${STOP_MS / 1000} s of a SIGTERM:\n${printed}`)
    return rows
  } finally {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // ESRCH: it has ended, with all that it started.
    }
  }
}

async function ask(url: string): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ deployments(first: 100) { totalCount nodes { name phase } } }' }),
  })
  const { data, errors } = (await response.json()) as {
    data?: { deployments: { totalCount: number; nodes: unknown[] } }
    errors?: unknown
  }
  const rows = data?.deployments.nodes.length ?? 0
  if (rows === 0 || rows !== data?.deployments.totalCount) {
    throw new Error(`it answered ${response.status} ${JSON.stringify(errors ?? data)}`)
  }
  return rows
}

function after(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, ms, null).unref())
}
