import type { SqliteDatabase, SqliteStatement } from 'kysely'
import type { Database } from 'libsql'

/**
 * libsql's driver as Kysely uses it, around what was found to go wrong in it (0.5.29):
 *
 * - A boolean parameter ends the whole process (a Rust panic in its native half), so parameters are looked at
 *   first.
 * - A statement that fails with SQLITE_BUSY stays "in progress", and then no transaction of that connection
 *   can be committed any more. So a transaction takes its lock at once, by `exec`, which leaves no statement.
 * - After SQLITE_FULL the transaction is over already, and a rollback would hide that error with another.
 */
export function guarded(raw: Database): SqliteDatabase {
  const transaction: Record<string, () => void> = {
    begin: () => raw.exec('BEGIN IMMEDIATE'),
    commit: () => raw.exec('COMMIT'),
    rollback: () => {
      if (raw.inTransaction) raw.exec('ROLLBACK')
    },
  }
  return {
    close: () => {
      raw.close()
    },
    prepare(text) {
      const step = transaction[text]
      return step ? stepOf(step) : statementOf(raw, text)
    },
  }
}

function stepOf(step: () => void): SqliteStatement {
  const nothing = () => [][Symbol.iterator]()
  return {
    reader: false,
    all: () => [],
    run: () => {
      step()
      return { changes: 0, lastInsertRowid: 0 }
    },
    iterate: nothing,
  }
}

function statementOf(raw: Database, text: string): SqliteStatement {
  const statement = raw.prepare(text)
  return {
    reader: statement.reader,
    all: (parameters) => statement.all(...checked(parameters)),
    run: (parameters) => statement.run(...checked(parameters)),
    iterate: (parameters) => statement.iterate(...checked(parameters)),
  }
}

/** As one list, which the driver takes for positional parameters. */
function checked(parameters: readonly unknown[]): [unknown[]] {
  for (const value of parameters) {
    const type = value === null ? 'null' : typeof value
    if (!['string', 'number', 'bigint', 'null'].includes(type)) throw new TypeError(`SQLite takes no ${type}`)
  }
  return [[...parameters]]
}
