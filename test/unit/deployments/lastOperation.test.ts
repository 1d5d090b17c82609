import { describe, expect, test } from 'vitest'
import { derive } from '../../../services/deployments/derive.ts'
import { helmRecord, inputs, markBeside, markedPlan, NOW, plan, service } from './objects.ts'

const ACTION = 'swiss.modelsphere.dev/action'
const of = (more: Parameters<typeof inputs>[0]) =>
  derive(inputs({ helm: [helmRecord()], ...more }), NOW)?.lastOperation
const uninstalling = {
  action: 'UNINSTALL',
  outcome: 'STARTED',
  error: null,
  at: '2031-01-01T00:00:00.000Z',
  actor: 'user-a',
}

describe('the last operation on a helm release', () => {
  test.each([
    [
      'phase: applied\naction: install\nupdatedAt: 2030-12-31T10:00:00Z\nactor: ada\n',
      'INSTALL',
      'SUCCEEDED',
    ],
    ['phase: applying\naction: apply\nupdatedAt: 2030-12-31T10:00:00Z\nactor: ada\n', 'APPLY', 'STARTED'],
    [
      'phase: applied\naction: rollback\nupdatedAt: 2030-12-31T10:00:00Z\nactor: ada\n',
      'ROLLBACK',
      'SUCCEEDED',
    ],
    [
      'phase: applied\naction: autoscale\nupdatedAt: 2030-12-31T10:00:00Z\nactor: ada\n',
      'AUTOSCALE',
      'SUCCEEDED',
    ],
  ])('of status %j is %s, %s', (status, action, outcome) => {
    const at = '2030-12-31T10:00:00.000Z'
    expect(of({ plan: plan(status) })).toEqual({ action, outcome, error: null, at, actor: 'ada' })
  })

  test('has the error of one that failed, and not that of one before it', () => {
    const failed = 'phase: failed\naction: uninstall\nerror: timed out\n'
    expect(of({ plan: plan(failed) })).toEqual({
      action: 'UNINSTALL',
      outcome: 'FAILED',
      error: 'timed out',
      at: null,
      actor: null,
    })
    expect(of({ plan: plan(failed.replace('failed', 'applied')) })).toMatchObject({ error: null })
  })

  test.each([null, 'phase: applied\n', 'action: apply\n', 'phase: applied\naction: dance\n', 'a: b: c\n'])(
    'is null where status %j does not say',
    (status) => expect(of({ plan: plan(status) })).toBeNull(),
  )

  test('is the uninstall while there is one, wherever its mark lies', () => {
    expect(of({ plan: markedPlan() })).toEqual(uninstalling)
    const older = plan('phase: failed\naction: apply\nactor: eve\nerror: no\n')
    expect(of({ plan: older, mark: markBeside() })).toEqual(uninstalling)
    expect(of({ plan: null, mark: markBeside() })).toEqual(uninstalling)
  })

  test('does not lend an uninstall that only a label speaks of the actor of the apply before it', () => {
    const labels = { 'swiss.modelsphere.dev/phase': 'uninstalling' }
    const labelled = plan('phase: applied\naction: apply\nactor: eve\nupdatedAt: 2030-12-31T10:00:00Z\n', {
      labels,
    })
    expect(of({ plan: labelled })).toEqual({ ...uninstalling, at: null, actor: null })
  })
})

describe('the last operation on an LLMService', () => {
  const annotations = { [ACTION]: 'apply' }
  const history = [
    { revision: 2, action: 'rollback', appliedAt: '2030-12-31T10:00:00Z' },
    { revision: 1, action: 'install', appliedAt: '2030-12-30T10:00:00Z' },
  ]
  const at = '2030-12-31T10:00:00.000Z'

  test('is what its annotation names, and stands as its phase does', () => {
    const is = (status: object) => of({ llmService: service(status, { annotations }) })
    expect(is({ phase: 'Applied', history })).toEqual({
      action: 'APPLY',
      outcome: 'SUCCEEDED',
      error: null,
      at,
      actor: null,
    })
    expect(is({ phase: 'Applying', history })).toMatchObject({ action: 'APPLY', outcome: 'STARTED' })
    expect(is({ phase: 'Failed', message: 'no node', history })).toMatchObject({
      outcome: 'FAILED',
      error: 'no node',
    })
    expect(is({ phase: 'Pondering', history })).toBeNull()
  })

  test('is that of its newest history without an annotation, and null without both', () => {
    expect(of({ llmService: service({ phase: 'Applied', history }) })).toMatchObject({
      action: 'ROLLBACK',
      at,
    })
    expect(of({ llmService: service({ phase: 'Applied' }) })).toBeNull()
    expect(of({ llmService: service({ phase: 'Applied', history: [{ action: 'constructor' }] }) })).toBeNull()
  })

  test('is the uninstall while there is one, with who asked where Swiss knows', () => {
    const run = { backend: 'LLMSERVICE' as const, llmServiceUid: 'uid-1' }
    const leaving = { annotations, deletionTimestamp: '2030-12-31T10:00:00Z' }
    const llmService = service({ phase: 'Deleting' }, leaving)
    expect(of({ llmService, mark: markBeside(run) })).toEqual(uninstalling)
    expect(of({ llmService })).toEqual({ ...uninstalling, at, actor: null })
    expect(of({ llmService, mark: markBeside({ ...run, llmServiceUid: 'uid-0' }) })).toMatchObject({
      actor: null,
    })
    expect(of({ mark: markBeside(run) })).toEqual(uninstalling)
  })
})
