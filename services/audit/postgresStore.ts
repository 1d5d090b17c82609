import { Socket } from 'node:net'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type { Pool } from 'pg'
import { type Clock, sleep } from '../runtime/clock.ts'
import { migrate, RunsStore } from './runsStore.ts'
import { type AuditSchema, postgresMigrations } from './runsTable.ts'

/** Milliseconds until a server that says nothing counts as away; readers of runs wait that long. */
const CONNECT_MS = 3000
const QUERY_MS = 5000
/** Milliseconds that connections are given to be closed politely. */
const CLOSE_MS = 2000
/** Connections: one writes, the others read. */
const CONNECTIONS = 4

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; what it leaves out comes from the PG* variables. */
  url: string
  clock: Clock
  /** Called when a connection is found to have gone while nobody used it. */
  onLost?: () => void
}

/** A pool of connections to one PostgreSQL database. */
export class PostgresStore extends RunsStore {
  readonly #clock: Clock
  readonly #sockets: ReadonlySet<Socket>
  readonly #state: { lost: boolean }

  private constructor(
    db: Kysely<AuditSchema>,
    clock: Clock,
    sockets: ReadonlySet<Socket>,
    state: { lost: boolean },
  ) {
    super(db)
    this.#clock = clock
    this.#sockets = sockets
    this.#state = state
  }

  /** Connects, and brings the tables up to date; other gateways that do the same wait for each other. */
  static async open({ url, clock, onLost }: PostgresStoreOptions): Promise<PostgresStore> {
    const sockets = new Set<Socket>()
    const pool = await makePool(url, sockets)
    const state = { lost: false }
    pool.on('error', () => {
      state.lost = true
      onLost?.()
    })
    const db = new Kysely<AuditSchema>({ dialect: new PostgresDialect({ pool }) })
    const store = new PostgresStore(db, clock, sockets, state)
    try {
      await migrate(db, postgresMigrations, await schemaOf(db))
      return store
    } catch (error) {
      await store.close()
      throw error
    }
  }

  /** False once a connection has gone: the server may have been replaced by one without our tables. */
  override async isCurrent(): Promise<boolean> {
    return !this.#state.lost
  }

  /** Never waits longer than `CLOSE_MS`, though a server that has hung never says goodbye. */
  override async close(): Promise<void> {
    const closed = new AbortController()
    await Promise.race([
      super.close().finally(() => closed.abort()),
      sleep(this.#clock, CLOSE_MS, closed.signal),
    ])
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** Where our tables go: Kysely would take another program's list of migrations, in whatever schema, for ours. */
async function schemaOf(db: Kysely<AuditSchema>): Promise<string> {
  const { rows } = await sql<{ name: string | null }>`select current_schema() as name`.execute(db)
  return rows[0]?.name ?? 'public'
}

async function makePool(url: string, sockets: Set<Socket>): Promise<Pool> {
  // Loaded here, so that a gateway with SQLite does not wait for it.
  const { default: pg } = await import('pg')
  const parserOf = pg.types.getTypeParser as (oid: number, format?: 'text') => (text: string) => unknown
  const pool = new pg.Pool({
    connectionString: url,
    fallback_application_name: 'swiss-gateway',
    max: CONNECTIONS,
    // One stays, so that a server that goes away is noticed while nobody asks.
    min: 1,
    connectionTimeoutMillis: CONNECT_MS,
    // Not `statement_timeout`: poolers such as PgBouncer refuse a connection that asks for it.
    query_timeout: QUERY_MS,
    keepAlive: true,
    // 64-bit numbers come as texts otherwise; ours are milliseconds and revisions, and safe.
    types: {
      getTypeParser: (oid: number, format?: 'text') =>
        oid === pg.types.builtins.INT8 ? Number : parserOf(oid, format),
    } as NonNullable<ConstructorParameters<typeof pg.Pool>[0]>['types'],
    stream: () => {
      const socket = new Socket()
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
  })
  // The pool listens on idle connections only: one that dies in use would end the whole process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
