import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { selfSigned } from './certificate.ts'
import { CustomKinds, crdProblem } from './crds.ts'
import { Faults } from './faults.ts'
import { Objects } from './objects.ts'
import { Registry } from './registry.ts'
import { RequestHandler } from './requests.ts'
import type { Identity } from './reviews.ts'
import { Seeds } from './seeds.ts'
import type { ApiCall, StartApiServer } from './types.ts'
import { WatchHub } from './watchHub.ts'
import { Writes } from './writes.ts'

/** How many changes of a kind a watch can be resumed over, unless the options say otherwise. */
const defaultHistory = 1000

/**
 * Starts the sandbox API server on a loopback port. It speaks what a Kubernetes 1.36 API server speaks, in
 * JSON, for the kinds of `kinds.ts` and for custom ones. Rejects when the port cannot be had.
 */
export const startApiServer: StartApiServer = async (options) => {
  const { clock } = options
  const objects = new Objects(options.history ?? defaultHistory)
  const registry = new Registry()
  const hub = new WatchHub()
  const writes = new Writes(objects, clock, (crd) => crdProblem(registry, crd))
  const customKinds = new CustomKinds(objects, registry, writes)
  const faults = new Faults(hub, options.faultsApplyTo)
  const store = new Seeds(objects, registry, clock)
  const tokens = new Map<string, Identity>(Object.entries(options.tokens))
  const listeners = new Set<(call: ApiCall) => void>()

  objects.onChange((change) => {
    hub.follow(change)
    const withdrawn = customKinds.follow(change)
    if (withdrawn !== undefined) hub.endKind(withdrawn)
  })
  store.standardNamespaces()
  customKinds.serve(options.served ?? ['LLMService'], clock.now())

  const handler = new RequestHandler({ objects, writes, hub, faults, clock, registry, tokens, listeners })
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    handler.handle(request, response).catch(() => response.destroy())
  }
  // The machine's time, not the sandbox's: clients check the certificate against their own clock.
  const certificate = options.tls === true ? selfSigned(Date.now()) : undefined
  const server = certificate === undefined ? createServer(answer) : createTlsServer(certificate, answer)
  // Clients keep connections for longer than Node's five seconds, and would run into the closing of one.
  server.keepAliveTimeout = 120_000
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })

  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    ...(certificate === undefined ? {} : { certificate: certificate.cert }),
    store,
    setServed: (kinds) => customKinds.serve(kinds, clock.now()),
    fault: (fault) => faults.arm(fault),
    clearFaults: () => faults.clear(),
    setToken: (token, identity) => {
      if (identity === null) tokens.delete(token)
      else tokens.set(token, identity)
    },
    onCall: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    streams: () => hub.infos(),
    get inFlight() {
      return handler.inFlight
    },
    get resourceVersion() {
      return String(objects.version)
    },
    stop: async () => {
      hub.endAll()
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      server.closeAllConnections()
      await closed
    },
  }
}
