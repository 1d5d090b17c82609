import { HelmError } from './helmError.ts'

/** How a flag is written: its long name, its letter, and whether it takes a value. */
export interface FlagSpec {
  name: string
  letter?: string
  takesValue: boolean
}

export const flag = (name: string, letter?: string): FlagSpec => ({
  name,
  ...(letter ? { letter } : {}),
  takesValue: false,
})

export const valueFlag = (name: string, letter?: string): FlagSpec => ({
  ...flag(name, letter),
  takesValue: true,
})

/** Options every helm command takes; `--namespace` is one, but belongs to what a call is about. */
const globalFlags: FlagSpec[] = [
  valueFlag('kubeconfig'),
  valueFlag('kube-context'),
  valueFlag('kube-token'),
  valueFlag('kube-apiserver'),
  valueFlag('kube-ca-file'),
  valueFlag('kube-tls-server-name'),
  valueFlag('kube-as-user'),
  valueFlag('kube-as-group'),
  flag('kube-insecure-skip-tls-verify'),
  flag('debug'),
  valueFlag('registry-config'),
  valueFlag('repository-config'),
  valueFlag('repository-cache'),
  valueFlag('content-cache'),
  valueFlag('burst-limit'),
  valueFlag('qps'),
  valueFlag('color'),
  valueFlag('colour'),
]

const namespaceFlag = valueFlag('namespace', 'n')

/** A command line, taken apart. */
export interface CommandLine {
  /** Values by long name; a flag without a value is `true`. */
  flags: ReadonlyMap<string, string>
  /** All values of a flag that may be given more than once, in order; commas part them too. */
  all(flag: string): string[]
  /** What is no flag, in order. */
  positional: string[]
}

interface Found {
  spec: FlagSpec
  value: string
  /** The arguments it stood in, one or two. */
  words: string[]
}

/** Walks the arguments once. An unknown flag is handed to `onUnknown`, which may throw. */
function scan(args: string[], specs: FlagSpec[], onUnknown: (word: string) => void): (Found | string)[] {
  const found: (Found | string)[] = []
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? ''
    if (!word.startsWith('-') || word === '-') {
      found.push(word)
      continue
    }
    if (word === '--') return [...found, ...args.slice(index + 1)]
    const long = word.startsWith('--')
    const equals = word.indexOf('=')
    const name = word.slice(long ? 2 : 1, equals < 0 ? undefined : equals)
    const spec = specs.find((it) => (long ? it.name : it.letter) === name)
    if (!spec) {
      onUnknown(word)
      found.push(word)
      continue
    }
    if (equals >= 0) found.push({ spec, value: word.slice(equals + 1), words: [word] })
    else if (!spec.takesValue) found.push({ spec, value: 'true', words: [word] })
    else {
      const value = args[++index]
      if (value === undefined)
        throw new HelmError(`flag needs an argument: ${long ? word : `'${name}' in ${word}`}`)
      found.push({ spec, value, words: [word, value] })
    }
  }
  return found
}

/** Takes a command's arguments apart; throws HelmError with helm's words for a flag it does not know. */
export function parseCommandLine(args: string[], own: FlagSpec[]): CommandLine {
  const flags = new Map<string, string>()
  const lists = new Map<string, string[]>()
  const positional: string[] = []
  const specs = [...own, namespaceFlag, ...globalFlags]
  const found = scan(args, specs, (word) => {
    const name = word.split('=')[0] ?? word
    throw new HelmError(
      word.startsWith('--')
        ? `unknown flag: ${name}`
        : `unknown shorthand flag: '${name[1] ?? ''}' in ${word}`,
    )
  })
  for (const it of found) {
    if (typeof it === 'string') positional.push(it)
    else {
      flags.set(it.spec.name, it.value)
      lists.set(it.spec.name, [...(lists.get(it.spec.name) ?? []), ...it.value.split(',')])
    }
  }
  return { flags, all: (name) => lists.get(name) ?? [], positional }
}

/** The command's name and the other arguments, wherever global options stand among them. */
export function splitCommand(args: string[]): { command: string | undefined; rest: string[] } {
  const rest = [...args]
  let command: string | undefined
  let at = 0
  for (const it of scan(args, [namespaceFlag, ...globalFlags], () => {})) {
    if (typeof it === 'string' && !it.startsWith('-')) {
      command = it
      rest.splice(at, 1)
      break
    }
    at += typeof it === 'string' ? 1 : it.words.length
  }
  return { command, rest }
}

/** The same arguments without global options, for a log of calls. */
export function withoutGlobalOptions(args: string[]): string[] {
  return scan(args, globalFlags, () => {}).flatMap((it) => (typeof it === 'string' ? [it] : []))
}
