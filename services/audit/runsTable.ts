import { type Kysely, type Migration, type RawBuilder, sql } from 'kysely'
import type { Backend } from '../deployments/row.ts'
import type { Run, RunAction, RunOutcome } from './run.ts'

/** The table of runs. SQLite has no booleans: `changed` is 0 or 1. Numbers are whole and safe. */
export interface RunsTable {
  id: string
  namespace: string
  name: string
  backend: string
  action: string
  outcome: string
  actor: string | null
  note: string | null
  object_uid: string | null
  plan_hash: string | null
  revision: number | null
  changed: number
  error: string | null
  output: string | null
  started_at: string
  /** Milliseconds since the epoch, to sort by: the texts may differ in their precision. */
  started_ms: number
  ended_at: string | null
}

export interface AuditSchema {
  runs: RunsTable
}

// Kysely takes no lock for SQLite, so two gateways may run a migration at the same moment: each step has to
// be one that can be done twice.
const first = (idType: IdType): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('runs')
      .ifNotExists()
      .addColumn('id', idType, (column) => column.primaryKey().notNull())
      .addColumn('namespace', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('backend', 'text', (column) => column.notNull())
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('actor', 'text')
      .addColumn('note', 'text')
      .addColumn('object_uid', 'text')
      .addColumn('plan_hash', 'text')
      .addColumn('revision', 'bigint')
      .addColumn('changed', 'integer', (column) => column.notNull())
      .addColumn('error', 'text')
      .addColumn('output', 'text')
      .addColumn('started_at', 'text', (column) => column.notNull())
      .addColumn('started_ms', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'text')
      .execute()
    for (const [name, columns] of INDEXES) {
      await sql`create index if not exists ${sql.id(name)} on runs (${sql.raw(columns)}, started_ms, id)`.execute(
        db,
      )
    }
    await sql`create index if not exists runs_by_start on runs (started_ms, id)`.execute(db)
    await sql`create index if not exists runs_open on runs (started_ms, id) where outcome = 'STARTED'`.execute(
      db,
    )
  },
})

const INDEXES = [
  ['runs_by_release', 'namespace, name'],
  ['runs_by_action', 'action'],
  ['runs_by_actor', 'actor'],
  ['runs_by_outcome', 'outcome'],
] as const

/** Ids sort byte by byte, whatever the language of the database: cursors depend on it. */
type IdType = 'text' | RawBuilder<unknown>

export const sqliteMigrations: Record<string, Migration> = { '001-runs': first('text') }
export const postgresMigrations: Record<string, Migration> = { '001-runs': first(sql`text collate "C"`) }

export function toRow(run: Run): RunsTable {
  return {
    id: run.id,
    namespace: run.namespace,
    name: run.name,
    backend: run.backend,
    action: run.action,
    outcome: run.outcome,
    actor: run.actor,
    note: run.note,
    object_uid: run.objectUid,
    plan_hash: run.planHash,
    revision: run.revision,
    changed: run.changed ? 1 : 0,
    error: run.error,
    output: run.output,
    started_at: run.startedAt,
    started_ms: Date.parse(run.startedAt) || 0,
    ended_at: run.endedAt,
  }
}

export function fromRow(row: RunsTable): Run {
  return {
    id: row.id,
    namespace: row.namespace,
    name: row.name,
    backend: row.backend as Backend,
    action: row.action as RunAction,
    outcome: row.outcome as RunOutcome,
    actor: row.actor,
    note: row.note,
    objectUid: row.object_uid,
    planHash: row.plan_hash,
    revision: row.revision,
    changed: row.changed !== 0,
    error: row.error,
    output: row.output,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  }
}
