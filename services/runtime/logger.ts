type Log = (fields: object, message: string) => void

/** What the services ask of a logger; pino fits, and so does a list in a test. Never given values of a plan. */
export interface Logger {
  debug: Log
  info: Log
  warn: Log
  error: Log
}
