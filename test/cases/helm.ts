import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HelmSetting } from './stepFormat.ts'

const standIn = fileURLToPath(new URL('../../dist/sandbox/helm/main.js', import.meta.url))

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * The sandbox helm of one case: an executable of its own whose answers the case chooses and whose calls it sees,
 * by way of the stand-in's control folder.
 */
export class CaseHelm {
  /** Path of the executable to give to a gateway. */
  readonly bin: string
  readonly #folder: string
  #behaviour: Omit<HelmSetting, 'release'> = {}
  #looked = 0
  readonly #ended = new Set<number>()

  /** @param folder an empty folder that lives as long as the case */
  constructor(folder: string) {
    if (!existsSync(standIn)) throw new Error(`${standIn} is not there: run \`npm run build\` first`)
    this.#folder = folder
    this.bin = join(folder, 'helm')
    for (const name of ['held', 'release']) mkdirSync(join(folder, name))
    const command = `exec ${quoted(process.execPath)} ${quoted(standIn)} "$@"`
    writeFileSync(
      this.bin,
      `#!/bin/sh\nSANDBOX_HELM_CONTROL=${quoted(folder)}\nexport SANDBOX_HELM_CONTROL\n${command}\n`,
    )
    chmodSync(this.bin, 0o755)
    this.#write()
  }

  /** From now on it answers like this; a new setting replaces the old one of that command as a whole. */
  set({ release, ...behaviour }: HelmSetting): void {
    this.#behaviour = { ...this.#behaviour, ...behaviour }
    this.#write()
    if (release) this.release()
  }

  /** Lets every held call go on. */
  release(): void {
    for (const pid of this.held()) writeFileSync(join(this.#folder, 'release', String(pid)), '')
  }

  /** Process ids of the calls that are held right now. */
  held(): number[] {
    return readdirSync(join(this.#folder, 'held'))
      .filter((pid) => !existsSync(join(this.#folder, 'release', pid)))
      .map(Number)
      .filter(isAlive)
  }

  /** Process ids of recorded calls that have not ended, held ones too. */
  running(): number[] {
    const alive = this.#calls().filter(({ pid }) => !this.#ended.has(pid) && isAlive(pid))
    // Ids are used again, but not by one case: what has ended need not be looked at any more.
    for (const { pid } of this.#calls()) if (!alive.some((call) => call.pid === pid)) this.#ended.add(pid)
    return alive.map(({ pid }) => pid)
  }

  /** Arguments of the calls since the last look, oldest first. */
  look(): string[][] {
    const calls = this.#calls().slice(this.#looked)
    this.#looked += calls.length
    return calls.map(({ args }) => args)
  }

  #known = { size: 0, calls: [] as { pid: number; args: string[] }[] }

  #calls() {
    const path = join(this.#folder, 'calls.jsonl')
    const size = existsSync(path) ? statSync(path).size : 0
    if (size !== this.#known.size) {
      const lines = readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
      this.#known = { size, calls: lines.map((line) => JSON.parse(line) as { pid: number; args: string[] }) }
    }
    return this.#known.calls
  }

  /** Renamed into place, so that a call that starts meanwhile never reads half of it. */
  #write(): void {
    const path = join(this.#folder, 'behaviour.json')
    writeFileSync(`${path}.new`, JSON.stringify(this.#behaviour))
    renameSync(`${path}.new`, path)
  }
}

/** A process that has ended but was not waited for yet (a zombie) does not count as alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return state.slice(state.lastIndexOf(')') + 2, state.lastIndexOf(')') + 3) !== 'Z'
  } catch {
    return !existsSync('/proc/self/stat')
  }
}
