import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutGlobalOptions } from './arguments.ts'
import { HelmError } from './helmError.ts'

/** How a test wants one command to answer. */
export interface Behaviour {
  /** Exit code; 0 when absent. */
  exit?: number
  stderr?: string
  /** Whether the records stay; by default a good uninstall drops them and a failed one keeps them. */
  keepRecord?: boolean
  /** Wait for `release/<pid>` before doing anything. */
  hold?: boolean
  /** Upgrade and rollback: the objects of the release are written as well; by default only the records are. */
  objects?: boolean
  /** Upgrade and rollback: the next revision is begun, and fails before or half-way through its objects. */
  fail?: 'before' | 'half'
  /** Upgrade and rollback: so long it takes, where it would fail. */
  seconds?: number
}

const controlled = ['uninstall', 'upgrade', 'rollback'] as const
type Controlled = (typeof controlled)[number]

const recorded = ['install', 'upgrade', 'rollback', 'uninstall']

const behaviourKeys: Record<keyof Behaviour, string> = {
  exit: 'number',
  stderr: 'string',
  keepRecord: 'boolean',
  hold: 'boolean',
  objects: 'boolean',
  fail: 'string',
  seconds: 'number',
}
/** Mean something for upgrade and rollback only. */
const applyKeys = ['objects', 'fail', 'seconds']

const pollMs = 5

/** A test's hand on the stand-in: the folder in SANDBOX_HELM_CONTROL. */
export interface Control {
  /** Undefined for a command that is not controlled. Read once, at the start of the call. */
  behaviour: Behaviour | undefined
  /** With `hold`: says so in `held/<pid>` and waits for `release/<pid>`. */
  hold(): Promise<void>
}

/**
 * Opens the control folder for one call: the call is appended to `calls.jsonl` as `{pid, args}` (global options
 * left out), and how to answer is read from `behaviour.json`. Undefined when there is no control folder.
 * Throws HelmError when `behaviour.json` has anything in it that is not known.
 */
export function openControl(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  pid = process.pid,
): Control | undefined {
  const folder = env.SANDBOX_HELM_CONTROL
  if (!folder) return undefined
  if (recorded.includes(command)) {
    // One write to a file opened for appending is not interleaved with another process's.
    appendFileSync(
      join(folder, 'calls.jsonl'),
      `${JSON.stringify({ pid, args: withoutGlobalOptions(args) })}\n`,
    )
  }
  const all = readBehaviours(join(folder, 'behaviour.json'))
  if (!isControlled(command)) return { behaviour: undefined, hold: async () => {} }
  const behaviour = all[command] ?? {}
  return {
    behaviour,
    async hold() {
      if (!behaviour.hold) return
      const held = join(folder, 'held', String(pid))
      mkdirSync(join(folder, 'held'), { recursive: true })
      writeFileSync(held, '')
      while (!existsSync(join(folder, 'release', String(pid)))) {
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
      rmSync(held, { force: true })
    },
  }
}

const isControlled = (command: string): command is Controlled =>
  (controlled as readonly string[]).includes(command)

function readBehaviours(path: string): Partial<Record<Controlled, Behaviour>> {
  if (!existsSync(path)) return {}
  const all: unknown = JSON.parse(readFileSync(path, 'utf8'))
  for (const [command, behaviour] of Object.entries(requireMap(all, path))) {
    if (!isControlled(command)) throw new HelmError(`${path}: unknown command ${command}`)
    for (const [key, value] of Object.entries(requireMap(behaviour, `${path}: ${command}`))) {
      const type = Object.hasOwn(behaviourKeys, key) ? behaviourKeys[key as keyof Behaviour] : undefined
      const isMeant = command !== 'uninstall' || !applyKeys.includes(key)
      if (!type || !isMeant) throw new HelmError(`${path}: unknown key ${command}.${key}`)
      if (typeof value !== type) throw new HelmError(`${path}: ${command}.${key} must be a ${type}`)
      if (key === 'fail' && value !== 'before' && value !== 'half') {
        throw new HelmError(`${path}: ${command}.fail must be before or half`)
      }
    }
  }
  return all as Partial<Record<Controlled, Behaviour>>
}

function requireMap(value: unknown, where: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new HelmError(`${where}: must be a map`)
}
