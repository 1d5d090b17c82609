import { describe, expect, test } from 'vitest'
import { keptByHelm } from '../../../services/releases/keptByHelm.ts'
import { failedPrecondition } from '../../../services/releases/preconditions.ts'
import { newRun, runOf } from '../../../services/releases/runs.ts'
import { standing } from '../../../services/releases/standing.ts'
import { OpenUninstall } from '../../../services/releases/tracker.ts'
import { chat, markBeside, markedPlan, NOW, plan, service } from '../deployments/objects.ts'

describe('how an uninstall stands by what was just read', () => {
  const unmarked = plan('phase: applied\n')
  const another = { ...unmarked, uid: 'plan-2' }
  test.each([
    ['the mark on the plan', { plan: markedPlan(), mark: null }, 'plan-1', 'MARKED'],
    [
      'the mark beside a plan that cannot carry it',
      { plan: unmarked, mark: markBeside() },
      'plan-1',
      'MARKED',
    ],
    [
      'the mark of a release without a plan',
      { plan: null, mark: markBeside({ planUid: null }) },
      null,
      'MARKED',
    ],
    ['a plan that somebody deleted', { plan: null, mark: null }, 'plan-1', 'BARE'],
    ['a mark that somebody took away', { plan: unmarked, mark: null }, 'plan-1', 'UNMARKED'],
    ['a plan that was made anew', { plan: another, mark: null }, 'plan-1', 'REPLACED'],
    [
      'a plan that was made anew beside the mark',
      { plan: another, mark: markBeside() },
      'plan-1',
      'REPLACED',
    ],
    [
      'a first plan of a release that had none',
      { plan: unmarked, mark: markBeside({ planUid: null }) },
      null,
      'REPLACED',
    ],
  ] as const)('%s', (_, live, planUid, expected) => {
    expect(standing(live, planUid)).toBe(expected)
  })
})

describe('preconditions', () => {
  const current = { revision: 3, uid: 'plan-1' }
  test.each([
    [{ expectedRevision: null, expectedUid: null }, null],
    [{ expectedRevision: 3, expectedUid: 'plan-1' }, null],
    [{ expectedRevision: 2, expectedUid: null }, 'its revision is 3, not 2'],
    [{ expectedRevision: null, expectedUid: 'plan-0' }, 'its uid is plan-1, not plan-0'],
  ])('%j', (expected, message) => {
    const refusal = failedPrecondition(expected, current)
    if (message === null) expect(refusal).toBeNull()
    else {
      expect(refusal).toMatchObject({ kind: 'PreconditionFailed', currentRevision: 3, currentUid: 'plan-1' })
      expect(refusal?.message).toContain(message)
    }
  })

  test('a release without a revision has none to compare with', () => {
    const refusal = failedPrecondition(
      { expectedRevision: 1, expectedUid: 'x' },
      { revision: null, uid: null },
    )
    expect(refusal?.message).toContain('its revision is none, not 1, and its uid is none, not x')
  })
})

test('what helm keeps is read from what it prints', () => {
  const stdout = [
    'These resources were kept due to the resource policy:',
    '[PersistentVolumeClaim] chat-cache',
    '[Secret] chat-token',
    '',
    'release "chat" uninstalled',
  ].join('\n')
  expect(keptByHelm(stdout).map(({ kind, name }) => `${kind}/${name}`)).toEqual([
    'PersistentVolumeClaim/chat-cache',
    'Secret/chat-token',
  ])
  expect(keptByHelm('release "chat" uninstalled\n')).toEqual([])
})

test('B013 what helm keeps is read behind its warnings, and a cut or empty output is nothing kept', () => {
  const kept = 'These resources were kept due to the resource policy:\n[Secret] chat-token\n'
  expect(keptByHelm(`WARNING: Kubernetes configuration file is group-readable\n${kept}`)).toHaveLength(1)
  expect(keptByHelm(kept.slice(0, kept.indexOf('] ')))).toEqual([])
  expect(keptByHelm('')).toEqual([])
})

describe('the run of an uninstall', () => {
  const at = '2031-01-01T00:00:05.000Z'

  test('is the one that the mark keeps', () => {
    const open = new OpenUninstall(chat)
    open.plan = markedPlan()
    expect(runOf(open, at)).toMatchObject({
      id: 'run-1',
      actor: 'user-a',
      note: 'not needed',
      objectUid: 'plan-1',
    })
  })

  test('has no actor, and the same id in every gateway, where nobody asked Swiss', () => {
    const run = () => {
      const open = new OpenUninstall(chat)
      open.service = service({ helm: { revision: 4 } }, { deletionTimestamp: '2031-01-01T00:00:00Z' })
      return runOf(open, at)
    }
    expect(run()).toMatchObject({
      id: 'unasked-uid-1',
      backend: 'LLMSERVICE',
      actor: null,
      revision: 4,
      startedAt: '2031-01-01T00:00:00Z',
      objectUid: 'uid-1',
    })
    expect(run()).toEqual(run())
  })

  test('of an LLMService names its object', () => {
    const made = newRun({
      id: 'r',
      ref: chat,
      actor: { name: 'user-a', groups: [] },
      note: null,
      now: NOW,
      plan: null,
      revision: 4,
      llmServiceUid: 'uid-1',
    })
    expect(made).toMatchObject({ backend: 'LLMSERVICE', llmServiceUid: 'uid-1', planUid: null, attempts: 0 })
  })
})

test('what blocks an uninstall is news once, and keeps the moment it began', () => {
  const open = new OpenUninstall(chat)
  expect(open.block('LOOKUP_FAILED', 'pods', '503', 'then')).toBe(true)
  expect(open.block('LOOKUP_FAILED', 'pods', '503', 'later')).toBe(false)
  expect(open.block('LOOKUP_FAILED', 'pods', '504', 'later')).toBe(true)
  expect(open.progress.blockers).toEqual([
    { kind: 'LOOKUP_FAILED', name: 'pods', message: '504', since: 'then' },
  ])
  expect([open.unblock('LOOKUP_FAILED'), open.unblock('LOOKUP_FAILED'), open.blocked]).toEqual([
    true,
    false,
    false,
  ])
})
