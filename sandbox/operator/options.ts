import { parseArgs } from 'node:util'

/** What the command line asks for, or one sentence about what is wrong with it. */
export type CommandLine =
  | {
      run: {
        kubeconfig?: string
        context?: string
        namespaces: string[]
        unstaged: boolean
        withParent: boolean
      }
    }
  | { help: string }
  | { wrong: string }

const help = `An operator for LLMServices: runs their releases, and takes them away stage by stage.

  node dist/sandbox/operator/main.js [options]

  --kubeconfig PATH  how to reach the API server (default: KUBECONFIG, else ~/.kube/config)
  --context NAME     context of the kubeconfig (default: its current one)
  --namespace NAME   looks after this namespace only; may be given more than once (default: all)
  --unstaged         takes LLMServices away at once, and says nothing of it in their status
  --with-parent      ends when its standard input closes
  --help             prints this

Prints one line of JSON when it is ready, and ends on SIGINT or SIGTERM.
`

export function readOptions(args: string[]): CommandLine {
  try {
    const { values } = parseArgs({
      args,
      options: {
        kubeconfig: { type: 'string' },
        context: { type: 'string' },
        namespace: { type: 'string', multiple: true, default: [] },
        unstaged: { type: 'boolean', default: false },
        'with-parent': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) return { help }
    const { kubeconfig, context, namespace: namespaces, unstaged } = values
    if (kubeconfig === '') return { wrong: '--kubeconfig takes the name of a file.' }
    if (namespaces.includes('')) return { wrong: '--namespace takes the name of a namespace.' }
    return {
      run: {
        ...(kubeconfig ? { kubeconfig } : {}),
        ...(context ? { context } : {}),
        namespaces,
        unstaged,
        withParent: values['with-parent'],
      },
    }
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. ')
    return { wrong: `${sentence.replace(/\.$/, '')}; see --help.` }
  }
}
