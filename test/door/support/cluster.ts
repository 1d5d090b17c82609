import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, type KubeClient } from '../../../sandbox/client.ts'
import { readKubeconfig } from '../../../sandbox/kubeconfig.ts'
import {
  CONFIG_MAP,
  CONTROLLER_REVISION,
  DEPLOYMENT,
  LLM_SERVICE,
  POD,
  REPLICA_SET,
  SECRET,
  SERVICE,
} from '../../../sandbox/resourceTypes.ts'

const LEASE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases', namespaced: true }

/** Kinds of what a release leaves on its way. */
const belongings = [
  ...[CONFIG_MAP, SECRET, POD, LEASE, SERVICE, DEPLOYMENT, REPLICA_SET],
  ...[LLM_SERVICE, CONTROLLER_REVISION],
]

/** A look at the sandbox cluster from outside, and a hand on it. */
export class ClusterEye {
  readonly #client: KubeClient

  constructor(kubeconfig: string) {
    this.#client = createClient(readKubeconfig([kubeconfig]), 'door-tests')
  }

  /** Everything that belongs to a release in its namespace, as `Kind/name`. */
  async leftOf(namespace: string, name: string): Promise<string[]> {
    const lists = await Promise.all(
      belongings.map(async (type) => {
        const { items } = await this.#client.list(type, { namespace })
        return items.map((object) => `${type.kind}/${object.metadata.name}`)
      }),
    )
    return lists.flat().filter((one) => one.includes(name))
  }

  /** Puts a finalizer on the pods of a release: they stay terminating until `letPodsGo`. */
  holdPods(namespace: string, name: string): Promise<void> {
    return this.#setFinalizers(namespace, name, ['example.com/held-by-a-test'])
  }

  letPodsGo(namespace: string, name: string): Promise<void> {
    return this.#setFinalizers(namespace, name, null)
  }

  async #setFinalizers(namespace: string, name: string, finalizers: string[] | null): Promise<void> {
    const labelSelector = `app.kubernetes.io/instance=${name}`
    const { items } = await this.#client.list(POD, { namespace, labelSelector })
    if (items.length === 0) throw new Error(`${namespace}/${name} has no pods`)
    for (const { metadata } of items) {
      await this.#client.patch(POD, namespace, metadata.name, { metadata: { finalizers } })
    }
  }

  close(): void {
    this.#client.close()
  }
}

/**
 * Writes a kubeconfig with the sandbox's context beside the current one, which leads nowhere: only who is told
 * `--context swiss-sandbox`, and passes that on to helm, reaches the cluster.
 */
export function kubeconfigWithDecoy(dir: string, kubeconfig: string): string {
  const { server, token = '', certificateAuthority = '' } = readKubeconfig([kubeconfig])
  const path = join(dir, 'two-contexts')
  const text = `apiVersion: v1
kind: Config
current-context: nowhere
clusters:
- name: nowhere
  cluster:
    server: http://127.0.0.1:9
- name: sandbox
  cluster:
    server: ${server}
    certificate-authority-data: ${Buffer.from(certificateAuthority).toString('base64')}
contexts:
- name: nowhere
  context:
    cluster: nowhere
    user: nobody
- name: swiss-sandbox
  context:
    cluster: sandbox
    user: admin
users:
- name: nobody
  user:
    token: none
- name: admin
  user:
    token: ${token}
`
  writeFileSync(path, text, { mode: 0o600 })
  return path
}
