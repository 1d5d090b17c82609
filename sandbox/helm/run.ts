import {
  type CommandLine,
  type FlagSpec,
  flag,
  parseCommandLine,
  splitCommand,
  valueFlag,
} from './arguments.ts'
import { type Behaviour, openControl } from './control.ts'
import type { Propagation } from './deleteObjects.ts'
import { type HelmCluster, openCluster, requireReachable } from './environment.ts'
import { HelmError, releaseNotFound } from './helmError.ts'
import { history, list, status } from './readCommands.ts'
import { rollback } from './rollback.ts'
import { createStorage } from './storage.ts'
import { uninstall } from './uninstall.ts'
import { upgrade } from './upgrade.ts'
import { versionText } from './version.ts'

/** One call of the stand-in: its exit code and what it prints. */
export interface HelmResult {
  exit: number
  stdout: string
  stderr: string
}

interface Command {
  usage: string
  aliases: string[]
  flags: FlagSpec[]
  /** How many names it takes. */
  names: 'none' | 'one' | 'two' | 'some'
  run(call: {
    line: CommandLine
    env: NodeJS.ProcessEnv
    behaviour: Behaviour | undefined
  }): Promise<HelmResult>
}

const done = (stdout: string): HelmResult => ({ exit: 0, stdout, stderr: '' })
const outputFlag = valueFlag('output', 'o')

const commands: Record<string, Command> = {
  version: {
    usage: 'helm version [flags]',
    aliases: [],
    flags: [flag('short'), valueFlag('template')],
    names: 'none',
    run: async ({ line: { flags } }) =>
      done(versionText({ short: flags.has('short'), template: flags.get('template') })),
  },
  list: {
    usage: 'helm list [flags]',
    aliases: ['ls'],
    flags: [
      ...[
        flag('all-namespaces', 'A'),
        flag('short', 'q'),
        outputFlag,
        valueFlag('filter', 'f'),
        valueFlag('max', 'm'),
      ],
      ...['uninstalled', 'superseded', 'uninstalling', 'deployed', 'failed', 'pending'].map((it) => flag(it)),
    ],
    names: 'none',
    run: ({ line, env }) => reading(line, env, list),
  },
  status: {
    usage: 'helm status RELEASE_NAME [flags]',
    aliases: [],
    flags: [outputFlag, valueFlag('revision')],
    names: 'one',
    run: ({ line, env }) => reading(line, env, status),
  },
  history: {
    usage: 'helm history RELEASE_NAME [flags]',
    aliases: ['hist'],
    flags: [outputFlag, valueFlag('max')],
    names: 'one',
    run: ({ line, env }) => reading(line, env, history),
  },
  uninstall: {
    usage: 'helm uninstall RELEASE_NAME [...] [flags]',
    aliases: ['del', 'delete', 'un'],
    flags: [
      ...[flag('ignore-not-found'), flag('keep-history'), flag('no-hooks'), flag('dry-run')],
      ...[valueFlag('cascade'), valueFlag('description')],
    ],
    names: 'some',
    run: ({ line, env, behaviour }) =>
      withCluster(line, env, (cluster) =>
        behaviour ? uninstallAsTold(cluster, line, behaviour) : uninstallAll(cluster, line),
      ),
  },
  upgrade: {
    usage: 'helm upgrade [RELEASE] [CHART] [flags]',
    aliases: [],
    flags: [
      ...[flag('install', 'i'), flag('create-namespace'), flag('reset-values'), flag('force-conflicts')],
      ...[flag('no-hooks'), valueFlag('values', 'f'), valueFlag('version'), valueFlag('repo')],
      ...[valueFlag('description'), valueFlag('history-max'), valueFlag('timeout')],
    ],
    names: 'two',
    run: (call) => applying(call, upgrade),
  },
  rollback: {
    usage: 'helm rollback <RELEASE> [REVISION] [flags]',
    aliases: [],
    flags: [
      ...[flag('force-conflicts'), flag('no-hooks'), valueFlag('description'), valueFlag('history-max')],
      valueFlag('timeout'),
    ],
    names: 'some',
    run: (call) => applying(call, rollback),
  },
}

/** Runs one helm command and never throws: what goes wrong is exit code 1 and a line on stderr, as with helm. */
export async function runHelm(args: string[], env: NodeJS.ProcessEnv): Promise<HelmResult> {
  try {
    const { command: word, rest } = splitCommand(args)
    const name =
      Object.keys(commands).find((it) => it === word || commands[it]?.aliases.includes(word ?? '')) ?? word
    const control = openControl(name ?? '', args, env)
    const command = commands[name ?? '']
    if (!command) {
      throw new HelmError(`unknown command "${word ?? ''}" for "helm"\nRun 'helm --help' for usage.`)
    }
    const line = parseCommandLine(rest, command.flags)
    requireNames(command, name ?? '', line.positional.length)
    await control?.hold()
    return await command.run({ line, env, behaviour: control?.behaviour })
  } catch (error) {
    return { exit: 1, stdout: '', stderr: `Error: ${(error as Error).message}\n` }
  }
}

