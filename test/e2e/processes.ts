// Everything an end-to-end run starts is started here, so that everything is stopped: at the end, after a failure,
// at Ctrl-C, and when this process is killed with no chance to clean up.
import { type ChildProcess, spawn } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type Managed = {
  name: string
  pid: number
  log: string
  /** Null while it runs, then how it ended: `exit 1`, `SIGKILL`. */
  ended: () => string | null
  /** Resolves when it has ended, with the same text. */
  exited: Promise<string>
  /** `kill -9` of this process alone. */
  kill: () => void
  /** SIGTERM, and SIGKILL to its whole process group when `withinMs` was not enough. Answers how it ended. */
  end: (withinMs: number) => Promise<string>
}

// Reads the pids of the folder it lies in, ends their process groups and removes the folder. A pid is only
// signalled while its command line still names the folder, since pids are used again.
const STOP_SCRIPT = `#!/bin/sh
dir=$(cd "$(dirname "$0")" && pwd)
while read -r pid; do
  if [ -d /proc/self ] && ! grep -qsF "$dir" "/proc/$pid/cmdline"; then continue; fi
  kill -s KILL -- "-$pid" 2>/dev/null
done < "$dir/pids"
for i in 1 2 3 4 5 6; do sleep 0.3; rm -rf "$dir" 2>/dev/null && break; done
`

/** Kills the group of a process that was started detached; silent when it is gone already. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // ESRCH: the group has ended.
  }
}

export class Processes {
  readonly dir: string
  readonly stopScript: string
  readonly #running: Managed[] = []
  readonly #watchdog: ChildProcess | undefined
  #stopped = false

  /** With `keep` nothing is stopped when this process dies: `stopScript` is then the way to stop it all. */
  constructor(keep: boolean) {
    this.dir = mkdtempSync(join(tmpdir(), 'swiss-e2e-'))
    this.stopScript = join(this.dir, 'stop.sh')
    if (!keep) {
      // Its stdin is a pipe that we hold: the pipe's end, even by kill -9, is the signal. In a session of its own,
      // so that a Ctrl-C in the terminal does not end it before us.
      const script = 'cat >/dev/null; sh "$0/stop.sh" 2>/dev/null; rm -rf "$0"'
      const stdio = ['pipe', 'ignore', 'ignore'] as const
      this.#watchdog = spawn('/bin/sh', ['-c', script, this.dir], { stdio: [...stdio], detached: true })
      this.#watchdog.unref()
    }
    writeFileSync(join(this.dir, 'pids'), '')
    writeFileSync(this.stopScript, STOP_SCRIPT, { mode: 0o755 })
  }

  /**
   * Starts a program in a process group of its own, its HOME in the folder, its output in `<dir>/<name>.log`. The
   * name may lead through folders that are there; `env` is added to the environment.
   */
  start(name: string, command: string, args: string[], env: Record<string, string> = {}): Managed {
    if (this.#stopped) throw new Error('the run is being stopped')
    const log = join(this.dir, `${name}.log`)
    const fd = openSync(log, 'a')
    const child = spawn(command, args, {
      cwd: this.dir,
      detached: true,
      stdio: ['ignore', fd, fd],
      env: { ...this.env(), ...env },
    })
    closeSync(fd)
    let ended: string | null = null
    const exited = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`))
    }).then((how) => {
      ended = how
      return how
    })
    const pid = child.pid ?? 0
    if (pid > 0) appendFileSync(join(this.dir, 'pids'), `${pid}\n`)
    const end = async (withinMs: number): Promise<string> => {
      if (pid > 0) {
        try {
          process.kill(pid, 'SIGTERM')
        } catch {
          // It has ended already.
        }
        await Promise.race([exited, sleep(withinMs, undefined, { ref: false })])
        killGroup(pid)
      }
      return exited
    }
    const kill = (): void => {
      child.kill('SIGKILL')
    }
    const managed: Managed = { name, pid, log, ended: () => ended, exited, kill, end }
    this.#running.push(managed)
    return managed
  }

  /** The environment of all that is started here: nothing of the user's clusters, caches or helm plug-ins. */
  env(): Record<string, string> {
    return { PATH: process.env.PATH ?? '', HOME: this.dir, TMPDIR: this.dir, LANG: 'C.UTF-8' }
  }

  /** A folder in the folder; one that is there already is as good. */
  folder(name: string): string {
    const path = join(this.dir, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  file(name: string, content: string): string {
    const path = join(this.dir, name)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }

  /** Kills these with their process groups, and waits for their end. */
  async kill(some: readonly Managed[]): Promise<void> {
    for (const p of some) if (p.pid > 0) killGroup(p.pid)
    await Promise.all(some.map((p) => p.exited))
  }

  /** Kills whatever still runs and removes the folder: nothing in it is worth a graceful end. Safe to call twice. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.kill(this.#running)
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    this.#watchdog?.stdin?.end()
  }
}

/** The last lines of these logs, for a failure's report. */
export function tails(some: readonly Managed[], lines: number): string {
  return some.map((p) => `--- ${p.name} (${p.ended() ?? 'running'})\n${tail(p.log, lines)}`).join('\n')
}

export function tail(file: string, lines: number): string {
  try {
    return readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .slice(-lines)
      .map((line) => line.slice(0, 400))
      .join('\n')
  } catch {
    return '(no log)'
  }
}
