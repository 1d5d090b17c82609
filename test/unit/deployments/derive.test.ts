import { describe, expect, test } from 'vitest'
import { derive } from '../../../services/deployments/derive.ts'
import { readTime } from '../../../services/deployments/time.ts'
import { helmRecord, inputs, markBeside, markedPlan, NOW, plan, pod, service } from './objects.ts'

const helm = [helmRecord()]

describe('the phase of a helm release', () => {
  test.each([
    ['phase: applying\n', 'APPLYING', null],
    ['phase: applied\nrevision: 3\n', 'APPLIED', null],
    ['phase: failed\nerror: timed out\n', 'FAILED', 'timed out'],
    ['phase: failed\n', 'FAILED', 'the last operation failed and left no error'],
    ['phase: uninstalling\n', 'UNINSTALLING', null],
    [null, 'UNKNOWN', 'swiss-plan-chat has no status.yaml'],
    ['phase: sideways\n', 'UNKNOWN', 'status.yaml of swiss-plan-chat names no phase that is known'],
  ])('from status %j is %s', (status, phase, phaseReason) => {
    expect(derive(inputs({ plan: plan(status), helm }), NOW)).toMatchObject({ phase, phaseReason })
  })

  test('is UNINSTALLING by the label alone, whatever the status says and however broken the plan is', () => {
    const labels = { 'swiss.modelsphere.dev/phase': 'uninstalling' }
    for (const status of ['phase: applied\n', 'a: b: c\n', null]) {
      const broken = plan(status, { plan: 'a: b: c\n', labels })
      expect(derive(inputs({ plan: broken, helm }), NOW)?.phase).toBe('UNINSTALLING')
    }
  })

  test('is UNKNOWN with a reason that does not quote a plan that cannot be read', () => {
    const row = derive(inputs({ plan: plan('phase: applied\n', { plan: 'token: s3cret: x\n' }), helm }), NOW)
    expect(row).toMatchObject({ phase: 'UNKNOWN', drift: { kind: 'UNREADABLE' }, chart: null })
    expect(row?.phaseReason).toContain('swiss-plan-chat')
    expect(JSON.stringify(row)).not.toContain('s3cret')
  })

  test('is UNINSTALLING by a mark beside a plan that cannot carry it', () => {
    const row = derive(inputs({ plan: plan('phase: applied\n'), mark: markBeside(), helm }), NOW)
    expect(row).toMatchObject({
      phase: 'UNINSTALLING',
      deletion: { requestedBy: 'user-a', note: 'not needed' },
    })
  })
})

