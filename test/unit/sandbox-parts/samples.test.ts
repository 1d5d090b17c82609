import { describe, expect, test } from 'vitest'
import { parse, parseDocument } from 'yaml'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import { manifestHeads } from '../../../sandbox/helm/manifest.ts'
import { decodeRelease } from '../../../sandbox/helm/payload.ts'
import { seedFleet } from '../../../sandbox/samples/fleet.ts'
import { sampleObjects } from '../../../sandbox/samples/samples.ts'

const now = Date.parse('2031-01-01T00:00:00Z')
const objects = sampleObjects(now)
const ofKind = (kind: string, among = objects) => among.filter((object) => object.kind === kind)
const dataOf = (object: KubeObject | undefined) => (object?.data ?? {}) as Record<string, string>
const plans = (among = objects) =>
  ofKind('ConfigMap', among).filter((it) => it.metadata.name.startsWith('swiss-plan-'))
const planOf = (name: string) => plans().find((it) => it.metadata.name === `swiss-plan-${name}`)
const records = (among = objects) => ofKind('Secret', among).filter((it) => it.type === 'helm.sh/release.v1')
const releaseOf = (secret: KubeObject) => decodeRelease(dataOf(secret).release ?? '')
const podsOf = (name: string) =>
  ofKind('Pod').filter((it) => it.metadata.labels?.['app.kubernetes.io/instance'] === name)
const nodeOf = (pod: KubeObject) => (pod.spec as { nodeName?: string }).nodeName