function requireNames(command: Command, name: string, count: number): void {
  const usage = `\n\nUsage:  ${command.usage}`
  if (command.names === 'none' && count > 0)
    throw new HelmError(`"helm ${name}" accepts no arguments${usage}`)
  if (command.names === 'one' && count !== 1)
    throw new HelmError(`"helm ${name}" requires 1 argument${usage}`)
  if (command.names === 'two' && count !== 2)
    throw new HelmError(`"helm ${name}" requires 2 arguments${usage}`)
  if (command.names === 'some' && count < 1)
    throw new HelmError(`"helm ${name}" requires at least 1 argument${usage}`)
}

async function withCluster<T>(
  line: CommandLine,
  env: NodeJS.ProcessEnv,
  work: (cluster: HelmCluster) => Promise<T>,
): Promise<T> {
  const cluster = openCluster(line, env)
  try {
    return await work(cluster)
  } finally {
    cluster.client.close()
  }
}

function reading(line: CommandLine, env: NodeJS.ProcessEnv, read: typeof list): Promise<HelmResult> {
  return withCluster(line, env, async (cluster) => {
    await requireReachable(cluster)
    return done(await read(cluster.client, cluster.namespace, line))
  })
}

/** An upgrade or a rollback; a test's control folder may have it end at once, or answer otherwise. */
function applying(
  { line, env, behaviour }: Parameters<Command['run']>[0],
  apply: typeof upgrade,
): Promise<HelmResult> {
  return withCluster(line, env, async (cluster) => {
    const { exit = 0, stderr, fail } = behaviour ?? {}
    if (exit !== 0 && !fail) return { exit, stdout: '', stderr: withEnd(stderr ?? '') }
    await requireReachable(cluster)
    try {
      return {
        exit,
        stdout: await apply(cluster, line, behaviour),
        stderr: fail ? '' : withEnd(stderr ?? ''),
      }
    } catch (error) {
      return { exit: exit || 1, stdout: '', stderr: `Error: ${(error as Error).message}\n` }
    }
  })
}

const withEnd = (text: string) => (text === '' ? '' : `${text.replace(/\n$/, '')}\n`)

const cascades: Record<string, Propagation> = {
  background: 'Background',
  foreground: 'Foreground',
  orphan: 'Orphan',
}

async function uninstallAll(cluster: HelmCluster, { flags, positional }: CommandLine): Promise<HelmResult> {
  const cascade = flags.get('cascade') ?? 'background'
  const propagation = cascades[cascade]
  if (!propagation) {
    throw new HelmError(`invalid cascade value (${cascade}). Must be "background", "foreground", or "orphan"`)
  }
  await requireReachable(cluster)
  let stdout = ''
  for (const name of positional) {
    try {
      const left = await uninstall(cluster.client, cluster.namespace, name, {
        ignoreNotFound: flags.has('ignore-not-found'),
        keepHistory: flags.has('keep-history'),
        noHooks: flags.has('no-hooks'),
        dryRun: flags.has('dry-run'),
        description: flags.get('description'),
        propagation,
      })
      stdout += `${left === '' ? '' : `${left}\n`}release "${name}" uninstalled\n`
    } catch (error) {
      // What was said of the releases before this one has been said.
      return { exit: 1, stdout, stderr: `Error: ${(error as Error).message}\n` }
    }
  }
  return done(stdout)
}

/** Under a test's control: only the records are touched, never other objects. */
async function uninstallAsTold(
  { client, namespace }: HelmCluster,
  { positional }: CommandLine,
  behaviour: Behaviour,
): Promise<HelmResult> {
  const name = positional[0] ?? ''
  const exit = behaviour.exit ?? 0
  const storage = createStorage(client, namespace)
  const secrets = await storage.secrets(name)
  if (exit === 0 && secrets.length === 0) {
    throw new HelmError(`uninstall: Release not loaded: ${name}: ${releaseNotFound}`)
  }
  if (!(behaviour.keepRecord ?? exit !== 0)) for (const secret of secrets) await storage.remove({ secret })
  const stdout = exit === 0 ? `release "${name}" uninstalled\n` : ''
  return { exit, stdout, stderr: withEnd(behaviour.stderr ?? '') }
}
