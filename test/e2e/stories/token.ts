// The token of the gateway's service account is rotated: a new one in the file, and the old one is good no longer.
// Then it runs out with no new one: nothing is lost, nothing is accepted, and a new one mends it.
import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SYSTEM, tokenOf } from '../access.ts'
import { askUninstall, isAuditedOnce, leavesNothing, rowOf, runsOf, uninstallIt } from '../checks.ts'
import { Kube, KubeError } from '../kube.ts'
import { kubeconfigText } from '../kubeconfigText.ts'
import { GOES_WELL, Phases } from '../phases.ts'
import { installRelease, makePlan } from '../release.ts'
import type { Story, StoryContext } from '../story.ts'
import { seconds, until } from '../wait.ts'
import { Wire } from '../wire.ts'

export const token: Story = { name: 'token', helm: ['4', '3'], run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  const before = await cluster.kube.everythingIn(namespace)
  const first = { namespace, name: 'first' }
  const second = { namespace, name: 'second' }
  for (const { name } of [first, second]) {
    await installRelease(context, namespace, name)
    await makePlan(cluster.kube, namespace, name)
  }
  const tokens = await Tokens.make(context)
  const wire = await Wire.start(cluster.server)
  context.atEnd(() => wire.stop())
  const kubeconfig = join(context.dir, 'token.kubeconfig')
  writeFileSync(kubeconfig, kubeconfigText(wire.server, cluster.ca, { tokenFile: tokens.file }), {
    mode: 0o600,
  })
  await tokens.rotate()
  const gateway = await context.gateway({ kubeconfig })
  const streams = [
    await Phases.follow(context, gateway, first),
    await Phases.follow(context, gateway, second),
  ] as const

  // In time: the new one is there before the old one ends, and every watch has to begin anew.
  await tokens.rotate()
  await tokens.end(0)
  wire.cut()
  wire.mend()
  await uninstallIt(gateway, first)
  await streams[0].reaches('GONE')
  streams[0].told(...GOES_WELL)
  await isAuditedOnce(gateway, first)

  // Too late.
  await tokens.end(1)
  wire.cut()
  wire.mend()
  const refused = await askUninstall(gateway, second)
  assert.equal(refused.__typename, 'ClusterUnavailableError', JSON.stringify(refused))
  note(`without a token: ${refused.message}`)
  assert.equal((await rowOf(gateway, second))?.phase, 'APPLIED')
  assert.deepEqual(await runsOf(gateway, second), [])
  await tokens.rotate()
  const renewed = performance.now()
  await until('the new token is used', 60_000, async () => {
    const answer = await askUninstall(gateway, second)
    if (answer.__typename !== 'UninstallReleasePayload') throw new Error(JSON.stringify(answer))
    assert.equal(answer.alreadyInProgress, false)
    return true
  })
  note(`accepted ${seconds(renewed)} after the new token was there`)
  await streams[1].reaches('GONE')
  streams[1].told(...GOES_WELL)
  await isAuditedOnce(gateway, second)
  await leavesNothing(context, namespace, before)
  assert.equal(await gateway.stop(60_000), 'exit 0')
}

/** Tokens of a ServiceAccount of the story's own, each bound to a Secret that ends it. */
class Tokens {
  /** As a pod has it: written anew at each rotation. */
  readonly file: string
  readonly #context: StoryContext
  readonly #account: string
  readonly #tokens: string[] = []

  private constructor(context: StoryContext) {
    this.#context = context
    this.#account = context.namespace
    this.file = join(context.dir, 'token')
  }

  static async make(context: StoryContext): Promise<Tokens> {
    const tokens = new Tokens(context)
    const name = tokens.#account
    const { kube } = context.cluster
    await kube.create(`/api/v1/namespaces/${SYSTEM}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name },
    })
    for (const role of ['swiss', 'swiss-helm']) {
      await kube.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: `${name}-${role}` },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'ServiceAccount', name, namespace: SYSTEM }],
      })
    }
    return tokens
  }

  /** Puts a new one into the file. */
  async rotate(): Promise<void> {
    const { cluster } = this.#context
    const name = this.#secret(this.#tokens.length)
    const { metadata } = await cluster.kube.create(`/api/v1/namespaces/${SYSTEM}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
    })
    const bearer = await tokenOf(cluster, this.#account, 3600, { name, uid: metadata.uid })
    this.#tokens.push(bearer)
    writeFileSync(`${this.file}.new`, bearer, { mode: 0o600 })
    renameSync(`${this.file}.new`, this.file)
  }

  /** Resolves when the API server takes the n-th one no longer; it remembers a good one for ten seconds. */
  async end(n: number): Promise<void> {
    const { cluster } = this.#context
    await cluster.kube.delete(`/api/v1/namespaces/${SYSTEM}/secrets/${this.#secret(n)}`)
    const kube = new Kube(cluster.server, this.#tokens[n] ?? '', cluster.ca)
    await until('the API server takes the token no longer', 120_000, () =>
      kube.get('/api').then(
        () => undefined,
        (error: unknown) => (error instanceof KubeError && error.status === 401 ? true : undefined),
      ),
    )
    kube.close()
  }

  #secret(n: number): string {
    return `${this.#account}-${n}`
  }
}
