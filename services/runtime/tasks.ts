/** Handed to a piece of tracked work; lets it say when it only waits for something outside the gateway. */
export interface Task {
  /** Awaits `promise` while the task counts as parked: not busy, but still owned (a running helm, say). */
  park<T>(promise: Promise<T>): Promise<T>
}

/**
 * Owns every detached piece of work. A promise nobody owns is a bug: the shutdown waits for these, and a
 * test knows that all has happened when none of them is busy.
 */
export class TaskTracker {
  readonly #open = new Map<symbol, { name: string; parked: boolean }>()
  readonly #onError: (error: unknown, name: string) => void

  constructor(onError: (error: unknown, name: string) => void) {
    this.#onError = onError
  }

  /** Starts `work` and owns it until it settles. An error goes to `onError`, never to the process. */
  run(name: string, work: (task: Task) => Promise<void>): void {
    const key = Symbol(name)
    const state = { name, parked: false }
    this.#open.set(key, state)
    const task: Task = {
      park: async (promise) => {
        state.parked = true
        try {
          return await promise
        } finally {
          state.parked = false
        }
      },
    }
    const settle = () => this.#open.delete(key)
    Promise.resolve()
      .then(() => work(task))
      .catch((error: unknown) => this.#onError(error, name))
      .then(settle, settle)
  }

  /** Tasks that are doing something right now. */
  get busy(): number {
    let count = 0
    for (const task of this.#open.values()) if (!task.parked) count++
    return count
  }

  /** Names of all open tasks, parked ones too. */
  get open(): string[] {
    return [...this.#open.values()].map((task) => task.name)
  }
}
