// A chart with one object of each kind that helm's rights speak of, by a gateway that has the rights of deploy/rbac
// for single namespaces and no others: it is installed, upgraded, rolled back and taken away.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SYSTEM, tokenOf } from '../access.ts'
import { leavesNothing, type Ref, uninstallIt } from '../checks.ts'
import type { Gateway } from '../gateway.ts'
import { kubeconfigText } from '../kubeconfigText.ts'
import { APPLY, type ChangeAnswer, COMPOSE, type ComposeAnswer, ROLLBACK } from '../queries.ts'
import { rbacObjects, rbacText } from '../rbac.ts'
import type { Story, StoryContext } from '../story.ts'
import { until } from '../wait.ts'

const CHART = join(import.meta.dirname, '../rightsChart')
/** Kinds of charts that Kubernetes itself does not serve. */
const MONITORING = ['ServiceMonitor', 'PodMonitor', 'PrometheusRule']
/** What helm only reads. */
const READ_ONLY = ['pods', 'pods/log', 'replicasets']

// A cluster of its own: while a kind is new, listing everything fails for whoever does it.
export const charts: Story = { name: 'charts', helm: ['4', '3'], cluster: {}, run }

async function run(context: StoryContext): Promise<void> {
  const { cluster, namespace, note } = context
  await serveMonitoring(context)
  const gateway = await narrowGateway(context)
  const before = await cluster.kube.everythingIn(namespace)
  const ref = { namespace, name: 'all' }

  const plan = {
    chart: { name: 'e2e-everything', version: '0.1.0', path: CHART },
    source: { model: 'none' },
    engine: 'vllm',
    layers: [{ name: 'catalog', values: { generation: 'one' } }],
  }
  await applies(gateway, ref, { ...ref, plan })
  const kinds = await kindsOf(context, 'one')
  const allowed = rbacObjects('helm-namespace.yaml').flatMap(({ rules = [] }) => rules)
  const written = allowed.flatMap(({ resources }) => resources).filter((r) => !READ_ONLY.includes(r))
  assert.deepEqual(kinds, [...new Set(written)].sort(), 'the chart has one object of each kind')
  note(`${kinds.length} kinds of objects`)

  await applies(gateway, ref, { namespace, fromRelease: ref.name, form: { generation: 'two' } })
  assert.deepEqual(await kindsOf(context, 'two'), kinds)
  const rollback = await gateway.ask<{ rollbackRelease: ChangeAnswer }>(ROLLBACK, {
    input: { ...ref, toRevision: 1 },
  })
  assert.equal(rollback.rollbackRelease.__typename, 'ApplyPlanPayload', JSON.stringify(rollback))
  assert.deepEqual(await kindsOf(context, 'one'), kinds)

  const { cluster: about } = await gateway.ask<{ cluster: { warnings: string[] } }>(
    '{ cluster { warnings } }',
  )
  assert.match(about.warnings.join('\n'), /nodes/i, 'that nodes cannot be read is a warning')
  await uninstallIt(gateway, ref, { waitFor: 'GONE', timeoutSeconds: 180 })
  await leavesNothing(context, namespace, before)
  await gateway.stop(30_000)
  await hasMore(context, plan)
}

const SET_AUTOSCALE = `mutation ($input: SetAutoscaleInput!) {
  setAutoscale(input: $input) { __typename ... on UserError { message } }
}`

/** What only the rights on the whole cluster allow, and what else no other story comes by. */
async function hasMore(context: StoryContext, plan: object): Promise<void> {
  const gateway = await context.gateway({ name: 'wide' })
  const ref = { namespace: `${context.namespace}-new`, name: 'all' }
  const input = { ...ref, plan: { ...plan, createNamespace: true } }
  await applies(gateway, ref, input)
  // The same once more: its Secret is there, and lasts an hour from now.
  await applies(gateway, ref, { namespace: ref.namespace, fromRelease: ref.name, form: {} })
  await applies(gateway, ref, { namespace: ref.namespace, fromRelease: ref.name, form: {} })
  const pools = [{ name: 'decode', min: 1, max: 2, query: 'up', target: 1 }]
  for (const enabled of [false, true]) {
    const answer = await gateway.ask<{ setAutoscale: ChangeAnswer }>(SET_AUTOSCALE, {
      input: { ...ref, enabled, pools },
    })
    assert.equal(answer.setAutoscale.__typename, 'SetAutoscalePayload', JSON.stringify(answer))
  }
  await uninstallIt(gateway, ref, { waitFor: 'GONE', timeoutSeconds: 180 })
}

