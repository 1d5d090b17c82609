import { expect, test } from 'vitest'
import type { HelmResult } from '../../../services/helm/result.ts'
import { applyFailure } from '../../../services/releases/applyFailure.ts'

const exited = (code: number, stderr: string, stdout = ''): HelmResult => ({
  kind: 'exited',
  code,
  stdout,
  stderr,
})
const printed = { stdout: '', stderr: 'half' }

test.each<[string, HelmResult, string | null]>([
  ['success', exited(0, 'WARNING: group-readable'), null],
  ['an error alone', exited(1, 'Error: UPGRADE FAILED: no\n'), 'Error: UPGRADE FAILED: no'],
  [
    'an error behind helm’s log',
    exited(1, 'level=WARN msg="upgrade failed" error="no"\nError: UPGRADE FAILED: no\nand why\n'),
    'Error: UPGRADE FAILED: no\nand why',
  ],
  ['another command’s words', exited(127, 'sh: not found'), 'sh: not found'],
  ['words on the other stream only', exited(1, '', 'nothing works'), 'nothing works'],
  ['no words', exited(3, ''), 'helm ended with exit code 3 and printed nothing'],
  ['a signal', { kind: 'killed', signal: 'SIGKILL', ...printed }, 'helm was killed before it ended'],
  ['too long a run', { kind: 'budget', ...printed }, 'helm did not end within 15 minutes and was stopped'],
  ['a lost lock', { kind: 'lost', ...printed }, 'helm was stopped because the lock could not be kept'],
  [
    'no helm',
    { kind: 'unstarted', message: 'helm could not be started (EAGAIN)' },
    'helm could not be started (EAGAIN)',
  ],
])('%s', (_what, result, error) => {
  expect(applyFailure(result, false)?.error ?? null).toBe(error)
})

test('what a shut-down has ended is lost with its gateway', () => {
  expect(applyFailure({ kind: 'lost', ...printed }, true)).toEqual({
    error: 'lost with its gateway',
    output: 'half',
    exitCode: null,
  })
})
