import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import { newMemory, nextStep, type Pace, type PodStep } from '../../../sandbox/kubelet/lifecycle.ts'
import { add, place, requestsOf } from '../../../sandbox/kubelet/scheduler.ts'
import { pod, readyNode } from './support.ts'

const pace: Pace = { startMs: 100, stopMs: 8_000, runMs: 3_000 }
const t0 = Date.parse('2031-01-01T00:00:00Z')

interface Shape {
  phase?: string
  ready?: boolean
  node?: string
  annotations?: Record<string, string>
  restartPolicy?: string
  /** Seconds. */
  grace?: number
  /** Seconds after the start at which it was asked to stop. */
  asked?: number
}

function shaped({
  phase = 'Running',
  ready = true,
  node = 'n',
  annotations = {},
  ...more
}: Shape): KubeObject {
  const { restartPolicy = 'Always', grace = 30, asked } = more
  const deletion =
    asked === undefined
      ? {}
      : {
          deletionTimestamp: new Date(t0 + (asked + grace) * 1000).toISOString(),
          deletionGracePeriodSeconds: grace,
        }
  const base = pod('p', { ...(node ? { node } : {}), metadata: { annotations, ...deletion } })
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }]
  return { ...base, spec: { ...(base.spec as object), restartPolicy }, status: { phase, conditions } }
}

/** The step at `seconds` for a pod nobody has seen before. */
const stepAt = (seconds: number, shape: Shape, nodeReady = true): PodStep =>
  nextStep(shaped(shape), nodeReady, newMemory(), t0 + seconds * 1000, pace)

describe('what the kubelet does next', () => {
  test.each<[string, number, Shape, PodStep]>([
    ['a pod without a node is scheduled', 0, { phase: 'Pending', node: '' }, { do: 'schedule' }],
    [
      'unless it says that it must stay Pending',
      0,
      { phase: 'Pending', node: '', annotations: { 'sandbox.swiss/stay-pending': 'on purpose' } },
      { do: 'nothing' },
    ],
    ['or is on its way out', 0, { phase: 'Pending', node: '', asked: 0 }, { do: 'nothing' }],
    ['a pod takes a moment to run', 0, { phase: 'Pending' }, { do: 'wait', ms: 100 }],
    ['and one to be ready', 0, { ready: false }, { do: 'wait', ms: 100 }],
    ['a ready pod is left alone', 100, {}, { do: 'nothing' }],
    ['one that does not restart ends by itself', 0, { restartPolicy: 'Never' }, { do: 'wait', ms: 3_000 }],
    [
      'after its own time',
      0,
      { restartPolicy: 'OnFailure', annotations: { 'sandbox.swiss/run-seconds': '0' } },
      { do: 'succeed' },
    ],
    ['what has ended stays', 9, { phase: 'Succeeded', restartPolicy: 'Never' }, { do: 'nothing' }],
    ['a stopping pod takes eight seconds', 2, { asked: 0 }, { do: 'wait', ms: 6_000 }],
    ['and then ends', 8, { asked: 0 }, { do: 'end' }],
    ['or its own time', 2, { asked: 0, annotations: { 'sandbox.swiss/stop-seconds': '2' } }, { do: 'end' }],
    ['but no longer than its grace', 5, { asked: 0, grace: 5 }, { do: 'end' }],
    [
      'a time that is none counts as absent',
      7,
      { asked: 0, annotations: { 'sandbox.swiss/stop-seconds': 'x' } },
      { do: 'wait', ms: 1_000 },
    ],
    ['one that has ended goes at once', 0, { asked: 0, phase: 'Failed' }, { do: 'end' }],
  ])('%s', (_what, seconds, shape, step) => {
    expect(stepAt(seconds, shape)).toEqual(step)
  })

  test('pods of a node that is not Ready are left alone, whatever is due', () => {
    const shapes: Shape[] = [
      { asked: 0 },
      { phase: 'Pending' },
      { ready: false },
      { asked: 0, phase: 'Failed' },
    ]
    for (const shape of shapes) expect(stepAt(1_000, shape, false)).toEqual({ do: 'nothing' })
  })

  test('a pod that was seen alive stops from the moment it was asked, to the millisecond', () => {
    const memory = newMemory()
    nextStep(shaped({}), true, memory, t0, pace)
    // Kubernetes cuts deletionTimestamp to whole seconds; the request came 900 ms into one.
    const asked = shaped({ asked: 0 })
    expect(nextStep(asked, true, memory, t0 + 900, pace)).toEqual({ do: 'wait', ms: 8_000 })
    expect(nextStep(asked, true, memory, t0 + 8_899, pace)).toEqual({ do: 'wait', ms: 1 })
    // A second DELETE with a shorter grace moves the end.
    expect(nextStep(shaped({ asked: 1, grace: 3 }), true, memory, t0 + 3_900, pace)).toEqual({ do: 'end' })
  })
})

describe('the scheduler', () => {
  const small = readyNode('small', 2)
  const big = readyNode('big', 8)
  const lost: KubeObject = {
    ...readyNode('lost', 8),
    status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
  }

  test('takes the node with the most GPUs left', () => {
    expect(place(pod('p', { gpus: 1 }), [small, big, lost], new Map())).toEqual({ node: 'big' })
    const used = new Map([['big', { 'nvidia.com/gpu': 7 }]])
    expect(place(pod('p', { gpus: 1 }), [small, big], used)).toEqual({ node: 'small' })
    expect(place(pod('p', { gpus: 1 }), [readyNode('b'), readyNode('a')], new Map())).toEqual({ node: 'a' })
  })

  test('says why none fits', () => {
    const cordoned = { ...readyNode('cordoned'), spec: { unschedulable: true } }
    const picky = pod('p', { gpus: 4 })
    picky.spec = { ...(picky.spec as object), nodeSelector: { kind: 'x' } }
    const labelled = { ...small, metadata: { name: 'labelled', labels: { kind: 'x' } } }
    expect(place(picky, [big, lost, cordoned, labelled], new Map())).toEqual({
      reason:
        "0/4 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable, 1 Insufficient nvidia.com/gpu, 1 node(s) were not ready.",
    })
    expect(place(pod('p'), [], new Map())).toEqual({ reason: '0/0 nodes are available.' })
  })

  test('adds up what containers ask for', () => {
    const two = pod('p', { gpus: 2 })
    const [container] = (two.spec as { containers: object[] }).containers
    two.spec = { containers: [container, container, { name: 'side', resources: { limits: { cpu: '1' } } }] }
    const sum = requestsOf(two)
    expect(sum).toEqual({ 'nvidia.com/gpu': 4 })
    add(sum, { 'nvidia.com/gpu': 1, 'rdma/hca': 1 })
    expect(sum).toEqual({ 'nvidia.com/gpu': 5, 'rdma/hca': 1 })
  })
})
