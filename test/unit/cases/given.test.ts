import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import { decodeRelease } from '../../../sandbox/helm/payload.ts'
import { objectsOf } from '../../cases/given.ts'
import { given } from '../../cases/givenFormat.ts'

const release = { namespace: 'team-a', name: 'chat' }
const objects = (text: object) => objectsOf(given.parse(text))
const dataOf = (object: KubeObject | undefined) => object?.data as Record<string, string>

describe('the shorthand of a cluster', () => {
  it('makes helm records that can be decoded, older ones superseded', () => {
    const made = objects({ helm: [{ ...release, revision: 3, status: 'failed', chart: 'vllm-0.4.0' }] })
    expect(made.map(({ metadata }) => [metadata.name, metadata.labels?.status])).toEqual([
      ['sh.helm.release.v1.chat.v1', 'superseded'],
      ['sh.helm.release.v1.chat.v2', 'superseded'],
      ['sh.helm.release.v1.chat.v3', 'failed'],
    ])
    expect(made[2]).toMatchObject({
      kind: 'Secret',
      type: 'helm.sh/release.v1',
      metadata: { namespace: 'team-a', labels: { owner: 'helm', name: 'chat', version: '3' } },
    })
    const payload = dataOf(made[2]).release ?? ''
    expect(decodeRelease(payload)).toMatchObject({
      name: 'chat',
      version: 3,
      info: { status: 'failed' },
      chart: { metadata: { name: 'vllm', version: '0.4.0' } },
    })
    const zipped = Buffer.from(Buffer.from(payload, 'base64').toString(), 'base64')
    expect(JSON.parse(gunzipSync(zipped).toString()).namespace).toBe('team-a')
  })

  it('keeps as many helm records as helm does', () => {
    const made = objects({ helm: [{ ...release, revision: 25, status: 'deployed', chart: 'vllm-0.4.0' }] })
    expect(made).toHaveLength(10)
    expect(made[0]?.metadata.name).toBe('sh.helm.release.v1.chat.v16')
  })

  it('makes a plan without layers and without the word uninstall', () => {
    const [plan] = objects({ plans: [{ ...release, phase: 'applied', revision: 3, chart: 'vllm-0.4.0' }] })
    const data = dataOf(plan)
    expect(plan?.metadata).toMatchObject({
      name: 'swiss-plan-chat',
      labels: { 'app.kubernetes.io/managed-by': 'swiss' },
    })
    expect(Object.keys(data)).toEqual(['plan.yaml', 'status.yaml'])
    expect(data['status.yaml']).toBe('phase: applied\nrevision: 3\n')
    expect(parse(data['plan.yaml'] ?? '')).toMatchObject({
      release,
      chart: { name: 'vllm', version: '0.4.0' },
    })
    expect(JSON.stringify(data)).not.toContain('uninstall')
  })

  it('leaves out a revision that is not given and keeps labels that are', () => {
    const labels = { 'swiss.modelsphere.dev/phase': 'uninstalling' }
    const [plan] = objects({ plans: [{ ...release, phase: 'uninstalling', chart: 'vllm-0.4.0', labels }] })
    expect(dataOf(plan)['status.yaml']).toBe('phase: uninstalling\n')
    expect(plan?.metadata.labels).toMatchObject(labels)
  })

  it('makes archives, policies, nodes and pods', () => {
    const [archive, policy, node, pod] = [
      ...objects({ archives: [{ ...release, revisions: [2] }] }),
      ...objects({ autoscale: [release] }),
      ...objects({ nodes: [{ name: 'n1', ready: false }] }),
      ...objects({ pods: [{ ...release, grace: 0, node: 'n1' }] }),
    ]
    expect(archive?.metadata).toMatchObject({
      name: 'swiss.plan.v1.chat.v2',
      labels: { owner: 'swiss', name: 'chat', version: '2', 'app.kubernetes.io/managed-by': 'swiss' },
    })
    const status = dataOf(archive)['status.yaml'] ?? ''
    expect(Buffer.from(status, 'base64').toString()).toBe('phase: applied\nrevision: 2\n')
    expect(parse(dataOf(policy)['policy.yaml'] ?? '')).toMatchObject({
      enabled: true,
      pools: [{ name: 'decode' }],
    })
    expect(node?.status).toEqual({ conditions: [{ type: 'Ready', status: 'False' }] })
    expect(pod).toMatchObject({
      spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0 },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    })
  })
})
