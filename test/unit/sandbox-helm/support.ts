import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import { systemClock } from '../../../sandbox/clock.ts'
import { startControllers } from '../../../sandbox/controllers/controllers.ts'
import { decodeRelease, type HelmRelease } from '../../../sandbox/helm/payload.ts'
import { type HelmResult, runHelm } from '../../../sandbox/helm/run.ts'
import { startKubelet } from '../../../sandbox/kubelet/kubelet.ts'
import { seedSamples } from '../../../sandbox/samples/samples.ts'
import { type TestCluster, testClient, testCluster, testFolder } from '../sandbox-parts/support.ts'

export interface HelmTestCluster extends TestCluster {
  helm(...args: string[]): Promise<HelmResult>
  /** `upgrade --install` as the gateway calls it, with one file per layer. */
  upgrade(name: string, layers: string[], ...more: string[]): Promise<HelmResult>
  /** Its revisions, oldest first, as `1 superseded`. */
  revisions(name: string): string[]
  newest(name: string): HelmRelease
  get(kind: string, name: string): KubeObject | undefined
  replicas(deployment: string): unknown
  /** Pods of a release that nobody has asked to stop. */
  pods(name: string): KubeObject[]
}

/** The sample cluster; with `running` its controllers and a quick kubelet are at work. */
export async function helmCluster({ running = false } = {}): Promise<HelmTestCluster> {
  const cluster = await testCluster()
  const { server, env } = cluster
  seedSamples(server.store, Date.now())
  if (running) {
    const errors: string[] = []
    const common = { clock: systemClock, onError: (message: string) => errors.push(message) }
    const pace = { startMs: 1, stopMs: 1, runMs: 1 }
    const parts = [
      startControllers({ client: testClient(server), ...common }),
      startKubelet({ client: testClient(server), ...common, pace }),
    ]
    onTestFinished(async () => {
      for (const part of parts) await part.stop()
      expect(errors).toEqual([])
    })
    await Promise.all(parts.map((part) => part.synced))
  }
  const helm = (...args: string[]) => runHelm(args, env)
  const records = (name: string) =>
    server.store
      .list('Secret')
      .filter(({ metadata: { labels = {} } }) => labels.owner === 'helm' && labels.name === name)
      .sort((a, b) => Number(a.metadata.labels?.version) - Number(b.metadata.labels?.version))
  const get = (kind: string, name: string) => server.store.get({ kind, namespace: 'team-a', name })
  return {
    ...cluster,
    helm,
    upgrade(name, layers, ...more) {
      const files = valueFiles(layers).flatMap((file) => ['-f', file])
      const where = ['--namespace', 'team-a', '--version', '0.7.1', '--repo', 'https://charts.invalid']
      return helm('upgrade', '--install', name, 'sglang', ...where, '--reset-values', ...files, ...more)
    },
    revisions: (name) =>
      records(name).map(({ metadata: { labels } }) => `${labels?.version} ${labels?.status}`),
    newest(name) {
      const { release = '' } = (records(name).at(-1)?.data ?? {}) as { release?: string }
      return decodeRelease(release)
    },
    get,
    replicas: (name) => (get('Deployment', name)?.spec as { replicas?: number } | undefined)?.replicas,
    pods: (name) =>
      server.store
        .list('Pod')
        .filter((it) => it.metadata.labels?.['app.kubernetes.io/instance'] === name)
        .filter((it) => it.metadata.deletionTimestamp === undefined),
  }
}

/** Files with these texts, in a folder that goes with the test. */
export function valueFiles(texts: string[]): string[] {
  const folder = testFolder()
  return texts.map((text, index) => {
    const path = join(folder, `${index + 1}.yaml`)
    writeFileSync(path, text)
    return path
  })
}

/** The values that `chat` of the sample runs with, as one layer. */
export const valuesOf = (cluster: HelmTestCluster, name: string) =>
  JSON.stringify(cluster.newest(name).config)
