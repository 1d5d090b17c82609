import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildSchema, type GraphQLSchema, graphql } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'
import type { GatewayHouse, GatewaySetup, GatewayUnderTest } from '../../cases/gateway.ts'

const sdl = /* GraphQL */ `
  type Query {
    deployments(first: Int, after: String): DeploymentConnection!
    deployment(namespace: String!, name: String!): Deployment
    release(namespace: String!, name: String!): Release
    runs(first: Int, after: String): RunConnection!
  }
  type DeploymentConnection { nodes: [Deployment!]! pageInfo: PageInfo! }
  type RunConnection { nodes: [Run!]! pageInfo: PageInfo! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Deployment { namespace: String! name: String! phase: String! revision: Int pods: Pods! release: Release! }
  type Pods { total: Int! }
  type Release { namespace: String! name: String! exists: Boolean! deployment: Deployment revisions: [Int!]! }
  type Run { name: String! action: String! actor: String outcome: String! }
  type Mutation { uninstallRelease(input: UninstallReleaseInput!): UninstallReleaseResult! }
  input UninstallReleaseInput { namespace: String! name: String! waitFor: String note: String }
  union UninstallReleaseResult = UninstallReleasePayload | ReleaseNotFoundError
  type UninstallReleasePayload { alreadyInProgress: Boolean! output: String deployment: Deployment }
  type ReleaseNotFoundError { message: String! output: String! }
  type Subscription { deploymentPhaseChanged(name: String): Event! }
  enum EventKind { CHANGED BOOKMARK }
  type Event { kind: EventKind! name: String phase: String }
`

interface Row {
  namespace: string
  name: string
  phase: string
  revision: number
}

/** Listeners of one gateway's stream. */
type Stream = Set<(event: object) => void>

/**
 * A gateway of a few lines, so that the runner is tested against something whose behaviour is plain: rows are the
 * plan ConfigMaps, read anew for each question; an uninstall runs helm, deletes the plan and tells subscribers.
 * It caches nothing and watches nothing.
 */
export function makeFakeHouse(): GatewayHouse {
  const schema = buildSchema(sdl)
  const runs: object[] = []
  return { schema, start: (setup) => startFake(schema, runs, setup), flush: async () => {} }
}

async function startFake(
  schema: GraphQLSchema,
  runs: object[],
  setup: GatewaySetup,
): Promise<GatewayUnderTest> {
  const { clusters, users } = JSON.parse(readFileSync(setup.kubeconfig, 'utf8'))
  const work = { calls: 0, helm: 0, killed: false }
  const stream: Stream = new Set()

  async function call(method: string, path: string): Promise<{ items?: ConfigMap[] }> {
    if (work.killed) return new Promise(() => {})
    work.calls++
    try {
      const headers = { authorization: `Bearer ${users[0].user.token}`, 'user-agent': 'swiss-gateway/fake' }
      const answer = await fetch(clusters[0].cluster.server + path, { method, headers })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`)
      return JSON.parse(text)
    } finally {
      work.calls--
    }
  }

  async function rows(): Promise<Row[]> {
    const { items } = await call('GET', '/api/v1/configmaps?labelSelector=app.kubernetes.io/managed-by=swiss')
    return (items ?? []).map(({ metadata, data }) => ({
      namespace: metadata.namespace,
      name: metadata.name.replace('swiss-plan-', ''),
      phase: (/phase: (\w+)/.exec(data['status.yaml'] ?? '')?.[1] ?? 'unknown').toUpperCase(),
      revision: Number(/revision: (\d+)/.exec(data['status.yaml'] ?? '')?.[1]),
      pods: { total: 1 },
      release: { namespace: metadata.namespace, name: metadata.name, exists: true },
    }))
  }

  const find = async ({ namespace, name }: { namespace: string; name: string }) =>
    (await rows()).find((row) => row.namespace === namespace && row.name === name) ?? null

  function helm(args: string[]): Promise<void> {
    work.helm++
    return new Promise((resolve) => {
      const env = { ...process.env, KUBECONFIG: setup.kubeconfig }
      const child = execFile(setup.helmBin, args, { env }, () => {
        work.helm--
        resolve()
      })
      stops.push(() => child.kill('SIGKILL'))
    })
  }

  async function uninstall(
    { input }: { input: { namespace: string; name: string } },
    { user }: { user: string },
  ) {
    const row = await find(input)
    const { namespace, name } = input
    if (!row) return { __typename: 'ReleaseNotFoundError', message: `no release ${name}`, output: '' }
    await setup.checkpoint('before-helm')
    await helm(['uninstall', name, '--namespace', namespace])
    await call('DELETE', `/api/v1/namespaces/${namespace}/configmaps/swiss-plan-${name}`)
    runs.unshift({ name, action: 'UNINSTALL', actor: user, outcome: 'SUCCEEDED' })
    for (const tell of stream) tell({ kind: 'BOOKMARK' })
    for (const tell of stream) tell({ kind: 'CHANGED', name, phase: 'GONE' })
    return {
      __typename: 'UninstallReleasePayload',
      alreadyInProgress: false,
      output: 'done',
      deployment: row,
    }
  }

  const page = <T>(nodes: T[]) => ({ nodes, pageInfo: { hasNextPage: false, endCursor: null } })
  const rootValue = {
    // Two a page, so that the runner has to turn pages.
    deployments: async ({ after }: { after?: string }) => {
      const all = await rows()
      const from = Number(after ?? 0)
      const pageInfo = { hasNextPage: from + 2 < all.length, endCursor: String(from + 2) }
      return { nodes: all.slice(from, from + 2), pageInfo }
    },
    deployment: find,
    release: async (ref: { namespace: string; name: string }) => {
      const deployment = await find(ref)
      const revisions = () => call('GET', '/api/v1/secrets').then(() => [deployment?.revision])
      return deployment && { ...ref, exists: true, deployment, revisions }
    },
    runs: () => page(runs),
    uninstallRelease: uninstall,
    deploymentPhaseChanged: (args: { name?: string }) => events(stream, args.name),
  }

  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      setup.onRequest(String(request.headers['x-test-request'] ?? ''))
      const { query: source, variables: variableValues } = JSON.parse(body)
      const contextValue = { user: request.headers['x-test-user'] }
      graphql({ schema, source, variableValues, rootValue, contextValue }).then((result) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(result))
      }, response.destroy.bind(response))
    })
  })
  const webSockets = new WebSocketServer({ server })
  useServer({ schema, roots: { subscription: rootValue } }, webSockets)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stops = [
    () => {
      work.killed = true
      for (const socket of webSockets.clients) socket.terminate()
      server.close()
      server.closeAllConnections()
    },
  ]

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    client: {
      get inFlight() {
        return work.killed ? 0 : work.calls
      },
    },
    tasks: { busy: 0, open: [] },
    streams: () => [],
    get helmRunning() {
      return work.helm
    },
    ready: true,
    tick: async () => {
      await rows()
    },
    kill: () => {
      for (const stop of stops) stop()
    },
  }
}

interface ConfigMap {
  metadata: { namespace: string; name: string }
  data: Record<string, string>
}

async function* events(stream: Stream, name: string | undefined) {
  const queue: { kind?: string; name?: string }[] = []
  let wake = () => {}
  const tell = (event: object) => {
    queue.push(event)
    wake()
  }
  stream.add(tell)
  try {
    for (;;) {
      const event = queue.shift()
      if (event === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      } else if (name === undefined || event.kind === 'BOOKMARK' || event.name === name) {
        yield { deploymentPhaseChanged: event }
      }
    }
  } finally {
    stream.delete(tell)
  }
}
