import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SYSTEM } from './access.ts'
import type { ControlPlane } from './controlPlane.ts'
import { Gateway } from './gateway.ts'
import type { Managed, Processes } from './processes.ts'
import type { HelmMajor, StoryContext } from './story.ts'
import type { Tools } from './tools.ts'
import { until } from './wait.ts'

const run = promisify(execFile)

type Parts = {
  processes: Processes
  tools: Tools
  cluster: ControlPlane
  gatewayKubeconfig: string
  gatewayToken: string
  /** Whether the cluster is the story's own. */
  own: boolean
  helmMajor: HelmMajor
  folder: string
  /** What the story starts is put here. */
  started: Managed[]
  note: (line: string) => void
  sofar: StoryContext['sofar']
}

/** What a story is given, in a fresh namespace; `close` runs what it has asked for with `atEnd`. */
export async function openContext(
  parts: Parts,
): Promise<{ story: StoryContext; close: () => Promise<void> }> {
  const { processes, tools, cluster, own, helmMajor, folder, started, note, sofar } = parts
  const helmBin = tools[helmMajor === '3' ? 'helm3' : 'helm'] ?? ''
  const namespace = `e2e-${folder.replace(/^\d+-/, '')}-${randomBytes(3).toString('hex')}`
  const gatewayNamespace = own ? SYSTEM : `${namespace}-system`
  const atEnd: (() => Promise<void> | void)[] = []

  const program = async (command: string, args: string[]): Promise<string> => {
    const env = { ...processes.env(), KUBECONFIG: cluster.kubeconfig }
    const { stdout } = await run(command, args, { env, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 })
    return stdout
  }
  const story: StoryContext = {
    ...{ cluster, tools, helmMajor, helmBin, namespace, gatewayNamespace, note, sofar },
    gatewayKubeconfig: parts.gatewayKubeconfig,
    gatewayToken: parts.gatewayToken,
    dir: processes.folder(folder),
    start: (name, command, args, env) => {
      const managed = processes.start(join(folder, name), command, args, env)
      started.push(managed)
      return managed
    },
    gateway: (options) => Gateway.start(story, own ? 'all' : [namespace], options),
    helm: (...args) => program(helmBin, args),
    kubectl: (...args) => program(tools.kubectl ?? '', args),
    makeNamespace: (name) => makeNamespace(cluster, name),
    atEnd: (clean) => {
      atEnd.push(clean)
    },
  }
  await story.makeNamespace(namespace)
  if (!own) await story.makeNamespace(gatewayNamespace)
  const close = async (): Promise<void> => {
    for (const clean of atEnd.reverse()) await clean()
  }
  return { story, close }
}

/** With what the controllers put into every namespace, so that a story can tell what it has left behind. */
async function makeNamespace({ kube, check }: ControlPlane, name: string): Promise<void> {
  await kube.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await until(`${name} has what every namespace has`, 60_000, async () => {
    check()
    const everything = await kube.everythingIn(name)
    return everything.length === 2 ? true : undefined
  })
}
