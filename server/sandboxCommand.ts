import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { CommandError, endingSignal, stopWithin } from './ending.ts'
import type { Gateway } from './gateway.ts'
import { type SandboxPlace, type SandboxProcess, startSandboxProcess } from './sandboxProcess.ts'
import { startServing } from './serve.ts'

/** How long the welcome waits for the caches; a cluster that is slower is still worth telling about. */
const FILL_MS = 15_000

/** `swiss-gateway sandbox`: a cluster of its own, and unless told otherwise a gateway on it. */
export async function sandbox(config: Config, env: NodeJS.ProcessEnv): Promise<void> {
  // The user's cluster plays no part: nothing that is started here gets to know where it is.
  const { KUBECONFIG: _, ...own } = env
  const cluster = await startSandboxProcess(config, own)
  const { place } = cluster
  if (config.noGateway) {
    process.stdout.write(clusterText(place))
    return untilTheEnd(cluster, async () => {})
  }
  try {
    const gateway = await startServing(
      {
        ...config,
        kubeconfig: place.kubeconfig,
        helmBin: place.helm,
        prometheusUrl: place.prometheus,
        gatewayNamespace: 'swiss-system',
        auditDb: join(place.dir, 'audit.db'),
      },
      own,
    )
    await filled(gateway)
    process.stdout.write(welcomeText(gateway.url, place))
    await untilTheEnd(cluster, () => gateway.stop())
  } catch (error) {
    await stopWithin(() => cluster.stop())
    throw error
  }
}

/** Whoever copies the first command at once should get an answer to it, not that the caches are still filling. */
async function filled(gateway: Gateway): Promise<void> {
  const until = systemClock.now() + FILL_MS
  while (!gateway.ready && systemClock.now() < until) await setTimeout(20)
}

/** Waits for a signal, or for the cluster to die; stops the gateway first, then the cluster. */
async function untilTheEnd(cluster: SandboxProcess, stopGateway: () => Promise<void>): Promise<void> {
  const asked = endingSignal().then(() => null)
  const died = await Promise.race([asked, cluster.ended])
  const inTime = await stopWithin(async () => {
    await stopGateway()
    await cluster.stop()
  })
  if (died !== null)
    throw new CommandError(1, `The sandbox cluster is gone (${died}); the gateway ends with it.`)
  if (!inTime) throw new CommandError(1, 'Stopping took too long; it was cut short.')
}

const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

function welcomeText(url: string, { kubeconfig, helm }: SandboxPlace): string {
  const post = (query: string) =>
    `curl -s ${url} -H 'content-type: application/json' -d '{"query": "${query}"}'`
  return `
This is a sandbox: a small Kubernetes cluster on this machine with sample releases, and the Swiss gateway on it.

  ${url}     open it in a browser for GraphiQL, with these three as ready tabs

Three things to try
  1. What is deployed:
     ${post('{ deployments { nodes { namespace name phase } } }')}
  2. Watch the phases (leave it running in another terminal):
     curl -sNG ${url} -H 'accept: text/event-stream' --data-urlencode 'query=subscription { deploymentPhaseChanged(snapshot: true) { kind namespace name previousPhase phase } }'
  3. Take the release chat away, and see it stay UNINSTALLING until its last pod is gone:
     ${post('mutation { uninstallRelease(input: { namespace: \\"team-a\\", name: \\"chat\\" }) { __typename } }')}

The cluster by itself
  kubectl --kubeconfig ${quoted(kubeconfig)} get pods --all-namespaces
  KUBECONFIG=${quoted(kubeconfig)} ${quoted(helm)} list --all-namespaces

Ctrl-C ends both.
`
}

function clusterText({ kubeconfig, helm, url, dir, prometheus }: SandboxPlace): string {
  const auditDb = join(dir, 'audit.db')
  return `
This is a sandbox: a small Kubernetes cluster on this machine with sample releases, and no gateway.

  server      ${url}
  kubeconfig  ${kubeconfig}
  helm        ${helm}
  prometheus  ${prometheus}

A gateway on it
  swiss-gateway serve --kubeconfig ${quoted(kubeconfig)} --helm-bin ${quoted(helm)} --audit-db ${quoted(auditDb)} --prometheus-url ${prometheus}
The same from a clone of the repository
  npm run serve -- --kubeconfig ${quoted(kubeconfig)} --helm-bin ${quoted(helm)} --audit-db ${quoted(auditDb)} --prometheus-url ${prometheus}

Ctrl-C ends it.
`
}
