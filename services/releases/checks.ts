/** When uninstalls are checked: at most one check per release at a time, and reads ask at most once a second. */
import type { ClusterCaches } from '../deployments/caches.ts'
import { type ReleaseRef, type Row, releaseKey } from '../deployments/row.ts'
import type { DeploymentView } from '../deployments/view.ts'
import type { TaskTracker } from '../runtime/tasks.ts'
import type { Check } from './check.ts'
import type { CheckRequest } from './checkRequest.ts'
import type { OpenUninstall, UninstallTracker } from './tracker.ts'

const READ_INTERVAL_MS = 1000
/** A pass of the loop looks live at what was not looked at for so long: with a tick every 5 s, every 10 s at least. */
const LIVE_AFTER_MS = 7000
/** Checks of one pass that run at the same time. */
const PARALLEL = 8

const FROM_CACHE: CheckRequest = { live: false, mayRunHelm: false, askedAgain: false }

export class Checks {
  readonly #check: Check
  readonly #tracker: UninstallTracker
  readonly #tasks: TaskTracker
  readonly #now: () => number
  readonly #running = new Map<string, { again: CheckRequest | null; done: Promise<void> }>()
  readonly #readAt = new Map<string, number>()
  #stopped = false

  constructor(options: { check: Check; tracker: UninstallTracker; tasks: TaskTracker; now: () => number }) {
    this.#check = options.check
    this.#tracker = options.tracker
    this.#tasks = options.tasks
    this.#now = options.now
  }

  /** Checks at once whatever an informer shows of a release that is being uninstalled. */
  follow(caches: ClusterCaches, view: DeploymentView): () => void {
    const stops = [
      view.subscribe(({ after }) => {
        if (after?.phase === 'UNINSTALLING') this.request(after, FROM_CACHE)
      }),
      caches.helm.subscribe(({ old, now }) => {
        const record = now ?? old
        if (record) this.request({ namespace: record.namespace, name: record.release }, FROM_CACHE)
      }),
    ]
    return () => {
      for (const stop of stops) stop()
      this.#stopped = true
    }
  }

  /** A read of rows: starts their checks and does not wait, at most once a second per release. */
  onRead(rows: readonly Row[]): void {
    const now = this.#now()
    for (const row of rows) {
      if (row.phase !== 'UNINSTALLING') continue
      const key = releaseKey(row)
      if (now - (this.#readAt.get(key) ?? Number.NEGATIVE_INFINITY) < READ_INTERVAL_MS) continue
      this.#readAt.set(key, now)
      this.request(row, FROM_CACHE)
    }
  }

  /** Asks for a check. One that runs already is followed by one more, with the widest of what was asked for. */
  request(ref: ReleaseRef, request: CheckRequest): void {
    const open = this.#tracker.get(ref)
    // Owned by the task tracker; nobody here waits for it.
    if (open && !this.#stopped) this.#start(open, request).catch(() => undefined)
  }

  /** One pass over all of them. Resolves when each has been checked. */
  async pass(): Promise<void> {
    const waiting = this.#tracker.all
    const worker = async () => {
      for (let open = waiting.pop(); open && !this.#stopped; open = waiting.pop()) {
        const live = open.blocked || this.#now() - open.lookedAt >= LIVE_AFTER_MS
        await this.#start(open, { live, mayRunHelm: true, askedAgain: false })
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, worker))
    for (const key of this.#readAt.keys()) {
      const at = this.#readAt.get(key) ?? 0
      if (this.#now() - at > READ_INTERVAL_MS) this.#readAt.delete(key)
    }
  }

  #start(open: OpenUninstall, request: CheckRequest): Promise<void> {
    const key = releaseKey(open.ref)
    const running = this.#running.get(key)
    if (running) {
      running.again = widest(running.again, request)
      return running.done
    }
    const state = { again: null as CheckRequest | null, done: Promise.resolve() }
    this.#running.set(key, state)
    state.done = new Promise((resolve) => {
      this.#tasks.run(`check ${key}`, async () => {
        try {
          for (let next: CheckRequest | null = request; next; ) {
            state.again = null
            await this.#check.run(open, next)
            next = this.#tracker.get(open.ref) === open && !this.#stopped ? state.again : null
          }
        } finally {
          this.#running.delete(key)
          resolve()
        }
      })
    })
    return state.done
  }
}

function widest(a: CheckRequest | null, b: CheckRequest): CheckRequest {
  return {
    live: b.live || a?.live === true,
    mayRunHelm: b.mayRunHelm || a?.mayRunHelm === true,
    askedAgain: b.askedAgain || a?.askedAgain === true,
  }
}
