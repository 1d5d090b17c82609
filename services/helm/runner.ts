import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { type ReleaseRef, releaseKey } from '../deployments/row.ts'
import type { HelmResult } from './result.ts'
import { type RunOptions, type SupervisedOptions, SupervisedRun } from './supervised.ts'
import { rollbackArgs, type Upgrade, upgradeArgs } from './upgrade.ts'
import { removeStale, type ValueFiles, writeValueFiles } from './valueFiles.ts'

export type { RunLease, RunOptions } from './supervised.ts'

export interface HelmRunnerOptions extends SupervisedOptions {
  /** Where the value files of a run lie while it lasts; the machine's own folder by default. */
  tempDir?: string
}

export type HelmAvailable = { version: string } | { missing: string }

const VERSION_TIMEOUT_MS = 20_000
const DNS_NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/

/**
 * Runs helm, each time under a supervisor that ends it with its children when the gateway dies or may not go
 * on (contract, section 3, step 5).
 */
export class HelmRunner {
  readonly #options: HelmRunnerOptions
  readonly #runs = new Set<SupervisedRun>()
  #available: Promise<HelmAvailable> | null = null
  /** What earlier processes have left behind is looked for once, before the first folder of this one. */
  #swept: Promise<void> | null = null
  #preparing = 0

  constructor(options: HelmRunnerOptions) {
    this.#options = options
  }

  /** Runs under way, those whose value files are being written or taken away too. */
  get running(): number {
    return this.#runs.size + this.#preparing
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
    return this.#run(ref, ['uninstall', ref.name, '--namespace', ref.namespace], options)
  }

  /**
   * `helm upgrade --install`, with the arguments of section 7 of the contract. The values lie in a private folder
   * as long as it lasts; the supervisor takes them away when this process is dead by then. Never rejects.
   */
  async upgrade(ref: ReleaseRef, upgrade: Upgrade, options: RunOptions): Promise<HelmResult> {
    let files: ValueFiles
    this.#preparing++
    try {
      const { tempDir = tmpdir() } = this.#options
      this.#swept ??= removeStale(tempDir)
      await this.#swept
      files = await writeValueFiles(tempDir, upgrade.layers)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
      return { kind: 'unstarted', message: `the value files could not be written (${code})` }
    } finally {
      this.#preparing--
    }
    try {
      return await this.#run(ref, upgradeArgs(ref, upgrade, files.paths), options, files.folder)
    } finally {
      // Still under way: whoever looks now must not take it for over before its result is there.
      this.#preparing++
      await files.remove().finally(() => this.#preparing--)
    }
  }

  /** `helm rollback <release> <revision> --namespace <ns>`. Never rejects. */
  async rollback(ref: ReleaseRef, revision: number, options: RunOptions): Promise<HelmResult> {
    return this.#run(ref, rollbackArgs(ref, revision), options)
  }

  /** Ends all runs as the death of the gateway would, by closing the supervisors' pipes. Resolves when they are over. */
  async killAll(): Promise<void> {
    const runs = [...this.#runs]
    for (const run of runs) run.abandon()
    await Promise.all(runs.map((run) => run.result))
  }

  async #run(
    ref: ReleaseRef,
    args: string[],
    options: RunOptions,
    folder: string | null = null,
  ): Promise<HelmResult> {
    for (const name of [ref.namespace, ref.name]) {
      // A name that begins with a dash would be an option.
      if (!DNS_NAME.test(name)) return { kind: 'unstarted', message: `${JSON.stringify(name)} is no name` }
    }
    const { lease, signal } = options
    if (signal.aborted || lease?.lost.aborted) return { kind: 'lost', stdout: '', stderr: '' }
    const run = new SupervisedRun(this.#options, args, options, folder)
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