describe('a release that is being uninstalled', () => {
  const deleting = { deletionTimestamp: '2031-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 }

  test.each([
    ['MARKED', { helm }, 'HELM'],
    [
      'HELM_UNINSTALL',
      { helm, lock: { namespace: 'team-a', release: 'chat', holder: 'x', expiresAt: NOW } },
      'HELM',
    ],
    ['PODS_TERMINATING', { pods: [pod('chat-0', deleting)] }, 'POD'],
    ['CLEANUP', {}, undefined],
  ] as const)('is at the stage %s', (stage, more, blocker) => {
    const row = derive(inputs({ plan: markedPlan(), ...more }), NOW)
    expect(row?.deletion?.stage).toBe(stage)
    expect(row?.drift).toEqual({ kind: 'UNINSTALL_IN_PROGRESS', message: `uninstall in progress: ${stage}` })
    expect(row?.deletion?.blockers[0]?.kind).toBe(blocker)
  })

  test('counts pods and GPUs for the moment of the read', () => {
    const pods = [pod('chat-0', deleting), pod('chat-1', {}, { status: { phase: 'Succeeded' } })]
    const given = inputs({ plan: markedPlan(), pods, nodeState: () => 'MISSING' })
    expect(derive(given, NOW)?.pods).toEqual({ total: 2, ready: 2, terminating: 1, counting: 1, gpus: 2 })
    const later = derive(given, NOW + 61_000)
    expect(later?.pods).toMatchObject({ total: 2, counting: 0, gpus: 0 })
    expect(later?.deletion).toMatchObject({
      podsRemaining: 0,
      pods: [
        { name: 'chat-0', counts: false, reason: 'NODE_LOST', ignoredAt: '2031-01-01T00:01:00.000Z' },
        { name: 'chat-1', counts: false, reason: 'FINISHED' },
      ],
      leftBehind: [
        { kind: 'Pod', name: 'chat-0' },
        { kind: 'Pod', name: 'chat-1' },
      ],
    })
  })

  test('names the finalizers that hold its pods', () => {
    const held = pod('chat-0', { ...deleting, finalizers: ['example.test/hold'] })
    const row = derive(inputs({ plan: markedPlan(), pods: [held] }), NOW)
    expect(row?.deletion?.blockers.map(({ kind, name }) => [kind, name])).toEqual([
      ['POD', 'chat-0'],
      ['FINALIZER', 'example.test/hold'],
    ])
  })

  test('keeps its row when somebody has deleted its plan and the mark in its stead is all there is', () => {
    const row = derive(inputs({ mark: markBeside(), pods: [pod('chat-0')] }), NOW)
    expect(row).toMatchObject({
      uid: 'plan-1',
      phase: 'UNINSTALLING',
      backend: 'HELM',
      pods: { counting: 1 },
    })
  })

  test('has no row when it never had a plan', () => {
    expect(derive(inputs({ mark: markBeside({ planUid: null }), helm }), NOW)).toBeNull()
  })
})

test.each([
  ['LAST_UNINSTALL_FAILED', 'phase: failed\naction: uninstall\nerror: hook\n', helm],
  ['LAST_APPLY_FAILED', 'phase: failed\naction: apply\n', helm],
  ['LAST_APPLY_FAILED', 'phase: failed\naction: apply\n', []],
  ['APPLY_UNFINISHED', 'phase: applying\n', helm],
  // Begun a moment ago: the watch of the Leases has not told yet who holds its lock.
  [undefined, 'phase: applying\nstartedAt: 2030-12-31T23:59:59Z\n', helm],
  [undefined, 'phase: applying\nstartedAt: 2030-12-31T23:59:59Z\n', []],
  ['APPLY_UNFINISHED', 'phase: applying\nstartedAt: 2030-12-31T23:59:00Z\n', []],
  ['PLAN_WITHOUT_RELEASE', 'phase: applied\n', []],
  ['PLAN_WITHOUT_RELEASE', 'phase: applied\n', [helmRecord('uninstalled')]],
  [undefined, 'phase: applied\n', helm],
])('the drift %s of status %j', (kind, status, records) => {
  expect(derive(inputs({ plan: plan(status), helm: records }), NOW)?.drift?.kind).toBe(kind)
})

test('a revision is the newest record, else the one in the status, and never 0', () => {
  const revisionOf = (status: string, records = helm) =>
    derive(inputs({ plan: plan(status), helm: records }), NOW)?.revision
  expect(
    revisionOf('phase: applied\nrevision: 2\n', [helmRecord('superseded', 4), helmRecord('deployed', 5)]),
  ).toBe(5)
  expect(revisionOf('phase: applied\nrevision: 2\n', [])).toBe(2)
  expect(revisionOf('phase: applied\nrevision: 0\n', [])).toBeNull()
})

describe('an LLMService', () => {
  test.each([
    [{}, {}, 'APPLYING'],
    [{ phase: 'Pending' }, {}, 'APPLYING'],
    [{ phase: 'Applying' }, {}, 'APPLYING'],
    [{ phase: 'Applied' }, {}, 'APPLIED'],
    [{ phase: 'Failed' }, {}, 'FAILED'],
    [{ phase: 'Deleting' }, {}, 'UNINSTALLING'],
    [{ phase: 'Applied' }, { deletionTimestamp: '2031-01-01T00:00:00Z' }, 'UNINSTALLING'],
    [{ phase: 'Dreaming' }, {}, 'UNKNOWN'],
  ])('with status %j and metadata %j is %s', (status, metadata, phase) => {
    expect(derive(inputs({ llmService: service(status, metadata) }), NOW)).toMatchObject({
      backend: 'LLMSERVICE',
      uid: 'uid-1',
      phase,
    })
  })

  test('wins over a plan, which is then a clean-up that is owed', () => {
    const row = derive(
      inputs({ llmService: service({ phase: 'Applied' }), plan: plan('phase: applied\n') }),
      NOW,
    )
    expect(row).toMatchObject({
      backend: 'LLMSERVICE',
      cleanupPending: true,
      drift: { kind: 'CLEANUP_UNFINISHED' },
    })
  })

  test('is external without any annotation of ours, and shows its canary relationship', () => {
    const row = (annotations: object) =>
      derive(inputs({ llmService: service({ phase: 'Applied' }, { annotations }) }), NOW)
    expect(row({})).toMatchObject({ external: true, canary: { state: 'STANDALONE' } })
    expect(row({ 'swiss.modelsphere.dev/plan-hash': 'x' })?.external).toBe(false)
  })

  test('passes what its operator says through, and a time that is none is null', () => {
    const deletion = {
      stage: 'RouteSettling',
      podsRemaining: 2,
      startedAt: 'yesterday',
      pods: [{ name: 'chat-0' }],
    }
    const row = derive(
      inputs({ llmService: service({ phase: 'Deleting', deletion }, { finalizers: ['x/y'] }) }),
      NOW,
    )
    expect(row?.deletion).toMatchObject({
      stage: 'RouteSettling',
      podsRemaining: 2,
      startedAt: null,
      outcome: null,
      pods: [{ name: 'chat-0', counts: null, reason: null }],
      blockers: [{ kind: 'FINALIZER', name: 'x/y' }],
    })
  })

  test('that has left keeps its row until its clean-up is done', () => {
    const mark = markBeside({ backend: 'LLMSERVICE', llmServiceUid: 'uid-1', planUid: null })
    expect(derive(inputs({ mark }), NOW)).toMatchObject({
      backend: 'LLMSERVICE',
      uid: 'uid-1',
      phase: 'UNINSTALLING',
      deletion: { stage: 'CLEANUP', requestedBy: 'user-a' },
    })
  })
})

test('times of other tools are shown in one form', () => {
  expect(readTime('2031-01-01T02:00:00+02:00')).toBe('2031-01-01T00:00:00.000Z')
  expect([readTime('soon'), readTime(''), readTime(null), readTime(undefined)]).toEqual([
    null,
    null,
    null,
    null,
  ])
})
