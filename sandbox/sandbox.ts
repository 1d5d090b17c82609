import { randomBytes } from 'node:crypto'
import { startApiServer } from './api/server.ts'
import { createClient } from './client.ts'
import { systemClock } from './clock.ts'
import { startControllers } from './controllers/controllers.ts'
import { startKubelet } from './kubelet/kubelet.ts'
import { startOperatorProcess } from './operator/child.ts'
import { startPrometheus } from './prometheus/server.ts'
import { seedSamples } from './samples/samples.ts'
import { sampleSlos } from './samples/slo.ts'
import { writeSandboxFiles } from './sandboxFiles.ts'
import { startSloServer } from './slo/server.ts'

export interface SandboxOptions {
  /** Generated releases on top of the sample. */
  releases: number
  /** Folder for kubeconfig and helm; a fresh temporary one when absent. */
  dir?: string
  /** 0 picks a free port. */
  port: number
  onError: (message: string) => void
  /** Gives the start up; what has been started ends before the rejection. */
  signal?: AbortSignal
}

/** A running sandbox cluster, and how to reach it. */
export interface Sandbox {
  url: string
  kubeconfig: string
  helm: string
  dir: string
  /** Base URL of its Prometheus. */
  prometheus: string
  /** Ends everything and takes the files away. */
  stop(): Promise<void>
}

const token = () => randomBytes(24).toString('base64url')

/**
 * Starts the sandbox cluster: API server, sample objects, kubelet, controllers, the SLO service, Prometheus and the
 * llm-operator (a process of its own, which is not waited for), and the files to reach it by.
 * Rejects with code EADDRINUSE for a busy port, and with one sentence for a folder that cannot be used.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const stops: (() => unknown)[] = []
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step()
  }
  try {
    return await start()
  } catch (error) {
    await stop()
    throw error
  }

  async function start(): Promise<Sandbox> {
    const clock = systemClock
    const tokens = { admin: token(), kubelet: token(), controllers: token() }
    const server = await startApiServer({
      clock,
      port: options.port,
      // client-go, and with it kubectl and helm, sends no bearer token over plain HTTP.
      tls: true,
      tokens: {
        [tokens.admin]: { user: 'sandbox-admin', groups: ['system:masters'] },
        [tokens.kubelet]: { user: 'system:node:sandbox', groups: ['system:nodes'] },
        [tokens.controllers]: { user: 'system:kube-controller-manager', groups: [] },
      },
    })
    stops.push(() => server.stop())
    const sloToken = token()
    const slo = await startSloServer(sloToken, sampleSlos)
    stops.push(() => slo.stop())
    const sloPlace = { address: slo.url, token: sloToken }
    seedSamples(server.store, clock.now(), options.releases, sloPlace)
    const { url, certificate: certificateAuthority = '' } = server
    const files = writeSandboxFiles(options.dir, {
      server: url,
      token: tokens.admin,
      certificateAuthority,
      namespace: 'team-a',
    })
    stops.push(() => files.remove())

    const clientOf = (name: keyof typeof tokens, userAgent: string) => {
      const access = { server: url, token: tokens[name], certificateAuthority, namespace: 'default' }
      const client = createClient(access, userAgent)
      stops.push(() => client.close())
      return client
    }
    const { onError } = options
    const kubelet = startKubelet({ client: clientOf('kubelet', 'kubelet/v1.36.3 (sandbox)'), clock, onError })
    stops.push(() => kubelet.stop())
    const controllers = startControllers({
      client: clientOf('controllers', 'kube-controller-manager/v1.36.3 (sandbox)'),
      clock,
      onError,
    })
    stops.push(() => controllers.stop())
    const prometheus = await startPrometheus({
      client: clientOf('controllers', 'prometheus (sandbox)'),
      clock,
    })
    stops.push(() => prometheus.stop())
    // Like any operator it knows the cluster by a kubeconfig only.
    const operator = startOperatorProcess(files.kubeconfig, onError)
    stops.push(() => operator.stop())
    await unlessAborted(Promise.all([kubelet.synced, controllers.synced]), options.signal)
    const { kubeconfig, helm, dir } = files
    return { url, kubeconfig, helm, dir, prometheus: prometheus.url, stop }
  }
}

/** Waits for the work, but no longer than until the signal; rejects with its reason then. */
function unlessAborted(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    work.then(() => resolve(), reject).finally(() => signal?.removeEventListener('abort', abort))
  })
}
