import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Config } from './config.ts'
import { CommandError } from './ending.ts'

const Place = z.object({
  kubeconfig: z.string(),
  helm: z.string(),
  url: z.string(),
  dir: z.string(),
  prometheus: z.string(),
})

/** Where a running sandbox can be reached. */
export type SandboxPlace = z.infer<typeof Place>

export interface SandboxProcess {
  place: SandboxPlace
  /** Resolves when it is over, whoever ended it, with what there is to say about it. */
  ended: Promise<string>
  stop(): Promise<void>
}

/**
 * Starts the sandbox cluster as a process of its own, which ends with this one however that ends: it holds
 * the other end of a pipe. It is put into its own process group, so that a Ctrl-C reaches us alone and the
 * gateway can stop before its cluster does.
 */
export async function startSandboxProcess(
  { releases, dir }: Config,
  env: NodeJS.ProcessEnv,
): Promise<SandboxProcess> {
  const compiled = !import.meta.url.endsWith('.ts')
  const main = fileURLToPath(new URL(`../sandbox/main.${compiled ? 'js' : 'ts'}`, import.meta.url))
  const args = ['--with-parent', '--releases', String(releases), ...(dir === undefined ? [] : ['--dir', dir])]
  const child = spawn(process.execPath, [...process.execArgv, main, ...args], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env,
  })
  let lastWords = ''
  child.stderr.on('data', (chunk: Buffer) => {
    lastWords = String(chunk).trim().split('\n').at(-1) ?? ''
    process.stderr.write(chunk)
  })
  // It may be gone when we let go of the pipe.
  child.stdin.on('error', () => {})
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code, signal) =>
      resolve(lastWords || `it ended with ${signal ?? `exit code ${code}`}`),
    )
  })
  const first = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).once('line', resolve)
  })
  const line = await Promise.race([first, ended.then(() => null)])
  if (line === null) {
    // It has said on stderr what is wrong, in one sentence.
    throw new CommandError(
      child.exitCode === 2 ? 2 : 1,
      lastWords ? '' : `The sandbox did not start: ${await ended}.`,
    )
  }
  const place = Place.parse(JSON.parse(line))
  return {
    place,
    ended,
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
