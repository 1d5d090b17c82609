import { type Clock, sleep } from '../services/runtime/clock.ts'
import type { TaskTracker } from '../services/runtime/tasks.ts'

export interface LoopOptions {
  name: string
  /** Milliseconds from the end of a pass to the beginning of the next. */
  everyMs: number
  /** Passes are made by one gateway only. */
  isLeader: () => boolean
  /** One pass; level-based, so that a pass that is left out or made twice does no harm. */
  pass: () => Promise<void>
  clock: Clock
  tasks: TaskTracker
}

/** A leader-elected ticker: says when to run, never what to do. */
export class Loop {
  readonly #options: LoopOptions

  constructor(options: LoopOptions) {
    this.#options = options
  }

  /** One pass now, whether or not this gateway leads. */
  async tick(): Promise<void> {
    const { name, pass, tasks } = this.#options
    await new Promise<void>((resolve) => {
      tasks.run(`${name} loop`, async () => {
        try {
          await pass()
        } finally {
          resolve()
        }
      })
    })
  }

  /** Ticks while this gateway leads. The result ends it; a pass that is under way is the task tracker's. */
  start(): () => void {
    const { everyMs, clock, isLeader, name, tasks } = this.#options
    const stop = new AbortController()
    tasks.run(`${name} ticker`, (task) =>
      task.park(
        (async () => {
          while (!stop.signal.aborted) {
            await sleep(clock, everyMs, stop.signal)
            if (!stop.signal.aborted && isLeader()) await this.tick()
          }
        })(),
      ),
    )
    return () => stop.abort()
  }
}
