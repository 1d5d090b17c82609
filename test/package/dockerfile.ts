/** A Dockerfile as steps that a script can perform: the instructions that ours uses, and no others. */

export type Step =
  | { kind: 'from'; base: string; name: string | null }
  | { kind: 'run'; command: string }
  | { kind: 'copy'; from: string | null; sources: string[]; target: string }
  | { kind: 'workdir'; path: string }
  | { kind: 'env'; key: string; value: string }
  | { kind: 'user'; user: string }
  | { kind: 'entrypoint' | 'cmd'; words: string[] }

/** Throws for an instruction that it does not know: a step that nobody performs is not tested. */
export function readDockerfile(text: string, args: Readonly<Record<string, string>>): Step[] {
  const known: Record<string, string> = {}
  const resolve = (word: string) => word.replace(/\$\{(\w+)\}/g, (_, name: string) => known[name] ?? '')
  const lines = text.replace(/\\\n/g, ' ').split('\n')
  return lines.flatMap((line): Step[] => {
    const [, instruction = '', raw = ''] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? []
    if (instruction === '') {
      if (line.trim() !== '' && !line.trim().startsWith('#')) throw new Error(`not an instruction: ${line}`)
      return []
    }
    const rest = resolve(raw)
    switch (instruction) {
      case 'ARG': {
        const [name = '', fallback = ''] = rest.split('=')
        known[name] = args[name] ?? fallback
        return []
      }
      case 'FROM': {
        const [base = '', as, name] = rest.split(/\s+/)
        return [{ kind: 'from', base, name: as === 'AS' ? (name ?? null) : null }]
      }
      case 'RUN':
        return [{ kind: 'run', command: rest }]
      case 'COPY': {
        const words = rest.split(/\s+/)
        const from = /^--from=(.*)$/.exec(words[0] ?? '')?.[1] ?? null
        const paths = from === null ? words : words.slice(1)
        if (paths.some((path) => path.startsWith('--'))) throw new Error(`COPY flags are not known: ${rest}`)
        return [{ kind: 'copy', from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' }]
      }
      case 'WORKDIR':
        return [{ kind: 'workdir', path: rest }]
      case 'ENV': {
        const [key = '', value = ''] = rest.split('=')
        return [{ kind: 'env', key, value }]
      }
      case 'USER':
        return [{ kind: 'user', user: rest }]
      case 'ENTRYPOINT':
        return [{ kind: 'entrypoint', words: JSON.parse(rest) as string[] }]
      case 'CMD':
        return [{ kind: 'cmd', words: JSON.parse(rest) as string[] }]
      case 'EXPOSE':
        return []
      default:
        throw new Error(`the instruction ${instruction} is not known`)
    }
  })
}