describe('every plan', () => {
  test.each(plans().filter((it) => it.metadata.name !== 'swiss-plan-translate'))('$metadata.name', (plan) => {
    const { namespace, labels } = plan.metadata
    const name = plan.metadata.name.slice('swiss-plan-'.length)
    expect(labels?.['app.kubernetes.io/managed-by']).toBe('swiss')
    expect(Object.keys(dataOf(plan))).toEqual([
      'plan.yaml',
      'catalog.yaml',
      'site.yaml',
      'form.yaml',
      'status.yaml',
    ])
    for (const text of Object.values(dataOf(plan))) {
      // The tools that read it may follow either version of YAML.
      expect(parse(text, { version: '1.1' })).toEqual(parse(text, { version: '1.2' }))
    }
    const document = parse(dataOf(plan)['plan.yaml'] ?? '')
    expect(document).toMatchObject({
      apiVersion: 'plan.swiss/v1',
      release: { name, namespace },
      source: { catalogName: 'model-catalog', digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
      chart: { name: document.engine, version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const status = parse(dataOf(plan)['status.yaml'] ?? '')
    expect(status.phase).toMatch(/^(applied|failed|uninstalling)$/)
    expect(Date.parse(status.updatedAt)).toBeLessThanOrEqual(now)
  })
})

describe('every helm record', () => {
  test.each(records())('$metadata.namespace $metadata.name', (secret) => {
    const release = releaseOf(secret)
    const { namespace, name, labels } = secret.metadata
    expect(name).toBe(`sh.helm.release.v1.${release.name}.v${release.version}`)
    expect(labels).toEqual({
      modifiedAt: expect.stringMatching(/^\d{10}$/),
      name: release.name,
      owner: 'helm',
      status: release.info.status,
      version: String(release.version),
    })
    expect(release.namespace).toBe(namespace)
    const heads = manifestHeads(release.manifest).flat()
    expect(heads.map((head) => head.kind)).toContain('Deployment')
    for (const head of heads) {
      const live = ofKind(head.kind).find(
        (it) => it.metadata.name === head.name && it.metadata.namespace === namespace,
      )
      expect(live?.metadata.labels?.['app.kubernetes.io/managed-by']).toBe('Helm')
      expect(live?.metadata.annotations).toMatchObject({
        'meta.helm.sh/release-name': release.name,
        'meta.helm.sh/release-namespace': namespace,
      })
    }
  })
})

describe('what there is to see', () => {
  test('chat: applied, archived, three pods with a GPU each that leave one after the other', () => {
    expect(parse(dataOf(planOf('chat'))['status.yaml'] ?? '')).toMatchObject({
      phase: 'applied',
      revision: 3,
    })
    const archives = ofKind('Secret').filter(
      (it) => it.metadata.labels?.owner === 'swiss' && it.metadata.labels.name === 'chat',
    )
    expect(archives.map((it) => it.metadata.name)).toEqual(['swiss.plan.v1.chat.v1', 'swiss.plan.v1.chat.v2'])
    for (const { metadata, data } of archives) {
      const { 'status.yaml': status = '' } = data as Record<string, string>
      expect(parse(Buffer.from(status, 'base64').toString())).toMatchObject({
        phase: 'applied',
        revision: Number(metadata.labels?.version),
      })
    }
    expect(podsOf('chat').map((it) => it.metadata.annotations?.['sandbox.swiss/stop-seconds'])).toEqual([
      '5',
      '9',
      '13',
    ])
    for (const pod of podsOf('chat')) {
      const { containers } = pod.spec as { containers: { resources: { limits: object } }[] }
      expect(containers[0]?.resources.limits).toEqual({ 'nvidia.com/gpu': '1' })
      expect(pod.metadata.labels?.app).toBe('chat-sglang')
    }
  })

  test('legacy-chat: being uninstalled, held by one pod on the lost node for another twenty minutes', () => {
    const plan = planOf('legacy-chat')
    expect(plan?.metadata.labels?.['swiss.modelsphere.dev/phase']).toBe('uninstalling')
    expect(parse(dataOf(plan)['status.yaml'] ?? '')).toMatchObject({
      phase: 'uninstalling',
      action: 'uninstall',
      previous: { phase: 'applied', action: 'apply', revision: 4 },
    })
    expect(records().some((it) => it.metadata.labels?.name === 'legacy-chat')).toBe(false)
    const [pod, ...others] = podsOf('legacy-chat')
    expect(others).toEqual([])
    expect(pod && nodeOf(pod)).toBe('gpu-lost')
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod?.metadata ?? {}
    expect(deletionGracePeriodSeconds).toBe(600)
    expect(Date.parse(deletionTimestamp ?? '') + 600_000 - now).toBeGreaterThan(15 * 60_000)
    const lost = ofKind('Node').find((it) => it.metadata.name === 'gpu-lost')
    expect(lost?.status).toMatchObject({ conditions: [{ type: 'Ready', status: 'Unknown' }] })
  })

  test('summarize failed, rerank will, translate cannot be read, gpu-exporter is not tracked', () => {
    expect(parse(dataOf(planOf('summarize'))['status.yaml'] ?? '')).toMatchObject({
      phase: 'failed',
      action: 'apply',
      error: expect.stringContaining('UPGRADE FAILED'),
    })
    const statuses = records().filter((it) => it.metadata.labels?.name === 'summarize')
    expect(statuses.map((it) => it.metadata.labels?.status)).toEqual(['deployed', 'failed'])
    const rerank = records()
      .filter((it) => it.metadata.labels?.name === 'rerank')
      .map(releaseOf)
    expect(rerank.at(-1)?.hooks?.[0]).toMatchObject({ events: ['pre-delete'], kind: 'Job' })
    expect(parseDocument(dataOf(planOf('translate'))['plan.yaml'] ?? '').errors).not.toEqual([])
    expect(planOf('gpu-exporter')).toBeUndefined()
    expect(records().some((it) => it.metadata.labels?.name === 'gpu-exporter')).toBe(true)
  })

  test('docs-search: pods on two nodes, one that has finished, and an autoscaler', () => {
    expect(new Set(podsOf('docs-search').map(nodeOf))).toEqual(new Set(['gpu-1', 'gpu-2']))
    expect(podsOf('docs-search').map((it) => (it.status as { phase: string }).phase)).toContain('Succeeded')
    const autoscale = ofKind('ConfigMap').filter((it) => it.metadata.name.startsWith('swiss-autoscale-'))
    expect(autoscale.map((it) => it.metadata.name)).toEqual(['swiss-autoscale-docs-search'])
    expect(parse(dataOf(autoscale[0])['policy.yaml'] ?? '')).toMatchObject({
      enabled: false,
      pools: [{ name: 'prefill' }, { name: 'decode' }],
      cooldown: { up: '60s', down: '300s' },
    })
  })

  test('LLMServices standalone, referenced and owned', () => {
    const services = new Map(ofKind('LLMService').map((it) => [it.metadata.name, it]))
    expect(services.get('code-review')?.metadata).not.toHaveProperty('ownerReferences')
    const assignment =
      services.get('assistant')?.metadata.annotations?.['serving.modelsphere.dev/canary-assignment']
    const parent = JSON.parse(assignment ?? '')
    expect(parent).toMatchObject({ namespace: 'team-b', name: 'assistant-rollout', role: 'baseline' })
    expect(services.get('assistant-canary')?.metadata).toMatchObject({
      labels: {
        'serving.modelsphere.dev/canary': parent.name,
        'serving.modelsphere.dev/canary-namespace': 'team-b',
      },
      ownerReferences: [{ kind: 'LLMCanary', name: parent.name, uid: parent.uid }],
    })
    for (const [name, { spec, status, metadata }] of services) {
      expect(status).toMatchObject({ phase: 'Applied', helm: { status: 'deployed' } })
      expect(metadata.annotations?.['swiss.modelsphere.dev/plan-hash']).toBe(
        (status as { appliedHash: string }).appliedHash,
      )
      expect((spec as { layers: { name: string }[] }).layers.map((it) => it.name)).toEqual([
        'catalog',
        'site',
        'form',
      ])
      const { history } = status as { history: { revision: number; controllerRevision: string }[] }
      for (const { controllerRevision } of history) {
        const snapshot = ofKind('ControllerRevision').find((it) => it.metadata.name === controllerRevision)
        expect(snapshot?.metadata.labels?.['serving.modelsphere.dev/llmservice']).toBe(name)
      }
      // The canary runs in two pools.
      expect(podsOf(name)).toHaveLength(name === 'assistant-canary' ? 2 : 1)
    }
  })

  test('no node has given away more GPUs than it has', () => {
    for (const node of ofKind('Node')) {
      const held = ofKind('Pod')
        .filter((pod) => nodeOf(pod) === node.metadata.name)
        .flatMap(
          (pod) =>
            (pod.spec as { containers: { resources?: { limits?: Record<string, string> } }[] }).containers,
        )
        .reduce((sum, container) => sum + Number(container.resources?.limits?.['nvidia.com/gpu'] ?? 0), 0)
      const { allocatable } = node.status as { allocatable: Record<string, string> }
      expect(held).toBeLessThanOrEqual(Number(allocatable['nvidia.com/gpu']))
    }
  })

  test('nothing lies in the future, and no two objects have one name', () => {
    for (const { metadata } of objects) {
      if (metadata.creationTimestamp) expect(Date.parse(metadata.creationTimestamp)).toBeLessThanOrEqual(now)
    }
    const keys = objects.map((it) => `${it.kind} ${it.metadata.namespace} ${it.metadata.name}`)
    expect(new Set(keys).size).toBe(keys.length)
  })
})

test('a fleet has as many releases as asked for, each with a plan of its own, a record and two pods', () => {
  const made: KubeObject[] = []
  const store = { create: (object: KubeObject) => made[made.push(object) - 1] } as Parameters<
    typeof seedFleet
  >[0]
  seedFleet(store, now, 501)
  expect(plans(made)).toHaveLength(501)
  expect(ofKind('Pod', made)).toHaveLength(1002)
  expect(ofKind('Namespace', made).map((it) => it.metadata.name)).toEqual(['fleet-1', 'fleet-2'])
  expect(ofKind('Node', made)).toHaveLength(126)
  const texts = JSON.stringify(made)
  expect(texts).not.toMatch(/fleet-0"|model-00000|2000-01-01/)
  for (const index of [0, 24, 500]) {
    const name = `model-${String(index + 1).padStart(5, '0')}`
    const [plan, secret] = [plans(made)[index], records(made)[index]]
    const status = parse(dataOf(plan)['status.yaml'] ?? '')
    expect(parse(dataOf(plan)['plan.yaml'] ?? '').release).toEqual({
      name,
      namespace: plan?.metadata.namespace,
    })
    expect(status).toMatchObject({ phase: index === 24 ? 'failed' : 'applied', revision: 1 })
    expect(Date.parse(status.updatedAt) - Date.parse(status.startedAt)).toBe(40_000)
    expect(secret && releaseOf(secret)).toMatchObject({
      name,
      info: { status: index === 24 ? 'failed' : 'deployed' },
    })
  }
})
