import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { AuditEntry, AuditStore, StoreFailures } from './auditStore.ts'
import { boundRun, closedRun } from './close.ts'
import { newestFirst, placeOf } from './cursor.ts'
import { emptyPage } from './memoryAudit.ts'
import type { AuditLog, Run, RunEnd, RunPage } from './run.ts'

export interface StoredAuditOptions {
  /** See `AuditLog.shared`. */
  shared: boolean
  /**
   * Opens the store and brings its tables up to date; throws when it is away.
   *
   * @param onLost to be called when an open store is found to have gone; `isCurrent` then says so as well
   */
  openStore: (onLost: () => void) => Promise<AuditStore>
  failures: StoreFailures
  /** Said with every line of the gateway's log. */
  about: object
  clock: Clock
  logger: Logger
}

/** Milliseconds until what could not be written is tried again; sooner when another process holds the file. */
const RETRY_MS = 5000
const BUSY_RETRY_MS = 250
/** Waiting this often for another process is trouble. */
const BUSY_LIMIT = 20
/** Tries to write what waits when the log is closed; each waits a moment for another process. */
const CLOSE_TRIES = 20
/** Entries kept in memory while the store is away: the oldest go first. */
const MAX_WAITING = 10_000
const BATCH = 200

/**
 * An audit log in a store that may be away: what is said is kept in memory until it is written, in the order
 * in which it was said.
 */
export class StoredAudit implements AuditLog {
  readonly #options: StoredAuditOptions
  #store: AuditStore | null = null
  #opening: Promise<AuditStore> | null = null
  /** The last try to open the store has failed, so there is nothing to read either. */
  #unopened = false
  #waiting: AuditEntry[] = []
  /** What is being written right now. */
  #batch: AuditEntry[] = []
  #lost = 0
  #trouble: string | null = null
  #busy = 0
  #pumping: Promise<void> | null = null
  #cancelRetry: (() => void) | null = null
  #closed = false

  constructor(options: StoredAuditOptions) {
    this.#options = options
    this.#kick()
  }

  get shared(): boolean {
    return this.#options.shared
  }

  start(run: Run): void {
    this.#say({ kind: 'start', run: boundRun(run) })
  }

  finish(run: Run, end: RunEnd): void {
    this.#say({ kind: 'finish', run: boundRun(run), end })
  }

