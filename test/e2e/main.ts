// npm run e2e [-- [NAME…] [--keep] [--tools] [--helm3]]: the stories on a real Kubernetes control plane.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type ControlPlane, startControlPlane } from './controlPlane.ts'
import { Processes } from './processes.ts'
import { uninstall } from './stories/uninstall.ts'
import type { Story } from './story.ts'
import { buildTools, NoGo, type Row, stopBuild, type Tools } from './tools.ts'
import { seconds, until } from './wait.ts'

const STORIES: Record<string, Story> = { uninstall }

const HELP = `npm run e2e -- [NAME…] [flags]
  NAME      ${Object.keys(STORIES).join(', ')}; all when none is given
  --keep    leave the cluster up at the end, and say where its kubeconfig is and how to stop it
  --tools   build the programs of the control plane, and no more
  --helm3   build helm 3, too
`

const say = (line: string): void => {
  if (!interrupted) process.stdout.write(`${line}\n`)
}

/** Ctrl-C: what fails from then on fails because everything is being stopped, and is not worth a word. */
let interrupted = false

async function main(): Promise<number> {
  const options = parse()
  if (options === undefined) return 2
  if (options.help) {
    say(HELP)
    return 0
  }
  const rows: Row[] = ['etcd', 'kubernetes', 'kwok', 'helm4']
  if (options.helm3) rows.push('helm3')
  const onSignal = (signal: NodeJS.Signals): void => {
    interrupted = true
    stopBuild()
    const end = (): never => process.exit(signal === 'SIGINT' ? 130 : 143)
    if (processes === undefined) end()
    else processes.stop().then(end, end)
  }
  let processes: Processes | undefined
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal).once('SIGHUP', onSignal)

  const tools = await buildTools(rows, say)
  if (options.tools) {
    for (const [name, path] of Object.entries(tools)) say(`${name}  ${path}`)
    return 0
  }
  processes = new Processes(options.keep)
  try {
    return await runStories(options.names, processes, tools)
  } finally {
    if (options.keep)
      say(`kept: KUBECONFIG=${processes.dir}/kubeconfig\nto stop it: sh ${processes.stopScript}`)
    else await processes.stop()
  }
}

async function runStories(names: string[], processes: Processes, tools: Tools): Promise<number> {
  const start = performance.now()
  let cluster: ControlPlane
  try {
    cluster = await startControlPlane(processes, tools)
  } catch (error) {
    report('control plane', error, processes)
    return finish(0, 1, names.length - 1)
  }
  say(`control plane ready in ${seconds(start)}`)
  let passed = 0
  for (const name of names) if (await runStory(name, cluster, processes, tools)) passed += 1
  cluster.kube.close()
  return finish(passed, names.length - passed, 0)
}

async function runStory(
  name: string,
  cluster: ControlPlane,
  processes: Processes,
  tools: Tools,
): Promise<boolean> {
  const story = STORIES[name]
  const namespace = `e2e-${name}-${randomBytes(3).toString('hex')}`
  const notes: string[] = []
  const note = (line: string): void => {
    notes.push(line)
  }
  const start = performance.now()
  try {
    await makeNamespace(cluster, namespace)
    await story?.({ cluster, processes, tools, namespace, note })
    say(`ok      ${name}  ${seconds(start)}`)
    return true
  } catch (error) {
    say(`FAILED  ${name}  ${seconds(start)}`)
    report(name, error, processes)
    return false
  } finally {
    for (const line of notes) say(`        ${line}`)
  }
}

/** With what the controllers put into every namespace, so that a story can tell what it has left behind. */
async function makeNamespace({ kube, check }: ControlPlane, name: string): Promise<void> {
  await kube.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await until(`${name} has what every namespace has`, 20_000, async () => {
    check()
    const everything = await kube.everythingIn(name)
    return everything.length === 2 ? true : undefined
  })
}

function report(what: string, error: unknown, processes: Processes): void {
  say(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  say(processes.tails(15))
}

function finish(passed: number, failed: number, skipped: number): number {
  say(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  return failed === 0 ? 0 : 1
}

function parse():
  | { names: string[]; keep: boolean; tools: boolean; helm3: boolean; help: boolean }
  | undefined {
  const flag = { type: 'boolean', default: false } as const
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { keep: flag, tools: flag, helm3: flag, help: flag },
    })
    const unknown = positionals.find((name) => STORIES[name] === undefined)
    if (unknown !== undefined)
      throw new Error(`There is no story '${unknown}': take ${Object.keys(STORIES).join(', ')}`)
    return { ...values, names: positionals.length > 0 ? positionals : Object.keys(STORIES) }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return undefined
  }
}

main().then(
  // Not process.exitCode: a story that failed may have left sockets open, and nothing is to wait for them.
  (code) => {
    if (!interrupted) process.exit(code)
  },
  (error: unknown) => {
    if (interrupted) return
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(error instanceof NoGo ? 3 : 1)
  },
)
