import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../../..')
const MAIN = resolve(ROOT, 'dist/server/main.js')
const READY_MS = 60_000

/** One gateway process that is killed and started again. */
export class Replica {
  readonly #flags: string[]
  #process: ChildProcess | null = null
  #url = ''
  #died: Promise<unknown> = Promise.resolve()

  constructor(flags: string[]) {
    this.#flags = flags
  }

  /** @param crashAt named point at which the process ends itself as kill -9 does */
  async start(crashAt?: string): Promise<void> {
    const child = spawn(
      process.execPath,
      [MAIN, 'serve', '--port', '0', '--log-level', 'error', ...this.#flags],
      {
        env: { ...process.env, ...(crashAt === undefined ? {} : { SWISS_CRASH_AT: crashAt }) },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    this.#process = child
    this.#died = once(child, 'exit')
    let text = ''
    const listening = new Promise<string>((found) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        text += chunk
        const url = /http:\/\/127\.0\.0\.1:\d+\/graphql/.exec(text)?.[0]
        if (url) found(url)
      })
    })
    const url = await Promise.race([listening, this.#died.then(() => ''), pause(READY_MS).then(() => '')])
    this.#url = url
    for (let left = READY_MS / 100; left > 0 && this.alive && url; left--) {
      const answer = await fetch(url.replace('/graphql', '/readyz')).catch(() => null)
      if (answer?.ok) return
      await pause(100)
    }
  }

  get alive(): boolean {
    return this.#process !== null && this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** Whether it has ended within `ms`. */
  async diedWithin(ms: number): Promise<boolean> {
    await Promise.race([this.#died, pause(ms)])
    return !this.alive
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL')
    await this.#died
  }

  async stop(): Promise<void> {
    this.#process?.kill('SIGTERM')
    if (!(await this.diedWithin(15_000))) await this.kill()
  }

  /** Null when it did not answer: it is dead, or dying. */
  async ask<T>(query: string): Promise<T | null> {
    try {
      const answer = await fetch(this.#url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      const { data } = (await answer.json()) as { data?: T }
      return data ?? null
    } catch {
      return null
    }
  }
}

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
