/**
 * The process between the gateway and one helm run: `helm-supervisor [--remove FOLDER] DEADLINE COMMAND [ARGS…]`.
 * It makes sure that helm never outlives the gateway's right to run it.
 *
 * - stdin is a pipe that the gateway holds open. When it closes (`kill -9` of the gateway too), helm and all
 *   of its process group are killed at once.
 * - `alive DEADLINE` lines on stdin say how long helm may go on: the lock's Lease is held until then. A
 *   deadline that passes kills helm in the same way, also while the gateway hangs. Deadlines are
 *   milliseconds of the system's monotonic clock, which all processes share, so that a line that arrives late
 *   cannot say too much. `-` is no deadline.
 * - `kill` on stdin kills helm too.
 * - stdout gets one line of JSON when helm is over, with its exit and its (bounded) output; before that one
 *   that tells helm's process group, for the case that this process is killed itself.
 * - `--remove` names a folder that goes when helm is over: the values that were made for it.
 *
 * It imports node's own modules only and is started on its own, so that it lives however the gateway dies.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'

/** Bytes of each stream that are kept at its beginning and at its end. */
const KEEP = 64 * 1024
/** Milliseconds that helm's streams may stay open after its exit: then a child of it holds them. */
const DRAIN_MS = 1000
/** A timer cannot wait longer; a later deadline is looked at again then. */
const MAX_TIMER_MS = 2 ** 31 - 1

const monotonic = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/** Keeps the beginning and the end of a stream of any length. */
class BoundedOutput {
  readonly #head: Buffer[] = []
  #headSize = 0
  #tail: Buffer[] = []
  #tailSize = 0
  #dropped = 0

  write(chunk: Buffer): void {
    const room = KEEP - this.#headSize
    if (room > 0) {
      const part = chunk.subarray(0, room)
      this.#head.push(part)
      this.#headSize += part.length
    }
    const rest = chunk.subarray(Math.max(0, room))
    if (rest.length === 0) return
    this.#tail.push(rest)
    this.#tailSize += rest.length
    if (this.#tailSize > 4 * KEEP) this.#cut()
  }

  #cut(): void {
    const all = Buffer.concat(this.#tail)
    const kept = Buffer.from(all.subarray(Math.max(0, all.length - KEEP)))
    this.#dropped += all.length - kept.length
    this.#tail = [kept]
    this.#tailSize = kept.length
  }

  text(): string {
    if (this.#tailSize > KEEP) this.#cut()
    const gap = this.#dropped > 0 ? `\n… ${this.#dropped} bytes left out …\n` : ''
    return Buffer.concat(this.#head).toString('utf8') + gap + Buffer.concat(this.#tail).toString('utf8')
  }
}

class Supervisor {
  readonly #stdout = new BoundedOutput()
  readonly #stderr = new BoundedOutput()
  #helm: ChildProcess | null = null
  #deadline = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #killedFor: 'asked' | 'deadline' | null = null
  #over = false
  readonly #folder: string | null

  constructor(folder: string | null) {
    this.#folder = folder
  }

  run(deadline: string, command: string, args: readonly string[]): void {
    this.#obey()
    this.#until(deadline)
    if (this.#over) return
    const helm = spawn(command, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#helm = helm
    helm.stdout.on('data', (chunk: Buffer) => this.#stdout.write(chunk))
    helm.stderr.on('data', (chunk: Buffer) => this.#stderr.write(chunk))
    helm.on('error', (error: NodeJS.ErrnoException) => {
      if (helm.pid === undefined) this.#end({ code: null, signal: null, error: error.code ?? 'unknown' })
    })
    if (helm.pid === undefined) return
    report({ group: helm.pid })
    // `exit` and not `close`: a child that helm left behind may hold its streams for ever.
    helm.on('exit', (code, signal) => {
      const finish = () => {
        this.#killGroup()
        this.#end({ code, signal, error: null })
      }
      const drained = setTimeout(finish, DRAIN_MS)
      helm.on('close', () => {
        clearTimeout(drained)
        this.#end({ code, signal, error: null })
      })
    })
  }

  /** Listens to the gateway, and to nobody else: a Ctrl-C or a TERM for all is the gateway's to handle. */
  #obey(): void {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => {})
    process.on('uncaughtException', () => this.#kill('asked'))
    process.stdout.on('error', () => this.#kill('asked'))
    let pending = ''
    process.stdin.setEncoding('utf8')
    process.stdin.on('data', (text: string) => {
      const lines = (pending + text).split('\n')
      pending = lines.pop() ?? ''
      for (const line of lines) this.#line(line)
    })
    process.stdin.on('error', () => this.#kill('asked'))
    process.stdin.on('close', () => this.#kill('asked'))
  }

  #line(line: string): void {
    if (line === 'kill') this.#kill('asked')
    else if (line.startsWith('alive ')) this.#until(line.slice(6))
  }

  #until(deadline: string): void {
    const ms = Number(deadline)
    this.#deadline = deadline === '-' || Number.isNaN(ms) ? Number.POSITIVE_INFINITY : ms
    this.#look()
  }

  #look(): void {
    clearTimeout(this.#timer)
    if (this.#over || this.#deadline === Number.POSITIVE_INFINITY) return
    const left = this.#deadline - monotonic()
    if (left <= 0) this.#kill('deadline')
    else this.#timer = setTimeout(() => this.#look(), Math.min(left, MAX_TIMER_MS))
  }

  #kill(reason: 'asked' | 'deadline'): void {
    this.#killedFor ??= reason
    this.#killGroup()
    if (this.#helm === null && !this.#over) this.#end({ code: null, signal: null, error: null })
  }

  /** helm leads a process group of its own, so its children go with it. */
  #killGroup(): void {
    if (this.#helm?.pid === undefined || this.#over) return
    try {
      process.kill(-this.#helm.pid, 'SIGKILL')
    } catch {
      // Nobody is left in it.
    }
  }

  #end(exit: { code: number | null; signal: NodeJS.Signals | null; error: string | null }): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#timer)
    this.#removeFolder()
    const { stdout, stderr } = { stdout: this.#stdout.text(), stderr: this.#stderr.text() }
    report({ ...exit, killedFor: this.#killedFor, stdout, stderr }, () => process.exit(0))
  }

  #removeFolder(): void {
    if (this.#folder === null) return
    try {
      rmSync(this.#folder, { recursive: true, force: true })
    } catch {
      // The gateway tries too, and so does the next one.
    }
  }
}

function report(value: object, done?: () => void): void {
  process.stdout.write(`${JSON.stringify(value)}\n`, done)
}

const words = process.argv.slice(2)
const folder = words[0] === '--remove' ? (words.splice(0, 2)[1] ?? null) : null
const [deadline, command, ...args] = words
if (deadline === undefined || command === undefined) {
  process.stderr.write('usage: helm-supervisor [--remove FOLDER] DEADLINE COMMAND [ARGS…]\n')
  process.exit(2)
}
new Supervisor(folder).run(deadline, command, args)
