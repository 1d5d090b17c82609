import { parseArgs } from 'node:util'
import { type Command, OPTIONS, type Option } from './options.ts'

/** Where a value was given, in the words of the caller: `--port` or `SWISS_PORT`. */
export interface Given {
  value: string | boolean | string[]
  origin: string
}

export type Arguments =
  | { help: Command | null }
  | { version: true }
  | { wrong: string }
  | { command: Command; given: Map<string, Given> }

const COMMANDS: readonly string[] = ['sandbox', 'serve'] satisfies Command[]
const isCommand = (text: string): text is Command => COMMANDS.includes(text)

/** Reads flags and environment, by name only; what the texts mean is for the schema. */
export function readArguments(args: readonly string[], env: NodeJS.ProcessEnv): Arguments {
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean' },
      ...Object.fromEntries(OPTIONS.map(({ flag, takes }) => [flag, { type: takes ? 'string' : 'boolean' }])),
    },
  })
  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const flags = tokens.filter((token) => token.kind === 'option')
  const [command] = words
  if (flags.some(({ name }) => name === 'help')) {
    return { help: command !== undefined && isCommand(command) ? command : null }
  }
  if (flags.some(({ name }) => name === 'version')) return { version: true }
  if (command === undefined) {
    return { wrong: 'Say what to run: swiss-gateway sandbox, or swiss-gateway serve; see --help.' }
  }
  if (!isCommand(command)) {
    return {
      wrong: `There is no command ${JSON.stringify(command)}${nearest(command, COMMANDS)}; see --help.`,
    }
  }
  const given = fromEnvironment(command, env)
  const repeated = new Map<string, string[]>()
  for (const { name, rawName, value, inlineValue } of flags) {
    const option = OPTIONS.find(({ flag }) => flag === name)
    if (!option) return { wrong: unknownFlag(rawName, command) }
    if (!option.commands.includes(command)) {
      return {
        wrong: `${rawName} is a flag of ${option.commands.join(' and ')}, not of ${command}; leave it out.`,
      }
    }
    if (!option.takes) given.set(option.flag, { value: inlineValue ? value : true, origin: rawName })
    else if (value === undefined || value === '' || (!inlineValue && value.startsWith('--'))) {
      return { wrong: `${rawName} needs a value: ${rawName} ${option.takes}.` }
    } else if (option.repeatable) {
      const values = [...(repeated.get(option.flag) ?? []), ...list(value)]
      repeated.set(option.flag, values)
      given.set(option.flag, { value: values, origin: rawName })
    } else given.set(option.flag, { value, origin: rawName })
  }
  if (words[1] !== undefined) {
    return {
      wrong: `${JSON.stringify(words[1])} does not belong there: ${command} takes flags only; see --help.`,
    }
  }
  return { command, given }
}

function fromEnvironment(command: Command, env: NodeJS.ProcessEnv): Map<string, Given> {
  const given = new Map<string, Given>()
  for (const option of OPTIONS) {
    if (!option.commands.includes(command)) continue
    // An empty variable is how a shell says "not set".
    const origin = option.env.find((name) => env[name])
    const text = origin && env[origin]
    if (origin && text) given.set(option.flag, { value: option.repeatable ? list(text) : text, origin })
  }
  return given
}

const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

function unknownFlag(rawName: string, command: Command): string {
  const known = OPTIONS.filter((option: Option) => option.commands.includes(command)).map(
    ({ flag }) => `--${flag}`,
  )
  return `There is no flag ${rawName}${nearest(rawName, known)}; see ${command} --help.`
}

/** ` (did you mean X?)` for a slip of the keys, else nothing. */
function nearest(text: string, known: readonly string[]): string {
  const best = known.map((one) => ({ one, far: distance(text, one) })).sort((a, b) => a.far - b.far)[0]
  return best && best.far <= Math.max(1, Math.floor(text.length / 3)) ? ` (did you mean ${best.one}?)` : ''
}

/** Levenshtein's distance: letters to add, drop or change. */
function distance(a: string, b: string): number {
  let row = [...b, ''].map((_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const kept = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(kept, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
