import { type Kysely, type Migration, Migrator, sql, type Transaction } from 'kysely'
import type { AuditEntry, AuditStore } from './auditStore.ts'
import { closedRun } from './close.ts'
import { decodeRunCursor, encodeRunCursor, type RunPlace } from './cursor.ts'
import { emptyPage } from './memoryAudit.ts'
import type { AuditLog, Run, RunEnd, RunFilter, RunPage } from './run.ts'
import { type AuditSchema, fromRow, toRow } from './runsTable.ts'

const MIGRATION_TRIES = 5

/** The table of runs in a SQL database: what SQLite and PostgreSQL have in common, which is every query. */
export class RunsStore implements AuditStore {
  readonly #db: Kysely<AuditSchema>

  constructor(db: Kysely<AuditSchema>) {
    this.#db = db
  }

  async isCurrent(): Promise<boolean> {
    return true
  }

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
    if (hasNul(id)) return null
    const row = await this.#db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst()
    return row ? fromRow(row) : null
  }

  async page({ first, after, filter }: Parameters<AuditLog['page']>[0]): Promise<RunPage> {
    const place = after === undefined ? null : decodeRunCursor(after)
    if (after !== undefined && (place === null || hasNul(place.id))) return emptyPage(true)
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
    const { namespace, name, since, until } = filter
    let query = this.#db.selectFrom('runs')
    if (namespace !== undefined) query = query.where(isOneOf('namespace', [namespace]))
    if (name !== undefined) query = query.where(isOneOf('name', [name]))
    for (const [column, values] of [
      ['action', filter.actions],
      ['outcome', filter.outcomes],
      ['actor', filter.actors],
      ['backend', filter.backends],
    ] as const) {
      if (values) query = query.where(isOneOf(column, values))
    }
    if (since !== undefined) query = query.where('started_ms', '>=', Date.parse(since))
    if (until !== undefined) query = query.where('started_ms', '<', Date.parse(until))
    return query
  }
}

const isAfter = ({ startedMs, id }: RunPlace) => sql<boolean>`(started_ms, id) < (${startedMs}, ${id})`

/** PostgreSQL refuses a text with a NUL, so none is stored, and none can be found. */
const hasNul = (text: string): boolean => text.includes('\0')

/** An empty list fits nothing; PostgreSQL has no way to write one down. */
function isOneOf(column: keyof AuditSchema['runs'], values: readonly string[]) {
  const possible = values.filter((value) => !hasNul(value))
  if (possible.length === 0) return sql<boolean>`1 = 0`
  return sql<boolean>`${sql.ref(column)} in (${sql.join(possible)})`
}

/** A run that is there already, open or closed, stays as it is. */
async function insert(trx: Transaction<AuditSchema>, run: Run): Promise<void> {
  await trx
    .insertInto('runs')
    .values(toRow(run))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/**
 * Closes an open run, or makes it where it is not there, in one statement: an update followed by an insert
 * would miss a row that another process is inserting at that moment.
 */
async function finish(trx: Transaction<AuditSchema>, run: Run, end: RunEnd): Promise<void> {
  await trx
    .insertInto('runs')
    .values(toRow(closedRun(null, run, end)))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((eb) => ({
          outcome: eb.ref('excluded.outcome'),
          error: eb.ref('excluded.error'),
          output: eb.ref('excluded.output'),
          ended_at: eb.ref('excluded.ended_at'),
          object_uid: sql`coalesce(excluded.object_uid, runs.object_uid)`,
          plan_hash: sql`coalesce(excluded.plan_hash, runs.plan_hash)`,
          revision: sql`coalesce(excluded.revision, runs.revision)`,
          changed: sql`case when excluded.changed = 1 then 1 else runs.changed end`,
        }))
        .where('runs.outcome', '=', 'STARTED'),
    )
    .execute()
}

/**
 * Brings the tables up to date. Another gateway may be at it at this very moment; then what it did is found
 * the next time.
 *
 * @param schema where the list of migrations is kept, in a database that has several
 */
export async function migrate(
  db: Kysely<AuditSchema>,
  migrations: Record<string, Migration>,
  schema?: string,
): Promise<void> {
  const provider = { getMigrations: async () => migrations }
  const place = schema === undefined ? {} : { migrationTableSchema: schema }
  for (let tries = 1; ; tries++) {
    const { error } = await new Migrator({ db, provider, ...place }).migrateToLatest()
    if (error === undefined) return
    if (tries === MIGRATION_TRIES) throw error
  }
}
