import type { ClusterOptions, ControlPlane } from './controlPlane.ts'
import type { Gateway, GatewayOptions } from './gateway.ts'
import type { Managed } from './processes.ts'
import type { Tools } from './tools.ts'

export type HelmMajor = '4' | '3'

export type Story = {
  /** As on the command line. */
  name: string
  /** Told once with each of these, in the place of `context.helmBin`; default: 4 alone. */
  helm?: readonly HelmMajor[]
  /**
   * A cluster of its own, where it is the only one: for a story that kills or reconfigures one, or whose gateway
   * has to see all namespaces. Default: the one that the stories share, in a namespace of its own.
   */
  cluster?: ClusterOptions
  /** Told when all others are over, one after the other: it looks back on the run. */
  last?: boolean
  /** Told only when it is named. */
  byHand?: boolean
  /** Throws when it does not hold. What it has started through the context is stopped for it. */
  run: (context: StoryContext) => Promise<void>
}

export type StoryContext = {
  cluster: ControlPlane
  tools: Tools
  helmMajor: HelmMajor
  /** The helm of this telling. */
  helmBin: string
  /** The story's own; empty but for what every namespace has. */
  namespace: string
  /** Where its gateways keep their leader Lease. */
  gatewayNamespace: string
  /** Kubeconfig with the ServiceAccount that gateways have by default. */
  gatewayKubeconfig: string
  /** Its token. */
  gatewayToken: string
  /** A folder for files; it is removed at the end of the run. */
  dir: string
  /** Says what was seen: it stands under the story's line. */
  note: (line: string) => void
  /** A program in a process group of its own, with its log in the folder. */
  start: (name: string, command: string, args: string[], env?: Record<string, string>) => Managed
  /** A gateway as a process of its own; resolves when it is ready. */
  gateway: (options?: GatewayOptions) => Promise<Gateway>
  /** Its standard output; a failure is an exception with standard error. They are members of system:masters. */
  helm: (...args: string[]) => Promise<string>
  kubectl: (...args: string[]) => Promise<string>
  /** A namespace more, with what the controllers put into every one. */
  makeNamespace: (name: string) => Promise<void>
  /** Called at the end, the last first, also after a failure. Processes need none. */
  atEnd: (clean: () => Promise<void> | void) => void
  /** Of the run until now, for stories that are told last. */
  sofar: { auditLogs: string[]; wholeSuite: boolean; failed: number }
}
