import { type Command, OPTIONS, type Option } from './options.ts'

const USE: Record<Command, string> = {
  sandbox: 'a cluster on this machine with sample releases, and a gateway on it; no other cluster is touched',
  serve: 'a gateway on a cluster of yours',
}

/** The whole help, or that of one command. */
export function helpText(command: Command | null): string {
  const commands = command ? [command] : (Object.keys(USE) as Command[])
  const options = OPTIONS.filter((option) => option.commands.some((one) => commands.includes(one)))
  const groups = [...new Set(options.map((option) => option.group))]
  return [
    'Swiss: a GraphQL gateway with subscriptions for model releases on Kubernetes.',
    '',
    ...commands.map((one) => `  swiss-gateway ${one.padEnd(8)} [options]   ${USE[one]}`),
    '',
    'A flag wins over its environment variables. Where a flag may be repeated, the variable takes a list with commas.',
    ...groups.flatMap((group) => ['', group, ...options.filter((o) => o.group === group).flatMap(lines)]),
    '',
    'Other',
    '  --help                        print this',
    '  --version                     print the version',
    '',
  ].join('\n')
}

function lines(option: Option): string[] {
  const flag = `--${option.flag}${option.takes ? ` ${option.takes}` : ''}`
  const notes = [
    option.repeatable ? 'may be repeated' : null,
    option.fallback ? `default: ${option.fallback}` : null,
    option.env.join(', '),
  ].filter((note) => note !== null)
  return [`  ${flag.padEnd(29)} ${option.help}`, `${' '.repeat(32)}[${notes.join('; ')}]`]
}
