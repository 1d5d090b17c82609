/** One process of helm under its supervisor. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { boundText } from './bound.ts'
import { type HelmResult, resultOf, type SupervisorReport } from './result.ts'

export interface SupervisedOptions {
  /** Path or name of the helm executable. */
  helmBin: string
  /** The compiled `server/helm-supervisor`. */
  supervisorPath: string
  /** helm's whole environment: `PATH`, `HOME`, `KUBECONFIG`, `HELM_KUBECONTEXT` … of the gateway's own cluster. */
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  logger: Logger
  /** Options for the node that runs the supervisor; none by default. */
  execArgv?: readonly string[]
}

/** The Lease under which helm runs; a `HeldLease` fits. */
export interface RunLease {
  /** Milliseconds on the gateway's clock until which it is certainly held. */
  readonly deadline: number
  /** Aborts when it is held no longer. */
  readonly lost: AbortSignal
  /** Told of the new deadline at each renewal; the result takes the listener away. */
  onRenewed(listener: (deadline: number) => void): () => void
}

export interface RunOptions {
  /** Null when nothing guards the run (tests). */
  lease: RunLease | null
  /** Aborting kills helm: the gateway gives the run up. */
  signal: AbortSignal
  /** Milliseconds; 15 minutes by default. */
  budgetMs?: number
}

const BUDGET_MS = 15 * 60_000
/** Milliseconds for a supervisor to end its helm when asked to; then both are killed from here. */
const SUPERVISOR_MS = 5000
const MAX_REPORT_BYTES = 4 * 1024 * 1024

/**
 * The system's monotonic clock in milliseconds, which the supervisor reads as well. It is no time of day: the
 * deadline has to mean the same in both processes, whatever the gateway's clock says.
 */
const monotonic = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/** One run of helm under its supervisor. */
export class SupervisedRun {
  readonly result: Promise<HelmResult>
  readonly #options: SupervisedOptions
  readonly #supervisor: ChildProcessWithoutNullStreams
  readonly #tearDown: (() => void)[] = []
  #asked: 'budget' | 'lost' | null = null
  #group: number | null = null
  #report: SupervisorReport | null = null
  #complaint = ''

  /** @param folder taken away by the supervisor when helm is over, whoever has died by then; null for none */
  constructor(
    options: SupervisedOptions,
    args: readonly string[],
    { lease, signal, budgetMs }: RunOptions,
    folder: string | null = null,
  ) {
    this.#options = options
    const { clock, helmBin, supervisorPath, execArgv = [] } = options
    const aliveUntil = (deadline: number) => Math.floor(monotonic() + deadline - clock.now())
    this.#supervisor = spawn(
      process.execPath,
      [
        ...execArgv,
        supervisorPath,
        ...(folder === null ? [] : ['--remove', folder]),
        lease ? String(aliveUntil(lease.deadline)) : '-',
        helmBin,
        ...args,
      ],
      // A session of its own: what a terminal sends to the gateway's group must not end the supervisor first.
      { env: options.env as NodeJS.ProcessEnv, detached: true, stdio: 'pipe' },
    )
    this.result = new Promise((resolve) => this.#listen(resolve))

    const lose = () => this.#end('lost')
    for (const source of lease ? [signal, lease.lost] : [signal]) {
      source.addEventListener('abort', lose, { once: true })
      this.#tearDown.push(() => source.removeEventListener('abort', lose))
    }
    this.#tearDown.push(clock.setTimer(budgetMs ?? BUDGET_MS, () => this.#end('budget')))
    if (lease) {
      this.#tearDown.push(lease.onRenewed((deadline) => this.#send(`alive ${aliveUntil(deadline)}\n`)))
    }
  }

  /** What the supervisor sees when the gateway dies. */
  abandon(): void {
    this.#asked ??= 'lost'
    this.#supervisor.stdin.destroy()
  }

  #end(reason: 'budget' | 'lost'): void {
    if (this.#asked !== null) return
    this.#asked = reason
    this.#send('kill\n')
    this.#supervisor.stdin.end()
    // A supervisor that is stopped or starved does not answer. Its helm must end all the same.
    this.#tearDown.push(this.#options.clock.setTimer(SUPERVISOR_MS, () => this.#killFromHere()))
  }

  #send(line: string): void {
    if (this.#supervisor.stdin.writable) this.#supervisor.stdin.write(line)
  }

  #killFromHere(): void {
    this.#killGroup()
    this.#supervisor.kill('SIGKILL')
  }

  #killGroup(): void {
    if (this.#group === null) return
    try {
      process.kill(-this.#group, 'SIGKILL')
    } catch {
      // Nobody is left in it.
    }
  }

  #listen(resolve: (result: HelmResult) => void): void {
    const { stdin, stdout, stderr } = this.#supervisor
    let text = ''
    let failure: string | null = null
    // A supervisor that is gone already is told of by `close`.
    stdin.on('error', () => {})
    stdout.setEncoding('utf8')
    stdout.on('data', (chunk: string) => {
      text = (text + chunk).slice(0, MAX_REPORT_BYTES)
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) this.#heed(line)
    })
    stderr.setEncoding('utf8')
    stderr.on('data', (chunk: string) => {
      this.#complaint = boundText(this.#complaint + chunk, 2048)
    })
    this.#supervisor.on('error', (error: NodeJS.ErrnoException) => {
      failure = error.code ?? 'unknown'
    })
    this.#supervisor.on('close', (code) => {
      for (const undo of this.#tearDown) undo()
      if (this.#report === null) {
        // Killed itself, perhaps: then helm has no guard any more.
        this.#killGroup()
        this.#options.logger.warn({ complaint: this.#complaint, code }, 'the supervisor of helm has died')
        if (this.#group === null && code !== null) failure ??= `exit ${code}`
      }
      if (failure === null) resolve(resultOf(this.#report, this.#asked))
      else resolve({ kind: 'unstarted', message: `the supervisor of helm did not start (${failure})` })
    })
  }

  #heed(line: string): void {
    try {
      const said = JSON.parse(line) as { group?: number } & Partial<SupervisorReport>
      if (typeof said.group === 'number') this.#group = said.group
      else if (said.stdout !== undefined) this.#report = said as SupervisorReport
    } catch {
      this.#options.logger.warn({}, 'the supervisor of helm said something that is no JSON')
    }
  }
}
