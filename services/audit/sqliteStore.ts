import { stat } from 'node:fs/promises'
import { Kysely, SqliteDialect } from 'kysely'
import { guarded } from './libsqlDatabase.ts'
import { migrate, RunsStore } from './runsStore.ts'
import { type AuditSchema, sqliteMigrations } from './runsTable.ts'

/**
 * Milliseconds to wait for another process's write. The driver blocks this whole process meanwhile, so it is
 * short: an entry that has to wait longer is tried again.
 */
const BUSY_MS = 50

/** One open SQLite file. */
export class SqliteStore extends RunsStore {
  readonly #path: string
  readonly #file: string | null

  private constructor(path: string, file: string | null, db: Kysely<AuditSchema>) {
    super(db)
    this.#path = path
    this.#file = file
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
      await migrate(db, sqliteMigrations)
      return new SqliteStore(path, await fileOf(path), db)
    } catch (error) {
      raw.close()
      throw error
    }
  }

  /** False when the path names another file by now, or none: then what is written here is lost. */
  override async isCurrent(): Promise<boolean> {
    return this.#file !== null && (await fileOf(this.#path)) === this.#file
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
