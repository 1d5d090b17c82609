/** What a failure of the SQLite store means. */
import type { StoreFailures } from './auditStore.ts'

const WORDS: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'the disk is full',
  SQLITE_READONLY: 'it is read-only',
  SQLITE_CORRUPT: 'its file is damaged',
  SQLITE_NOTADB: 'its file is no database',
  SQLITE_CANTOPEN: 'its file cannot be opened',
  SQLITE_BUSY: 'another process holds it',
  SQLITE_LOCKED: 'another process holds it',
  SQLITE_IOERR: 'its file cannot be read or written',
  MODULE_NOT_FOUND: 'its driver does not exist for this platform',
}

function trouble(error: unknown): string {
  const code = codeOf(error)
  if (code in WORDS) return WORDS[code] as string
  // The driver has no code for a file that it cannot open.
  if (error instanceof Error && error.message.startsWith('ConnectionFailed'))
    return 'its file cannot be opened'
  return code === '' ? 'it fails' : `it fails with ${code}`
}

const isBusy = (error: unknown): boolean => ['SQLITE_BUSY', 'SQLITE_LOCKED'].includes(codeOf(error))

function isEntryAtFault(error: unknown): boolean {
  if (error instanceof TypeError) return !error.message.includes('not open')
  return (
    error instanceof RangeError ||
    ['SQLITE_CONSTRAINT', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG', 'SQLITE_RANGE'].includes(codeOf(error))
  )
}

/** The primary result code: `SQLITE_IOERR_WRITE` is an `SQLITE_IOERR`. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return ''
  return code.startsWith('SQLITE_') ? (/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code) : code
}

export const sqliteFailures: StoreFailures = { trouble, detail: String, isBusy, isEntryAtFault }