/** A ServiceAccount of its own, with the files for one namespace as they are; only names are other ones. */
async function narrowGateway(context: StoryContext): Promise<Gateway> {
  const { cluster, namespace, gatewayNamespace, kubectl, dir } = context
  const account = namespace
  await kubectl('create', 'serviceaccount', account, '--namespace', SYSTEM)
  const ours = (text: string) =>
    text.replaceAll(/(kind: ServiceAccount\n\s+name: )swiss\n/g, `$1${account}\n`)
  const files: [string, string][] = [
    [namespace, ours(rbacText('swiss-namespace.yaml'))],
    [namespace, ours(rbacText('helm-namespace.yaml'))],
    [gatewayNamespace, ours(rbacText('gateway.yaml'))],
  ]
  for (const [index, [target, text]] of files.entries()) {
    const file = join(dir, `rbac-${index}.yaml`)
    writeFileSync(file, text)
    await kubectl('apply', '--namespace', target, '-f', file)
  }
  const kubeconfig = join(dir, 'narrow.kubeconfig')
  const bearer = await tokenOf(cluster, account, 3600)
  writeFileSync(kubeconfig, kubeconfigText(cluster.server, cluster.ca, bearer), { mode: 0o600 })
  return context.gateway({ kubeconfig, namespaces: [namespace] })
}

/** Definitions of the monitoring kinds, as far as a chart needs them. */
async function serveMonitoring({ cluster, kubectl, dir }: StoryContext): Promise<void> {
  const definitions = MONITORING.map((kind) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.toLowerCase()}s.monitoring.coreos.com` },
    spec: {
      group: 'monitoring.coreos.com',
      scope: 'Namespaced',
      names: { kind, plural: `${kind.toLowerCase()}s` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  }))
  const file = join(dir, 'monitoring.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: definitions }))
  await kubectl('apply', '-f', file)
  await until('the monitoring kinds are served', 60_000, async () => {
    for (const { spec } of definitions) {
      await cluster.kube.list(`/apis/${spec.group}/v1/namespaces/default/${spec.names.plural}`)
    }
    return true
  })
}

async function applies(gateway: Gateway, ref: Ref, input: Record<string, unknown>): Promise<void> {
  const { composePlan } = await gateway.ask<{ composePlan: ComposeAnswer }>(COMPOSE, { input })
  assert.equal(composePlan.__typename, 'ComposePlanPayload', JSON.stringify(composePlan))
  const { applyPlan } = await gateway.ask<{ applyPlan: ChangeAnswer }>(APPLY, {
    input: { ...ref, planHash: composePlan.plan?.hash },
  })
  assert.equal(applyPlan.__typename, 'ApplyPlanPayload', JSON.stringify(applyPlan))
}

/** Resources that have an object of the chart's generation. */
async function kindsOf({ kubectl, namespace }: StoryContext, generation: string): Promise<string[]> {
  const resources = rbacObjects('helm-namespace.yaml')
    .flatMap(({ rules = [] }) => rules)
    .flatMap(({ apiGroups, resources: names }) =>
      names.filter((n) => !READ_ONLY.includes(n)).map((n) => ({ group: apiGroups[0] ?? '', name: n })),
    )
  const found = new Set<string>()
  for (const { group, name } of resources) {
    const kind = group === '' ? name : `${name}.${group}`
    const selector = `generation=${generation}`
    const text = await kubectl('get', kind, '--namespace', namespace, '-l', selector, '-o', 'name')
    if (text.trim() !== '') found.add(name)
  }
  return [...found].sort()
}
