import type { Child, Processes } from './processes.ts'
import { until } from './until.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a document selects is known to the test that wrote it
type Data = any

export interface Answer {
  data?: Data
  errors?: { message: string; path?: string[]; extensions?: { code?: string } }[]
}

/** A gateway as its callers have it: a process, and an address. */
export class Gateway {
  readonly child: Child
  /** `http://127.0.0.1:4000/graphql` */
  readonly url: string

  constructor(child: Child, url: string) {
    this.child = child
    this.url = url
  }

  /** One operation by POST, with all that it answers. */
  async post(query: string, variables: object = {}): Promise<Answer> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return (await response.json()) as Answer
  }

  /** The data of one operation that must not have errors. */
  async ask(query: string, variables: object = {}): Promise<Data> {
    const { data, errors } = await this.post(query, variables)
    if (errors || !data) throw new Error(`${query}: ${JSON.stringify(errors)}`)
    return data
  }

  /** A row of the list, null when it is not in it. */
  async row(namespace: string, name: string, fields: string): Promise<Data> {
    const query = `query ($filter: DeploymentFilter) {
      deployments(first: 500, filter: $filter) { nodes { namespace name ${fields} } }
    }`
    const { deployments } = await this.ask(query, { filter: { namespaces: [namespace], search: name } })
    return deployments.nodes.find((one: { name: string }) => one.name === name) ?? null
  }

  /** Sends `uninstallRelease` and answers what it answers. */
  async uninstall(input: {
    namespace: string
    name: string
    waitFor?: string
    note?: string
  }): Promise<Data> {
    const query = `mutation ($input: UninstallReleaseInput!) {
      uninstallRelease(input: $input) {
        __typename
        ... on UninstallReleasePayload { alreadyInProgress output cursor run { id outcome } }
        ... on UserError { message code retryable }
        ... on HelmFailedError { output exitCode run { id outcome error } }
      }
    }`
    return (await this.ask(query, { input })).uninstallRelease
  }

  /** The runs of one release, newest first. */
  async runs(namespace: string, name: string): Promise<Data[]> {
    const query = `query ($filter: RunFilter) {
      runs(filter: $filter) { nodes { id action outcome error note actor endedAt } }
    }`
    return (await this.ask(query, { filter: { namespace, name } })).runs.nodes
  }

  /** Resolves when `/readyz` says 200. */
  async ready(): Promise<this> {
    await until(`${this.url} is ready`, async () => (await fetch(new URL('/readyz', this.url))).ok)
    return this
  }
}

/** `swiss-gateway sandbox`: resolves when it has said what there is to try. */
export async function startSandbox(
  processes: Processes,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Gateway> {
  const child = processes.gateway(['sandbox', '--port', '0', ...args], env)
  await child.says(/Ctrl-C ends both/)
  const [url = ''] = /http:\S+\/graphql/.exec(child.stdout) ?? []
  return new Gateway(child, url)
}

/** A sandbox cluster without a gateway. */
export interface Cluster {
  child: Child
  kubeconfig: string
  helm: string
  /** The flags of the `serve` line that it prints. */
  serveArgs: string[]
}

/** `swiss-gateway sandbox --no-gateway`. */
export async function startCluster(processes: Processes, args: string[] = []): Promise<Cluster> {
  const child = processes.gateway(['sandbox', '--no-gateway', ...args])
  await child.says(/Ctrl-C ends it/)
  const [, kubeconfig = ''] = await child.says(/^ *kubeconfig +(\S+)$/m)
  const [, helm = ''] = await child.says(/^ *helm +(\S+)$/m)
  const [, line = ''] = await child.says(/^ *swiss-gateway serve (.+)$/m)
  return { child, kubeconfig, helm, serveArgs: line.split(' ') }
}

/** `swiss-gateway serve` with these arguments, once it can be asked. */
export async function startServe(
  processes: Processes,
  args: string[],
  env: Record<string, string> = {},
): Promise<Gateway> {
  const child = processes.gateway(['serve', '--port', '0', ...args], env)
  const [, url = ''] = await child.says(/^Listening at (\S+)$/m)
  return new Gateway(child, url).ready()
}
