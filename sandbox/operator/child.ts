import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The llm-operator as a child process. */
export interface OperatorProcess {
  /** Resolves once it looks after what there is; never when it is stopped before. */
  readonly ready: Promise<void>
  /** Of the process that runs now. */
  readonly pid: number | undefined
  /** Ends it, by force when it does not go within two seconds. */
  stop(): Promise<void>
}

const restartMs = 1_000
const patienceMs = 2_000

/**
 * Starts the operator with the Node that runs this. It ends with this process, whatever ends that: its standard
 * input closes then. When it fails it is started again after a second.
 *
 * @param onError told of every line it writes to its standard error, and of its failing
 */
export function startOperatorProcess(
  kubeconfig: string,
  onError: (message: string) => void,
  args: string[] = [],
): OperatorProcess {
  const program = ownMain()
  const loader = program.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : []
  let tellReady: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    tellReady = resolve
  })
  let stopped = false
  let again: NodeJS.Timeout | undefined
  let running = start()

  function start() {
    const command = [...loader, program, '--kubeconfig', kubeconfig, '--with-parent', ...args]
    const child = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdin.on('error', () => {})
    child.stdout.once('data', tellReady).resume()
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (!stopped) onError(line)
    })
    const ended = new Promise<void>((resolve) => {
      child.once('error', (error) => failed(error.message, resolve))
      child.once('close', (code, signal) => {
        // It was asked to end, by a signal to the whole group of processes for one.
        if (code === 0) resolve()
        else failed(`ended with ${code === null ? signal : `exit code ${code}`}`, resolve)
      })
    })
    return { child, ended }
  }

  function failed(why: string, done: () => void): void {
    done()
    if (stopped) return
    onError(`llm-operator: ${why}`)
    clearTimeout(again)
    again = setTimeout(() => {
      running = start()
    }, restartMs)
    again.unref()
  }

  return {
    ready,
    get pid() {
      return running.child.pid
    },
    async stop() {
      stopped = true
      clearTimeout(again)
      const { child, ended } = running
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      await ended
      clearTimeout(force)
    },
  }
}

const ownMain = () =>
  fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './main.ts' : './main.js', import.meta.url))