  async open(): Promise<Run[]> {
    const stored = await this.#read((store) => store.open(), [])
    const open = new Map(stored.map((run) => [run.id, run]))
    for (const run of this.#pending(open).values()) open.set(run.id, run)
    return [...open.values()]
      .filter((run) => run.outcome === 'STARTED')
      .sort((one, other) => newestFirst(placeOf(other), placeOf(one)))
  }

  async get(id: string): Promise<Run | null> {
    const stored = await this.#read((store) => store.get(id), null)
    return this.#pending(new Map(stored ? [[id, stored]] : [])).get(id) ?? stored
  }

  async page(args: Parameters<AuditLog['page']>[0]): Promise<RunPage> {
    return this.#read((store) => store.page(args), emptyPage(false))
  }

  warning(): string | null {
    const parts: string[] = []
    const waiting = this.#waiting.length + this.#batch.length
    if (this.#trouble !== null) {
      parts.push(`the audit log cannot be used (${this.#trouble})`)
      if (waiting > 0) parts.push(`${waiting} entries wait in memory`)
    }
    if (this.#lost > 0) parts.push(`${this.#lost} entries of the audit log are lost`)
    return parts.length > 0 ? parts.join('; ') : null
  }

  async flush(): Promise<void> {
    do {
      this.#pumping ??= this.#pump().finally(() => {
        this.#pumping = null
      })
      await this.#pumping
      // What was said while the last batch ended is still waiting; after a failure the timer has its turn.
    } while (this.#waiting.length > 0 && this.#cancelRetry === null && !this.#closed)
  }

  async close(): Promise<void> {
    for (let tries = 0; tries < CLOSE_TRIES; tries++) {
      await this.flush()
      // Only another process's write is worth waiting for.
      if (this.#waiting.length === 0 || this.#busy === 0) break
    }
    this.#closed = true
    this.#cancelRetry?.()
    if (this.#store) await this.#dropStore(this.#store)
  }

  /** Writes what waits, with nobody waiting for it. */
  #kick(): void {
    this.flush().catch((error: unknown) => {
      this.#options.logger.error({ error: String(error) }, 'the audit log has failed unexpectedly')
    })
  }

  #say(entry: AuditEntry): void {
    if (this.#closed) return
    this.#waiting.push(entry)
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting.shift()
      this.#lost++
    }
    // While the store is away the timer looks after it, and whoever reads.
    if (this.#cancelRetry === null) this.#kick()
  }

  /** Writes what waits, batch by batch, until all is written or the store fails. Never rejects. */
  async #pump(): Promise<void> {
    if (this.#closed) return
    this.#cancelRetry?.()
    this.#cancelRetry = null
    let store: AuditStore | null = null
    try {
      store = await this.#openStore()
      while (this.#waiting.length > 0) await this.#writeBatch(store)
      if (this.#trouble !== null) this.#options.logger.info({}, 'the audit log is back')
      this.#trouble = null
      this.#busy = 0
    } catch (error) {
      await this.#failed(error, store)
    }
  }

  async #writeBatch(store: AuditStore): Promise<void> {
    this.#batch = this.#waiting.splice(0, BATCH)
    try {
      await store.write(this.#batch)
      this.#batch = []
    } catch (error) {
      const batch = this.#batch
      this.#batch = []
      if (!this.#options.failures.isEntryAtFault(error)) {
        this.#waiting.unshift(...batch)
        throw error
      }
      await this.#writeSingly(store, batch)
    }
  }

  /** One entry that the store does not take must not hold up all others for ever. */
  async #writeSingly(store: AuditStore, entries: readonly AuditEntry[]): Promise<void> {
    for (const [index, entry] of entries.entries()) {
      try {
        await store.write([entry])
      } catch (error) {
        if (!this.#options.failures.isEntryAtFault(error)) {
          this.#waiting.unshift(...entries.slice(index))
          throw error
        }
        this.#lost++
        const about = { run: entry.run.id, reason: this.#options.failures.trouble(error) }
        this.#options.logger.error(about, 'a run could not be recorded')
      }
    }
  }

  async #openStore(): Promise<AuditStore> {
    if (this.#store && !(await this.#store.isCurrent())) {
      this.#options.logger.warn({}, 'the store of the audit log has gone or was replaced; it is opened again')
      await this.#dropStore(this.#store)
    }
    if (this.#store) return this.#store
    this.#unopened = true
    this.#opening ??= this.#options
      .openStore(() => this.#lookNow())
      .finally(() => {
        this.#opening = null
      })
    const store = await this.#opening
    this.#unopened = false
    this.#store = store
    if (this.#closed) {
      await this.#dropStore(store)
      throw new Error('the audit log is closed')
    }
    return store
  }

  /** Looks at once whether the store is there, so that the warning does not wait for the next entry. */
  #lookNow(): void {
    if (!this.#closed && this.#cancelRetry === null) this.#kick()
  }

  /** Says so, and arms the next try. `store` is what has failed, if it was open. */
  async #failed(error: unknown, store: AuditStore | null): Promise<void> {
    const { clock, logger, about, failures } = this.#options
    const busy = failures.isBusy(error)
    if (busy) this.#busy++
    if (!busy || this.#busy >= BUSY_LIMIT) {
      const trouble = failures.trouble(error)
      const news = trouble !== this.#trouble
      this.#trouble = trouble
      if (news) logger.warn({ ...about, error: failures.detail(error) }, 'the audit log cannot be used')
    }
    // A connection on which something has failed is not trusted with the next try.
    if (store) await this.#dropStore(store)
    this.#cancelRetry?.()
    this.#cancelRetry = this.#closed
      ? null
      : clock.setTimer(busy ? BUSY_RETRY_MS : RETRY_MS, () => {
          this.#cancelRetry = null
          this.#kick()
        })
  }

  async #dropStore(store: AuditStore): Promise<void> {
    if (this.#store === store) this.#store = null
    await store.close().catch((error: unknown) => {
      const detail = this.#options.failures.detail(error)
      this.#options.logger.debug({ error: detail }, 'the audit log was not closed cleanly')
    })
  }

  /** An answer of the store, once what waits has been written; `away` when it cannot be read. */
  async #read<T>(query: (store: AuditStore) => Promise<T>, away: T): Promise<T> {
    await this.flush()
    if (this.#closed || this.#unopened) return away
    let store: AuditStore | null = null
    try {
      // A store that cannot be written (full, read-only) may still be read.
      store = await this.#openStore()
      return await query(store)
    } catch (error) {
      const { isBusy, isEntryAtFault } = this.#options.failures
      if (!isBusy(error) && !isEntryAtFault(error)) await this.#failed(error, store)
      return away
    }
  }

  /** The runs that unwritten entries are about, as they will be; `known` are the stored ones. */
  #pending(known: ReadonlyMap<string, Run>): Map<string, Run> {
    const runs = new Map<string, Run>()
    for (const entry of [...this.#batch, ...this.#waiting]) {
      const { id } = entry.run
      const before = runs.get(id) ?? known.get(id) ?? null
      if (entry.kind === 'start') runs.set(id, before ?? entry.run)
      else if (before === null || before.outcome === 'STARTED') {
        runs.set(id, closedRun(before, entry.run, entry.end))
      }
    }
    return runs
  }
}
