import { once } from 'node:events'
import { createClient } from '../client.ts'
import { systemClock } from '../clock.ts'
import { kubeconfigPaths, readKubeconfig, type ServerAccess } from '../kubeconfig.ts'
import { startOperator } from './operator.ts'
import { type CommandLine, readOptions } from './options.ts'

/** The llm-operator as a process: needs nothing but an API server. */
const options = readOptions(process.argv.slice(2))

if ('help' in options) process.stdout.write(options.help)
else if ('wrong' in options) fail(options.wrong)
else await run(options.run)

async function run(settings: Extract<CommandLine, { run: unknown }>['run']) {
  // From the first moment on, so that it can be ended while it starts as well.
  const ending = new AbortController()
  const end = () => ending.abort()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, end)
  if (settings.withParent) process.stdin.once('close', end).once('end', end).resume()
  // Whoever read them may be gone before the end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  let access: ServerAccess
  try {
    access = readKubeconfig(kubeconfigPaths(settings.kubeconfig, process.env), settings.context)
  } catch (error) {
    return fail(`The kubeconfig cannot be used: ${(error as Error).message.replace(/\.$/, '')}.`)
  }
  const client = createClient(access, 'llm-operator (sandbox)')
  const { namespaces, unstaged } = settings
  const onError = (message: string) => process.stderr.write(`llm-operator: ${message}\n`)
  const operator = startOperator({ client, clock: systemClock, namespaces, unstaged, onError })
  // The clock's timers keep no process alive, and an API server that is away leaves nothing else.
  const alive = setInterval(() => {}, 60_000)
  const stopped = once(ending.signal, 'abort')
  if (!ending.signal.aborted) await Promise.race([operator.synced, stopped])
  if (!ending.signal.aborted) {
    process.stdout.write(`${JSON.stringify({ server: access.server, namespaces, unstaged })}\n`)
    await stopped
  }
  await operator.stop()
  client.close()
  clearInterval(alive)
  process.exit(0)
}

function fail(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 2
}
