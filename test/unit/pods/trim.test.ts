import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../services/cluster/kinds.ts'
import { trimNode, trimPod } from '../../../services/pods/counting.ts'
import { podGpus } from '../../../services/pods/gpus.ts'

const raw = (parts: { metadata?: object; spec?: object; status?: object }): KubeObject => ({
  ...(parts.spec && { spec: parts.spec }),
  ...(parts.status && { status: parts.status }),
  metadata: {
    name: 'chat-0',
    namespace: 'team-a',
    uid: 'uid-1',
    resourceVersion: '1',
    labels: { 'app.kubernetes.io/instance': 'chat' },
    ...parts.metadata,
  },
})
const withGpus = (amount: unknown, name = 'nvidia.com/gpu', more: object = {}) => ({
  resources: { limits: { cpu: '4', memory: '1Gi', [name]: amount } },
  ...more,
})

describe('a pod', () => {
  test('is trimmed to its facts', () => {
    expect(
      trimPod(
        raw({
          metadata: {
            labels: { 'app.kubernetes.io/instance': 'chat', app: 'chat-vllm', other: 'x' },
            creationTimestamp: '2031-01-01T00:00:00Z',
            deletionTimestamp: '2031-01-01T01:00:00Z',
            deletionGracePeriodSeconds: 0,
            finalizers: ['example.test/hold'],
          },
          spec: {
            nodeName: 'n1',
            terminationGracePeriodSeconds: 600,
            containers: [withGpus('2'), withGpus(1, 'nvidia.com/mig-1g.5gb')],
            volumes: [{ persistentVolumeClaim: { claimName: 'models' } }, { emptyDir: {} }],
          },
          status: {
            phase: 'Running',
            message: 'The node was low on resource',
            conditions: [
              { type: 'PodScheduled', status: 'False' },
              { type: 'Ready', status: 'True' },
            ],
            containerStatuses: [{ restartCount: 2, state: { running: {} } }, { restartCount: 1 }],
          },
        }),
      ),
    ).toEqual({
      namespace: 'team-a',
      name: 'chat-0',
      uid: 'uid-1',
      phase: 'Running',
      ready: true,
      restarts: 3,
      node: 'n1',
      gpus: 3,
      message: 'The node was low on resource',
      createdAt: '2031-01-01T00:00:00Z',
      deletionTimestamp: '2031-01-01T01:00:00Z',
      deletionGracePeriodSeconds: 0,
      terminationGracePeriodSeconds: 600,
      mirror: false,
      finalizers: ['example.test/hold'],
      instance: 'chat',
      app: 'chat-vllm',
      claims: ['models'],
    })
  })

  test('without status, spec and node has none of them', () => {
    expect(trimPod(raw({}))).toMatchObject({
      phase: null,
      ready: false,
      restarts: 0,
      node: null,
      gpus: 0,
      message: null,
      claims: [],
    })
    // Evicted: hardly any status; and how typed bookmarks and old servers spell nothing.
    expect(
      trimPod(
        raw({
          spec: { containers: null, volumes: null, nodeName: '' },
          status: { phase: 'Failed', conditions: null, containerStatuses: null },
        }),
      ),
    ).toMatchObject({
      phase: 'Failed',
      node: null,
      ready: false,
    })
  })

  test('with neither label is nobody’s', () => {
    expect(trimPod(raw({ metadata: { labels: { 'app.kubernetes.io/name': 'chat' } } }))).toBeNull()
    expect(trimPod(raw({ metadata: { labels: undefined } }))).toBeNull()
    expect(trimPod(raw({ metadata: { labels: { app: 'chat-vllm' } } }))).toMatchObject({
      instance: null,
      app: 'chat-vllm',
    })
  })

  test('says why a container does not start', () => {
    const waiting = (reason: string) => ({ state: { waiting: { reason } } })
    const message = (status: object) => trimPod(raw({ status }))?.message
    expect(message({ containerStatuses: [waiting('ContainerCreating')] })).toBeNull()
    expect(message({ containerStatuses: [{ state: {} }, waiting('CrashLoopBackOff')] })).toBe(
      'CrashLoopBackOff',
    )
    expect(
      message({
        initContainerStatuses: [waiting('ImagePullBackOff')],
        containerStatuses: [waiting('PodInitializing')],
      }),
    ).toBe('ImagePullBackOff')
  })

  test('that mirrors a static pod is known by its annotation', () => {
    expect(trimPod(raw({ metadata: { annotations: { 'kubernetes.io/config.mirror': '' } } }))?.mirror).toBe(
      true,
    )
  })
})

describe('GPUs', () => {
  test('are those of all containers, of every vendor', () => {
    expect(
      podGpus([withGpus('2'), withGpus(1, 'amd.com/gpu'), withGpus('3', 'nvidia.com/mig-2g.10gb'), {}], []),
    ).toBe(6)
    expect(podGpus([withGpus('2', 'nvidia.com/gpu-memory'), withGpus('x')], [])).toBe(0)
  })

  test('of init containers count by the largest, beside the sidecars that run with them', () => {
    expect(podGpus([withGpus(2)], [withGpus(4), withGpus(1)])).toBe(4)
    expect(podGpus([withGpus(8)], [withGpus(4)])).toBe(8)
    const sidecar = withGpus(1, 'nvidia.com/gpu', { restartPolicy: 'Always' })
    expect(podGpus([withGpus(2)], [sidecar])).toBe(3)
    expect(podGpus([withGpus(1)], [sidecar, withGpus(4)])).toBe(5)
    expect(podGpus([withGpus(1)], [withGpus(4), sidecar])).toBe(4)
    expect(podGpus([withGpus(2)], [withGpus(1, 'amd.com/gpu')])).toBe(3)
  })
})

test('a node is ready only when its Ready condition is True', () => {
  const node = (conditions: object[] | undefined) =>
    trimNode({ metadata: { name: 'n1', uid: 'u', resourceVersion: '1' }, status: { conditions } })
  expect(
    node([
      { type: 'MemoryPressure', status: 'True' },
      { type: 'Ready', status: 'True' },
    ]),
  ).toEqual({ name: 'n1', ready: true })
  expect(node([{ type: 'Ready', status: 'False' }]).ready).toBe(false)
  expect(node([{ type: 'Ready', status: 'Unknown' }]).ready).toBe(false)
  expect(node([]).ready).toBe(false)
  expect(node(undefined).ready).toBe(false)
})

test('the life of a pod as a real API server told it', () => {
  const path = new URL('./fixtures/pod-events.json', import.meta.url)
  const events = JSON.parse(readFileSync(path, 'utf8')) as { type: string; object: KubeObject }[]
  const facts = events.map(({ object }) => trimPod(object))
  expect(
    facts.map((pod) => [
      pod?.phase,
      pod?.node,
      pod?.ready,
      pod?.deletionTimestamp,
      pod?.deletionGracePeriodSeconds,
    ]),
  ).toEqual([
    ['Pending', null, false, null, null],
    ['Pending', 'n1', false, null, null],
    ['Running', 'n1', true, null, null],
    ['Running', 'n1', true, '2026-11-30T18:37:03Z', 30],
    // The kubelet's last word moves the deletion back and takes the grace away.
    ['Running', 'n1', true, '2026-11-30T18:36:41Z', 0],
    ['Running', 'n1', true, '2026-11-30T18:36:41Z', 0],
  ])
  expect(facts[0]).toMatchObject({ instance: 'chat', app: null, terminationGracePeriodSeconds: 30, gpus: 0 })
})
