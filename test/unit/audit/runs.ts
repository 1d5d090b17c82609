import type { Run, RunEnd } from '../../../services/audit/run.ts'
import type { Logger } from '../../../services/runtime/logger.ts'

const nothing = () => {}
export const quiet: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

export const run = (id: string, parts: Partial<Run> = {}): Run => ({
  id,
  namespace: 'team-a',
  name: 'chat',
  backend: 'HELM',
  action: 'UNINSTALL',
  outcome: 'STARTED',
  actor: 'ada',
  note: null,
  planHash: 'h1',
  revision: 3,
  changed: true,
  error: null,
  output: null,
  startedAt: '2031-01-01T00:00:00.000Z',
  endedAt: null,
  objectUid: 'uid-1',
  ...parts,
})

export const succeeded = (parts: Partial<RunEnd> = {}): RunEnd => ({
  outcome: 'SUCCEEDED',
  error: null,
  output: 'release "chat" uninstalled',
  endedAt: '2031-01-01T00:01:00.000Z',
  ...parts,
})
export const failed = (error: string): RunEnd => succeeded({ outcome: 'FAILED', error, output: null })
