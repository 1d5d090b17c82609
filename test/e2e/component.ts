// One program of a control plane: it can be killed and started again, and it says when it has ended by itself.
import type { Managed, Processes } from './processes.ts'
import { Fatal } from './wait.ts'

export class Component {
  readonly name: string
  readonly #begin: () => Managed
  readonly #processes: Processes
  #now: Managed | undefined

  /** Does not run yet. `name` is its log's, too. */
  constructor(
    processes: Processes,
    name: string,
    command: string,
    args: string[],
    env: Record<string, string> = {},
  ) {
    this.name = name
    this.#processes = processes
    this.#begin = () => processes.start(name, command, args, env)
  }

  start(): void {
    if (this.#now !== undefined) throw new Error(`${this.name} runs already`)
    this.#now = this.#begin()
  }

  /** `kill -9`. Resolves when it is over; one that does not run is as good. */
  async kill(): Promise<void> {
    const now = this.#now
    this.#now = undefined
    if (now !== undefined) await this.#processes.kill([now])
  }

  /** Throws when it has ended and nobody has asked for it. */
  check(): void {
    const ended = this.#now?.ended() ?? null
    if (ended !== null) throw new Fatal(`${this.name} has ended (${ended})`)
  }

  /** For a report's log; undefined while it does not run. */
  get process(): Managed | undefined {
    return this.#now
  }
}
