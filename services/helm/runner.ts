import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { type ReleaseRef, releaseKey } from '../deployments/row.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { boundText } from './bound.ts'
import { type HelmResult, resultOf, type SupervisorReport } from './result.ts'

export interface HelmRunnerOptions {
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

export type HelmAvailable = { version: string } | { missing: string }

const BUDGET_MS = 15 * 60_000
const VERSION_TIMEOUT_MS = 20_000
/** Milliseconds for a supervisor to end its helm when asked to; then both are killed from here. */
const SUPERVISOR_MS = 5000
const MAX_REPORT_BYTES = 4 * 1024 * 1024
const DNS_NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/

/**
 * Runs helm, each time under a supervisor that ends it with its children when the gateway dies or may not go
 * on (contract, section 3, step 5).
 */
export class HelmRunner {
  readonly #options: HelmRunnerOptions
  readonly #runs = new Set<Run>()
  #available: Promise<HelmAvailable> | null = null

  constructor(options: HelmRunnerOptions) {
    this.#options = options
  }

  /** Runs under way. */
  get running(): number {
    return this.#runs.size
  }

  /** The version of helm (3 or newer) on this machine, or why there is none; the latter is looked at anew each time. */
  async available(): Promise<HelmAvailable> {
    const look = this.#available ?? this.#version()
    this.#available = look
    const answer = await look
    if ('missing' in answer && this.#available === look) this.#available = null
    return answer
  }

  /**
   * `helm uninstall <release> --namespace <ns>`: exactly these arguments, everything else by environment.
   * Resolves when helm is over and nothing of its process group runs any more; never rejects.
   */
  async uninstall(ref: ReleaseRef, options: RunOptions): Promise<HelmResult> {
    for (const name of [ref.namespace, ref.name]) {
      // A name that begins with a dash would be an option.
      if (!DNS_NAME.test(name)) return { kind: 'unstarted', message: `${JSON.stringify(name)} is no name` }
    }
    return this.#run(ref, ['uninstall', ref.name, '--namespace', ref.namespace], options)
  }

  /** Ends all runs as the death of the gateway would, by closing the supervisors' pipes. Resolves when they are over. */
  async killAll(): Promise<void> {
    const runs = [...this.#runs]
    for (const run of runs) run.abandon()
    await Promise.all(runs.map((run) => run.result))
  }

  async #run(ref: ReleaseRef, args: string[], options: RunOptions): Promise<HelmResult> {
    const { lease, signal } = options
    if (signal.aborted || lease?.lost.aborted) return { kind: 'lost', stdout: '', stderr: '' }
    const run = new Run(this.#options, args, options)
    this.#runs.add(run)
    try {
      const result = await run.result
      if (result.kind === 'unstarted') this.#available = null
      this.#options.logger.info({ release: releaseKey(ref), result: result.kind }, 'helm is over')
      return result
    } finally {
      this.#runs.delete(run)
    }
  }

  async #version(): Promise<HelmAvailable> {
    const { helmBin, env } = this.#options
    return new Promise((resolve) => {
      const limits = { timeout: VERSION_TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 1024 * 1024 } as const
      execFile(helmBin, ['version', '--short'], { env, ...limits }, (error, stdout) => {
        // Warnings may come before it, on either stream (file modes of the kubeconfig, deprecated settings).
        const version = /\bv(\d+)\.\d+\.\d+\S*/.exec(stdout)
        if (version && Number(version[1]) >= 3) resolve({ version: version[0] })
        else if (version) resolve({ missing: `helm ${version[0]} is too old; helm 3 or 4 is needed` })
        else resolve({ missing: whyMissing(helmBin, error) })
      })
    })
  }
}

function whyMissing(helmBin: string, error: (Error & { code?: string | number | null }) | null): string {
  if (error?.code === 'ENOENT') return `there is no ${helmBin} on this machine`
  if (error?.code === 'EACCES') return `${helmBin} may not be executed`
  return `${helmBin} does not tell its version`
}

/**
 * The system's monotonic clock in milliseconds, which the supervisor reads as well. It is no time of day: the
 * deadline has to mean the same in both processes, whatever the gateway's clock says.
 */
const monotonic = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/** One run of helm under its supervisor. */
class Run {
  readonly result: Promise<HelmResult>
  readonly #options: HelmRunnerOptions
  readonly #supervisor: ChildProcessWithoutNullStreams
  readonly #tearDown: (() => void)[] = []
  #asked: 'budget' | 'lost' | null = null
  #group: number | null = null
  #report: SupervisorReport | null = null
  #complaint = ''

  constructor(options: HelmRunnerOptions, args: readonly string[], { lease, signal, budgetMs }: RunOptions) {
    this.#options = options
    const { clock, helmBin, supervisorPath, execArgv = [] } = options
    const aliveUntil = (deadline: number) => Math.floor(monotonic() + deadline - clock.now())
    this.#supervisor = spawn(
      process.execPath,
      [...execArgv, supervisorPath, lease ? String(aliveUntil(lease.deadline)) : '-', helmBin, ...args],
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
