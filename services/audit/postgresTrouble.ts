/** What a failure of the PostgreSQL store means. */
import type { StoreFailures } from './auditStore.ts'

const UNREACHABLE = 'it cannot be reached'
const LOST = 'its connection was lost'
const SILENT = 'it does not answer in time'
const REFUSED = 'it refuses the user or the password'
const ENDING = 'it is starting or stopping'

/** By SQLSTATE, or by the code of a network error. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: UNREACHABLE,
  ENOTFOUND: UNREACHABLE,
  EAI_AGAIN: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ENOENT: UNREACHABLE,
  ETIMEDOUT: SILENT,
  ECONNRESET: LOST,
  EPIPE: LOST,
  '25006': 'it is read-only',
  '28000': REFUSED,
  '28P01': REFUSED,
  '3D000': 'the database does not exist',
  '42501': 'its user may not use the tables',
  '53100': 'the disk is full',
  '53300': 'it takes no more connections',
  '57P01': ENDING,
  '57P02': ENDING,
  '57P03': ENDING,
  '57014': SILENT,
  ERR_MODULE_NOT_FOUND: 'its driver is not installed',
}

/** The driver gives these no code. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^(timeout exceeded|Connection terminated due to connection timeout|Query read timeout)/, SILENT],
  [/^(Connection terminated|Client has encountered a connection error)/, LOST],
  [/^The server does not support SSL/, 'it does not speak TLS'],
  [/password must be a/, REFUSED],
]

function trouble(error: unknown): string {
  const code = codeOf(error)
  const words = WORDS[code] ?? MESSAGES.find(([pattern]) => pattern.test(messageOf(error)))?.[1]
  return words ?? (code === '' ? 'it fails' : `it fails with ${code}`)
}

/** Codes only: a message may repeat a piece of a mistyped URL, and so of the password. */
const detail = (error: unknown): string => {
  const code = codeOf(error)
  return code === '' ? trouble(error) : `${trouble(error)} (${code})`
}

/** A deadlock, a lock that is waited for too long, or two transactions that cannot both be first. */
const isBusy = (error: unknown): boolean => ['40001', '40P01', '55P03'].includes(codeOf(error))

/** Data that cannot be stored (22), a constraint (23), or more than fits into a row or an index (54). */
const isEntryAtFault = (error: unknown): boolean => /^(22|23|54)[0-9A-Z]{3}$/.test(codeOf(error))

/** Several addresses that were tried in vain make one error of errors, with the code of the first. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '')

export const postgresFailures: StoreFailures = { trouble, detail, isBusy, isEntryAtFault }
