import { parseArgs } from 'node:util'

/** What the command line asks for, or one sentence about what is wrong with it. */
export type CommandLine =
  | { run: { releases: number; dir?: string; port: number; withParent: boolean } }
  | { help: string }
  | { wrong: string }

const help = `A Kubernetes cluster for one machine: API server, kubelet, controllers, helm, and sample releases.

  node dist/sandbox/main.js [options]

  --releases N    adds N generated releases to the sample (default 0)
  --dir DIR       where kubeconfig and bin/helm are written (default: a new temporary folder)
  --port P        port of the API server on 127.0.0.1 (default 0, a free one)
  --with-parent   ends when its standard input closes
  --help          prints this

Prints one line of JSON when it is ready, and ends on SIGINT or SIGTERM.
`

export function readOptions(args: string[]): CommandLine {
  try {
    const { values } = parseArgs({
      args,
      options: {
        releases: { type: 'string', default: '0' },
        dir: { type: 'string' },
        port: { type: 'string', default: '0' },
        'with-parent': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) return { help }
    const releases = wholeNumber(values.releases, 100_000)
    if (releases === undefined) return { wrong: '--releases takes a whole number from 0 to 100000.' }
    const port = wholeNumber(values.port, 65_535)
    if (port === undefined) return { wrong: '--port takes a whole number from 0 to 65535.' }
    if (values.dir === '') return { wrong: '--dir takes the name of a folder.' }
    const dir = values.dir === undefined ? {} : { dir: values.dir }
    return { run: { releases, port, withParent: values['with-parent'], ...dir } }
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. ')
    return { wrong: `${sentence.replace(/\.$/, '')}; see --help.` }
  }
}

function wholeNumber(text: string, most: number): number | undefined {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  return value <= most ? value : undefined
}
