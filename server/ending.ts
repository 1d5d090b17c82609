/** How long a stop may take before the process ends without it. */
const STOP_MS = 10_000

/** A reason to end that a person has to do something about; the message says what. */
export class CommandError extends Error {
  readonly exitCode: number

  constructor(exitCode: 1 | 2, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Two signals within this many milliseconds are one: npm passes on a Ctrl-C that the terminal sends as well. */
const SAME_SIGNAL_MS = 500

/** Resolves with the first signal that asks us to end. A second one ends the process at once. */
export function endingSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked: number | null = null
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        const now = performance.now()
        if (asked !== null && now - asked > SAME_SIGNAL_MS) process.exit(1)
        asked ??= now
        resolve()
      })
    }
  })
}

/** Waits for `stop`, but no longer than ten seconds. True when it was done in time. */
export async function stopWithin(stop: () => Promise<void>, ms = STOP_MS): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const done = stop().then(() => true)
  return Promise.race([done, late]).finally(() => clearTimeout(timer))
}

/** The sentence for an error of `listen`, or undefined for any other error. */
export function listenProblem(error: unknown, host: string, port: number): string | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is in use; choose another with --port, or 0 for a free one.`
    case 'EACCES':
      return `Port ${port} of ${host} may not be used by you; choose one above 1023 with --port.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine; choose another with --host.`
    default:
      return undefined
  }
}
