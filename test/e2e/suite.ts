// Tells the stories: several at once on one cluster, those that need it on one of their own.
import { join } from 'node:path'
import { gatewayAccess } from './access.ts'
import { type ControlPlane, startControlPlane } from './controlPlane.ts'
import { LLM_SERVICE_CRD } from './crds.ts'
import { kubeconfigText } from './kubeconfigText.ts'
import { type Managed, type Processes, tails } from './processes.ts'
import type { HelmMajor, Story } from './story.ts'
import { openContext } from './storyContext.ts'
import type { Tools } from './tools.ts'
import { seconds } from './wait.ts'

/** One story with one helm. */
export type Telling = { story: Story; helmMajor: HelmMajor; title: string }

export type SuiteOptions = {
  processes: Processes
  tools: Tools
  say: (line: string) => void
  keep: boolean
  /** Nothing was left out by the command line. */
  wholeSuite: boolean
  /** Stories at once. Most of their time they wait. */
  atOnce: number
}

type Shared = { cluster: ControlPlane; gatewayKubeconfig: string; gatewayToken: string }

export class Suite {
  readonly #options: SuiteOptions
  readonly #auditLogs: string[] = []
  readonly #clusters: ControlPlane[] = []
  #shared: Promise<Shared> | undefined
  #count = 0
  passed = 0
  failed = 0

  constructor(options: SuiteOptions) {
    this.#options = options
  }

  async tell(tellings: readonly Telling[]): Promise<void> {
    const first = tellings.filter((t) => !t.story.last)
    const next = first.values()
    const worker = async (): Promise<void> => {
      for (const telling of next) await this.#tellOne(telling)
    }
    await Promise.all(Array.from({ length: this.#options.atOnce }, () => worker()))
    for (const telling of tellings) if (telling.story.last) await this.#tellOne(telling)
  }

  /** Kubeconfigs of the clusters that run. */
  get kubeconfigs(): string[] {
    return this.#clusters.map((cluster) => cluster.kubeconfig)
  }

  async #tellOne({ story, helmMajor, title }: Telling): Promise<void> {
    const { processes, tools, say } = this.#options
    this.#count += 1
    const folder = `${String(this.#count).padStart(2, '0')}-${story.name}`
    const notes: string[] = []
    const started: Managed[] = []
    let cluster: ControlPlane | undefined
    const start = performance.now()
    try {
      const own = story.cluster !== undefined
      const shared = own ? await this.#startCluster(folder, story) : await this.#theShared()
      cluster = shared.cluster
      const context = await openContext({
        ...{ processes, tools, helmMajor, folder, own, started },
        ...shared,
        note: (line) => notes.push(line),
        sofar: {
          auditLogs: [...this.#auditLogs],
          wholeSuite: this.#options.wholeSuite,
          failed: this.failed,
        },
      })
      try {
        await story.run(context.story)
      } finally {
        await context.close()
      }
      this.passed += 1
      say(`ok      ${title}  ${seconds(start)}`)
    } catch (error) {
      this.failed += 1
      say(`FAILED  ${title}  ${seconds(start)}`)
      say(`${title}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
      const components = cluster?.components.flatMap((c) => c.process ?? []) ?? []
      say(`${tails(components, 4)}\n${tails(started, 25)}`)
    } finally {
      for (const line of notes) say(`        ${line}`)
      await processes.kill(started)
      if (story.cluster !== undefined && cluster !== undefined && !this.#options.keep) {
        await cluster.stop()
        this.#clusters.splice(this.#clusters.indexOf(cluster), 1)
      }
    }
  }

  #theShared(): Promise<Shared> {
    this.#shared ??= this.#startCluster('cluster', undefined)
    return this.#shared
  }

  async #startCluster(folder: string, story: Story | undefined): Promise<Shared> {
    const { processes, tools, say } = this.#options
    const start = performance.now()
    const options = { crds: [LLM_SERVICE_CRD], ...story?.cluster }
    const cluster = await startControlPlane(processes, tools, join(folder, 'cluster'), options)
    this.#clusters.push(cluster)
    this.#auditLogs.push(cluster.auditLog)
    const gatewayToken = await gatewayAccess(cluster)
    const gatewayKubeconfig = processes.file(
      join(folder, 'swiss.kubeconfig'),
      kubeconfigText(cluster.server, cluster.ca, gatewayToken),
    )
    if (story === undefined) say(`control plane ready in ${seconds(start)}`)
    return { cluster, gatewayKubeconfig, gatewayToken }
  }
}
