/**
 * The gateway as the runner sees it: what starts one, what tells that it is quiet, and what ends it. The real one
 * is behind `realGateway.ts`; the runner's own tests put a small one of their own there.
 */
import type { GraphQLSchema } from 'graphql'
import type { Clock } from '../../sandbox/clock.ts'
import type { CaseConfig } from './givenFormat.ts'
import type { KillPoint } from './stepFormat.ts'

/** Where a watch cache stands. */
export interface CachePosition {
  kind: string
  /** Empty for all namespaces. */
  namespace: string
  labelSelector: string
  /** Of the last event or bookmark it has taken in. */
  resourceVersion: string
  /** Whether it believes to have a stream. */
  open: boolean
}

export interface GatewayUnderTest {
  /** Address of the GraphQL endpoint, for HTTP and, with `ws:`, for graphql-ws. */
  readonly url: string
  readonly client: { readonly inFlight: number }
  readonly tasks: { readonly busy: number; readonly open: string[] }
  streams(): CachePosition[]
  /** helm processes it is waiting for. */
  readonly helmRunning: number
  /** Whether its caches have been filled once. */
  readonly ready: boolean
  tick(loop: 'reap' | 'autoscale'): Promise<void>
  /** Ends as a crash does: no clean-up, no further call, its helm runs die. */
  kill(): void
}

export interface GatewaySetup {
  /** Path of the kubeconfig with this gateway's own token. */
  kubeconfig: string
  helmBin: string
  prometheusUrl: string | null
  clock: Clock
  random: () => number
  /** Who it is in Leases; another after each start. */
  identity: string
  config: CaseConfig
  /** Called at each named point; what it returns is awaited. */
  checkpoint: (point: KillPoint) => Promise<void>
  /** Called when a request is taken up, with what its `x-test-request` header says. */
  onRequest: (requestId: string) => void
}

/** Everything of one case that is not the runner's. */
export interface GatewayHouse {
  readonly schema: GraphQLSchema
  start(setup: GatewaySetup): Promise<GatewayUnderTest>
  /** Resolves when what was said to the audit store so far can be read. */
  flush(): Promise<void>
}

/** Makes the house of a new case: the audit store in it outlives the gateways. */
export type MakeHouse = () => GatewayHouse

/** User agents of gateways begin with this; helm's and kubectl's do not. */
export const gatewayUserAgent = 'swiss-gateway'
