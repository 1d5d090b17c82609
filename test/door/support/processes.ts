import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { MAIN } from './built.ts'
import { descendantsOf, isAlive } from './processTree.ts'
import { until, within } from './until.ts'

/** How a process ended: an exit code, or the signal that ended it. */
export type Ended = number | NodeJS.Signals

/** What a gateway may take to end, its cluster too, before it is killed. */
const STOP_MS = 15_000

/** A program that was started by a test. */
export class Child {
  readonly pid: number
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''
  over = false
  readonly #process: ChildProcess
  #waiting = new Set<() => void>()

  constructor(process: ChildProcess) {
    this.#process = process
    this.pid = process.pid ?? 0
    process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
      for (const look of this.#waiting) look()
    })
    process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.ended = new Promise<Ended>((resolve, reject) => {
      process.once('error', reject)
      // `close` and not `exit`: then all that it has said is here.
      process.once('close', (code, signal) => resolve(signal ?? code ?? 0))
    }).finally(() => {
      this.over = true
      for (const look of this.#waiting) look()
    })
    // Whoever waits for it hears of it; nobody need.
    this.ended.catch(() => {})
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Waits for a text on stdout. Rejects when the process ends without having said it. */
  async says(pattern: RegExp, withinMs = 60_000): Promise<RegExpExecArray> {
    let stop = () => {}
    const said = new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(this.stdout)
        if (found) resolve(found)
        else if (this.over) reject(new Error(`it ended without saying ${pattern}:\n${this.#said()}`))
      }
      this.#waiting.add(look)
      stop = () => this.#waiting.delete(look)
      look()
    })
    try {
      return await within(`${pattern} on stdout`, said, withinMs)
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${this.#said()}`)
    } finally {
      stop()
    }
  }

  #said = () => `stdout: ${this.stdout.slice(-2000)}\nstderr: ${this.stderr.slice(-2000)}`
}

// Reads `+pid` and `-pid`; kills what is left, whole groups where there are some, when its input ends, which it
// does however this process dies.
const WATCHDOG = `pids=' '
while read -r line; do case $line in
  +*) pids="$pids\${line#+} " ;;
  -*) pids=$(printf '%s' "$pids" | sed "s/ \${line#-} / /") ;;
esac; done
for pid in $pids; do kill -s KILL -- "-$pid" 2>/dev/null || kill -s KILL "$pid" 2>/dev/null; done
rm -rf "$0"`

/** All that a test file starts, so that all of it is stopped: at the end, after a failure, and when vitest is killed. */
export class Processes {
  /** A folder for this file's tests, and the HOME of all that is started. */
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'swiss-door-')))
  readonly #children: Child[] = []
  readonly #watchdog: ChildProcess

  constructor() {
    const stdio = ['pipe', 'ignore', 'ignore'] as const
    // In a session of its own: a Ctrl-C in the terminal must not end it before us.
    this.#watchdog = spawn('/bin/sh', ['-c', WATCHDOG, this.dir], { stdio: [...stdio], detached: true })
    this.#watchdog.unref()
    this.#watchdog.stdin?.on('error', () => {})
  }

  /** Starts `swiss-gateway` with these arguments. */
  gateway(args: string[], env: Record<string, string> = {}): Child {
    return this.start(process.execPath, [MAIN, ...args], { env })
  }

  /** Runs `swiss-gateway` to its end. */
  async run(args: string[], env: Record<string, string> = {}): Promise<{ code: Ended } & Said> {
    const child = this.gateway(args, env)
    const code = await within(`the end of swiss-gateway ${args.join(' ')}`, child.ended, 45_000)
    return { code, stdout: child.stdout, stderr: child.stderr }
  }

  /** Starts any program. `detached` gives it a process group of its own. */
  start(
    command: string,
    args: string[],
    options: { env?: Record<string, string>; cwd?: string; detached?: boolean } = {},
  ): Child {
    const { env, cwd = this.dir, detached = false } = options
    const spawned = spawn(command, args, {
      cwd,
      detached,
      env: { ...this.#environment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const child = new Child(spawned)
    this.#children.push(child)
    this.#watchdog.stdin?.write(`+${child.pid}\n`)
    spawned.once('close', () => this.#watchdog.stdin?.write(`-${child.pid}\n`))
    return child
  }

  /** Nothing of the user's: no clusters, no settings of Swiss, no helm plug-ins. */
  #environment(): Record<string, string> {
    return { PATH: process.env.PATH ?? '', HOME: this.dir, TMPDIR: this.dir, LANG: 'C.UTF-8' }
  }

  /** Ends everything, and fails when something that was started does not end, or outlives its parent. */
  async stop(): Promise<void> {
    const left: string[] = []
    const open = this.#children.filter((child) => !child.over)
    const below = open.flatMap((child) => descendantsOf(child.pid))
    for (const child of open) child.kill('SIGTERM')
    await Promise.race([Promise.allSettled(open.map((child) => child.ended)), wait(STOP_MS)])
    for (const child of open.filter(({ over }) => !over)) {
      left.push(`process ${child.pid} did not end on SIGTERM`)
      child.kill('SIGKILL')
    }
    await until('the end of all child processes', () => !below.some(({ pid }) => isAlive(pid)), 5000).catch(
      () => {
        for (const { pid, command } of below.filter((one) => isAlive(one.pid))) {
          left.push(`process ${pid} was left running: ${command}`)
          process.kill(pid, 'SIGKILL')
        }
      },
    )
    this.#watchdog.stdin?.end()
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    if (left.length > 0) throw new Error(left.join('\n'))
  }
}

interface Said {
  stdout: string
  stderr: string
}
