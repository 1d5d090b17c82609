/** Releases to be taken away: each with a plan, an archive, an autoscaling policy, a helm record and pods that take their time. */
import { createClient, type KubeClient } from '../../../sandbox/client.ts'
import { readKubeconfig } from '../../../sandbox/kubeconfig.ts'
import {
  CONFIG_MAP,
  DEPLOYMENT,
  NAMESPACE,
  POD,
  type ResourceType,
  SECRET,
} from '../../../sandbox/resourceTypes.ts'
import { helmSecret } from '../../../sandbox/samples/helmRelease.ts'

export const HOME = 'crash'
const LEASE: ResourceType = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
}
const KINDS = [CONFIG_MAP, SECRET, LEASE, POD, DEPLOYMENT]

export class Releases {
  readonly #client: KubeClient
  #made = 0

  constructor(kubeconfig: string) {
    this.#client = createClient(readKubeconfig([kubeconfig]), 'kill-tests')
  }

  async makeNamespace(): Promise<void> {
    await this.#client.create(
      NAMESPACE,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } },
      '',
    )
  }

  /** Installs one more, as the tools that made them would have left it. Answers its name. */
  async make(stopSeconds: number): Promise<string> {
    const name = `r${++this.#made}`
    const labels = { 'app.kubernetes.io/instance': name, app: `${name}-vllm` }
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name,
        namespace: HOME,
        labels: { ...labels, 'app.kubernetes.io/managed-by': 'Helm' },
        annotations: { 'meta.helm.sh/release-name': name, 'meta.helm.sh/release-namespace': HOME },
      },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { 'sandbox.swiss/stop-seconds': String(stopSeconds) } },
          spec: {
            terminationGracePeriodSeconds: 30,
            containers: [{ name: 'server', image: 'none.invalid/none:1' }],
          },
        },
      },
    }
    const now = new Date().toISOString()
    const record = helmSecret({
      namespace: HOME,
      name,
      revision: 2,
      status: 'deployed',
      chart: { name: 'vllm', version: '0.4.0', appVersion: '1' },
      config: {},
      objects: [deployment],
      description: 'Upgrade complete',
      firstDeployed: now,
      lastDeployed: now,
    })
    const map = (metadata: object, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
    const plan = {
      'plan.yaml': `release: {name: ${name}, namespace: ${HOME}}\nchart: {name: vllm, version: 0.4.0}\n`,
      'status.yaml': 'phase: applied\nrevision: 2\n',
    }
    await this.#client.create(DEPLOYMENT, deployment, HOME)
    await this.#client.create(SECRET, record, HOME)
    await this.#client.create(
      CONFIG_MAP,
      map({ name: `swiss-autoscale-${name}` }, { 'policy.yaml': 'enabled: false\n' }),
      HOME,
    )
    await this.#client.create(
      SECRET,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: `swiss.plan.v1.${name}.v1`,
          labels: { owner: 'swiss', name, version: '1', 'app.kubernetes.io/managed-by': 'swiss' },
        },
      },
      HOME,
    )
    const managed = { name: `swiss-plan-${name}`, labels: { 'app.kubernetes.io/managed-by': 'swiss' } }
    await this.#client.create(CONFIG_MAP, map(managed, plan), HOME)
    return name
  }

  /** Names of the releases that still have a plan or a mark. */
  async unfinished(): Promise<string[]> {
    const { items } = await this.#client.list(CONFIG_MAP, { namespace: HOME })
    return items.flatMap(({ metadata }) => /^swiss-(?:plan|uninstall)-(.+)$/.exec(metadata.name)?.[1] ?? [])
  }

  /** Everything of any release that is still in the cluster, as `Kind/name`. */
  async leftOver(): Promise<string[]> {
    const lists = await Promise.all(
      KINDS.map(async (type) => {
        const { items } = await this.#client.list(type, { namespace: HOME })
        return items.map(({ metadata }) => `${type.kind}/${metadata.name}`)
      }),
    )
    return lists.flat().filter((name) => name !== 'ConfigMap/kube-root-ca.crt')
  }

  close(): void {
    this.#client.close()
  }
}
