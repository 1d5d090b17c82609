// npm run e2e [-- [NAME…] [--keep] [--tools] [--helm 4|3]]: the stories on a real Kubernetes control plane.
import { parseArgs } from 'node:util'
import { Processes } from './processes.ts'
import { STORIES } from './stories.ts'
import { Suite, type Telling } from './suite.ts'
import { buildTools, NoGo, stopBuild } from './tools.ts'
import { seconds } from './wait.ts'

const names = (byHand: boolean): string =>
  STORIES.filter((s) => (s.byHand ?? false) === byHand)
    .map((s) => s.name)
    .join(' ')

const HELP = `npm run e2e -- [NAME…] [flags]
  --keep     leave the clusters up at the end, and say where their kubeconfigs are and how to stop them
  --helm N   with helm 4 or helm 3 alone
  --tools    build the programs of the control plane, and no more

The stories, all of them when no NAME is given:
  ${names(false)}
${names(true) === '' ? '' : `Only when named:\n  ${names(true)}\n`}`

const AT_ONCE = 3

/** Ctrl-C: what fails from then on fails because everything is being stopped, and is not worth a word. */
let interrupted = false
const say = (line: string): void => {
  if (!interrupted) process.stdout.write(`${line}\n`)
}

async function main(): Promise<number> {
  const options = parse()
  if (options === undefined) return 2
  if (options.help) {
    say(HELP)
    return 0
  }
  let processes: Processes | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    interrupted = true
    stopBuild()
    const end = (): never => process.exit(signal === 'SIGINT' ? 130 : 143)
    if (processes === undefined) end()
    else processes.stop().then(end, end)
  }
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal).once('SIGHUP', onSignal)

  const tools = await buildTools(['etcd', 'kubernetes', 'kwok', 'helm4', 'helm3'], say)
  if (options.tools) {
    for (const [name, path] of Object.entries(tools)) say(`${name}  ${path}`)
    return 0
  }
  const { keep, tellings, wholeSuite } = options
  processes = new Processes(keep)
  const suite = new Suite({ processes, tools, say, keep, wholeSuite, atOnce: AT_ONCE })
  const start = performance.now()
  try {
    await suite.tell(tellings)
  } finally {
    if (keep) {
      for (const kubeconfig of suite.kubeconfigs) say(`kept: KUBECONFIG=${kubeconfig}`)
      say(`to stop it: sh ${processes.stopScript}`)
    } else await processes.stop()
  }
  say(`${suite.passed} passed, ${suite.failed} failed, 0 skipped, in ${seconds(start)}`)
  return suite.failed === 0 ? 0 : 1
}

function parse():
  | { tellings: Telling[]; wholeSuite: boolean; keep: boolean; tools: boolean; help: boolean }
  | undefined {
  const flag = { type: 'boolean', default: false } as const
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { keep: flag, tools: flag, help: flag, helm: { type: 'string' } },
    })
    const { helm, ...flags } = values
    const unknown = positionals.find((name) => !STORIES.some((s) => s.name === name))
    if (unknown !== undefined) {
      throw new Error(`There is no story '${unknown}'. There are: ${names(false)} ${names(true)}`)
    }
    if (helm !== undefined && helm !== '4' && helm !== '3') throw new Error('--helm takes 4 or 3.')
    const chosen = STORIES.filter((s) =>
      positionals.length > 0 ? positionals.includes(s.name) : s.byHand !== true,
    )
    const tellings = chosen.flatMap((story) => {
      const majors = story.helm ?? ['4']
      return majors
        .filter((major) => helm === undefined || major === helm)
        .map((major) => ({
          story,
          helmMajor: major,
          title: story.helm === undefined ? story.name : `${story.name} (helm ${major})`,
        }))
    })
    return { ...flags, tellings, wholeSuite: positionals.length === 0 && helm === undefined }
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
