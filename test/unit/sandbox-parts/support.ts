import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startApiServer } from '../../../sandbox/api/server.ts'
import type { ApiServer, KubeObject } from '../../../sandbox/api/types.ts'
import { createClient, type KubeClient } from '../../../sandbox/client.ts'
import { systemClock } from '../../../sandbox/clock.ts'

const token = 'test-token'

export interface TestCluster {
  server: ApiServer
  client: KubeClient
  /** Environment for the helm stand-in. */
  env: NodeJS.ProcessEnv
}

/** An empty API server for one test, with a client; both end with the test. */
export async function testCluster(): Promise<TestCluster> {
  const identity = { user: 'tester', groups: ['system:masters'] }
  const server = await startApiServer({ clock: systemClock, tokens: { [token]: identity } })
  onTestFinished(() => server.stop())
  const client = testClient(server)
  const env = { HELM_KUBEAPISERVER: server.url, HELM_KUBETOKEN: token, KUBECONFIG: '/nowhere' }
  return { server, client, env }
}

export function testClient(server: ApiServer): KubeClient {
  const client = createClient({ server: server.url, token, namespace: 'default' }, 'test')
  onTestFinished(() => client.close())
  return client
}

/** An empty folder that goes with the test. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-parts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Waits until `look` answers with something; it is asked again after each turn of the event loop. */
export async function eventually<T>(look: () => T | undefined | false | null, what: string): Promise<T> {
  const deadline = Date.now() + 30_000
  for (;;) {
    const found = look()
    if (found !== undefined && found !== false && found !== null) return found
    if (Date.now() > deadline) throw new Error(`this never came: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** A Ready node with GPUs. */
export const readyNode = (name: string, gpus = 8): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: {
    allocatable: { 'nvidia.com/gpu': String(gpus) },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
})

/** A pod, on a node when one is named. */
export const pod = (
  name: string,
  { node, gpus = 0, metadata = {} }: { node?: string; gpus?: number; metadata?: object } = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'team-a', uid: `uid-${name}`, ...metadata },
  spec: {
    ...(node ? { nodeName: node } : {}),
    terminationGracePeriodSeconds: 30,
    containers: [{ name: 'c', image: 'i', resources: { limits: { 'nvidia.com/gpu': String(gpus) } } }],
  },
  status: { phase: 'Pending' },
})
