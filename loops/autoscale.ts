import type { Autoscaler } from '../services/releases/autoscaler.ts'
import { Loop, type LoopOptions } from './loop.ts'

const EVERY_MS = 15_000

/** The loop that scales releases with prefill and decode pools by their policies. */
export function autoscaleLoop(
  options: Pick<LoopOptions, 'clock' | 'tasks' | 'isLeader'> & { autoscaler: Autoscaler },
): Loop {
  const { autoscaler, ...common } = options
  return new Loop({ ...common, name: 'autoscale', everyMs: EVERY_MS, pass: () => autoscaler.pass() })
}
