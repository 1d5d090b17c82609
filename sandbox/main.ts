import { once } from 'node:events'
import { readOptions } from './options.ts'
import { type Sandbox, startSandbox } from './sandbox.ts'

/** The sandbox process: prints where it is as one line of JSON, and ends on a signal or with its parent. */
const options = readOptions(process.argv.slice(2))

if ('help' in options) process.stdout.write(options.help)
else if ('wrong' in options) fail(options.wrong)
else await run(options.run)

async function run({ withParent, ...settings }: { port: number; releases: number; withParent: boolean }) {
  // From the first moment on, so that it can be ended while it starts as well.
  const ending = new AbortController()
  const end = () => ending.abort()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, end)
  if (withParent) process.stdin.once('close', end).once('end', end).resume()
  // Whoever read them may be gone before the end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const onError = (message: string) => process.stderr.write(`sandbox: ${message}\n`)
  let sandbox: Sandbox
  try {
    sandbox = await startSandbox({ ...settings, onError, signal: ending.signal })
  } catch (error) {
    if (ending.signal.aborted) process.exit(0)
    fail(sentenceOf(error, settings.port))
  }
  const { kubeconfig, helm, url, dir, prometheus } = sandbox
  process.stdout.write(`${JSON.stringify({ kubeconfig, helm, url, dir, prometheus })}\n`)
  if (!ending.signal.aborted) await once(ending.signal, 'abort')
  await sandbox.stop()
  process.exit(0)
}

function sentenceOf(error: unknown, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `Port ${port} of 127.0.0.1 is in use; choose another with --port.`
  if (code === 'EACCES' || code === 'EPERM') return `Not allowed: ${message}.`
  return message
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`)
  // Not by itself: a parent's pipe would keep the process.
  process.exit(2)
}
