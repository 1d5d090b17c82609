import { stat } from 'node:fs/promises'
import { Kysely, Migrator, SqliteDialect, sql, type Transaction } from 'kysely'
import { closedRun } from './close.ts'
import { decodeRunCursor, encodeRunCursor, type RunPlace } from './cursor.ts'
import { guarded } from './libsqlDatabase.ts'
import { emptyPage } from './memoryAudit.ts'
import type { AuditLog, Run, RunEnd, RunFilter, RunPage } from './run.ts'
import { type AuditSchema, fromRow, migrations, toRow } from './runsTable.ts'

/** What is written, in the order in which it was said. */
export type AuditEntry = { kind: 'start'; run: Run } | { kind: 'finish'; run: Run; end: RunEnd }

/**
 * Milliseconds to wait for another process's write. The driver blocks this whole process meanwhile, so it is
 * short: an entry that has to wait longer is tried again.
 */
const BUSY_MS = 50
const MIGRATION_TRIES = 5

/** One open SQLite file. Every method throws when the store fails; `sqliteAudit` deals with that. */
export class SqliteStore {
  readonly #path: string
  readonly #file: string | null
  readonly #db: Kysely<AuditSchema>

  private constructor(path: string, file: string | null, db: Kysely<AuditSchema>) {
    this.#path = path
    this.#file = file
    this.#db = db
  }

  /** Opens the file, makes it if it is not there (its folder must be), and brings its tables up to date. */
  static async open(path: string): Promise<SqliteStore> {
    // Loaded here, so that a platform without its binary loses the history only.
    const { default: Database } = await import('libsql')
    const raw = new Database(path)
    try {
      raw.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
      // Readers and a writer of another process do not wait for each other.
      raw.exec('PRAGMA journal_mode = WAL')
      raw.exec('PRAGMA synchronous = NORMAL')
      const db = new Kysely<AuditSchema>({ dialect: new SqliteDialect({ database: guarded(raw) }) })
      await migrate(db)
      return new SqliteStore(path, await fileOf(path), db)
    } catch (error) {
      raw.close()
      throw error
    }
  }

  /** False when the path names another file by now, or none: then what is written here is lost. */
  async isCurrent(): Promise<boolean> {
    return this.#file !== null && (await fileOf(this.#path)) === this.#file
  }

  /** Writes all entries or none. */
  async write(entries: readonly AuditEntry[]): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      for (const entry of entries) {
        if (entry.kind === 'start') await insert(trx, entry.run)
        else await finish(trx, entry.run, entry.end)
      }
    })
  }

  async open(): Promise<Run[]> {
    const rows = await this.#db
      .selectFrom('runs')
      .selectAll()
      .where('outcome', '=', 'STARTED')
      .orderBy('started_ms')
      .orderBy('id')
      .execute()
    return rows.map(fromRow)
  }

  async get(id: string): Promise<Run | null> {
    const row = await this.#db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst()
    return row ? fromRow(row) : null
  }

  async page({ first, after, filter }: Parameters<AuditLog['page']>[0]): Promise<RunPage> {
    const place = after === undefined ? null : decodeRunCursor(after)
    if (after !== undefined && place === null) return emptyPage(true)
    const fitting = this.#fitting(filter)
    const rows = await (place ? fitting.where(isAfter(place)) : fitting)
      .selectAll()
      .orderBy('started_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(first + 1)
      .execute()
    const before = place
      ? await fitting
          .where(sql<boolean>`not ${isAfter(place)}`)
          .select('id')
          .limit(1)
          .execute()
      : []
    return {
      edges: rows.slice(0, first).map((row) => ({
        cursor: encodeRunCursor({ startedMs: row.started_ms, id: row.id }),
        run: fromRow(row),
      })),
      hasNextPage: rows.length > first,
      hasPreviousPage: before.length > 0,
      available: true,
    }
  }

  async close(): Promise<void> {
    await this.#db.destroy()
  }

  #fitting(filter: RunFilter = {}) {
    const { namespace, name, actions, outcomes, actors, backends, since, until } = filter
    let query = this.#db.selectFrom('runs')
    if (namespace !== undefined) query = query.where('namespace', '=', namespace)
    if (name !== undefined) query = query.where('name', '=', name)
    if (actions) query = query.where('action', 'in', [...actions])
    if (outcomes) query = query.where('outcome', 'in', [...outcomes])
    if (actors) query = query.where('actor', 'in', [...actors])
    if (backends) query = query.where('backend', 'in', [...backends])
    if (since !== undefined) query = query.where('started_ms', '>=', Date.parse(since))
    if (until !== undefined) query = query.where('started_ms', '<', Date.parse(until))
    return query
  }
}

const isAfter = ({ startedMs, id }: RunPlace) => sql<boolean>`(started_ms, id) < (${startedMs}, ${id})`

/** A run that is there already, open or closed, stays as it is. */
async function insert(trx: Transaction<AuditSchema>, run: Run): Promise<void> {
  await trx
    .insertInto('runs')
    .values(toRow(run))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/** Exactly one of several writers, in whatever process, closes an open run. */
async function finish(trx: Transaction<AuditSchema>, run: Run, end: RunEnd): Promise<void> {
  const closed = toRow(closedRun(null, run, end))
  const { numUpdatedRows } = await trx
    .updateTable('runs')
    .set({
      outcome: closed.outcome,
      error: closed.error,
      output: closed.output,
      ended_at: closed.ended_at,
      object_uid: sql`coalesce(${closed.object_uid}, object_uid)`,
      plan_hash: sql`coalesce(${closed.plan_hash}, plan_hash)`,
      revision: sql`coalesce(${closed.revision}, revision)`,
      changed: sql`max(${closed.changed}, changed)`,
    })
    .where('id', '=', run.id)
    .where('outcome', '=', 'STARTED')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) await insert(trx, closedRun(null, run, end))
}

/** Another gateway may be at it at this very moment; then what it did is found the next time. */
async function migrate(db: Kysely<AuditSchema>): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { error } = await new Migrator({ db, provider: migrations }).migrateToLatest()
    if (error === undefined) return
    if (tries === MIGRATION_TRIES) throw error
  }
}

/** Which file a path names; null when it names none. */
async function fileOf(path: string): Promise<string | null> {
  try {
    const { dev, ino } = await stat(path)
    return `${dev}:${ino}`
  } catch {
    return null
  }
}
