import { CALL_FAULTS, CHECKPOINTS, HELM_BEHAVIOURS, WATCH_FAULTS } from './schedule.ts'

/** How often each thing came up, by `group/name`. */
export class Coverage {
  readonly counts = new Map<string, number>()

  add(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times)
  }

  merge(other: Coverage): void {
    for (const [what, times] of other.counts) this.add(what, times)
  }

  /** What must come up in a run of two hundred schedules and has not. */
  missing(): string[] {
    return expected.filter((what) => !this.counts.has(what))
  }

  /** A table for people: one line per group. */
  table(): string {
    const groups = new Map<string, string[]>()
    for (const [what, times] of [...this.counts].sort(([one], [other]) => one.localeCompare(other))) {
      const [group = '', name = ''] = what.split(/\/(.*)/s)
      groups.set(group, [...(groups.get(group) ?? []), `${name} ${times}`])
    }
    return [...groups].map(([group, names]) => `${group}: ${names.join(', ')}`).join('\n')
  }
}

const PHASES = ['APPLIED', 'FAILED', 'UNINSTALLING'] as const

const expected = [
  ...CALL_FAULTS.map((what) => `fault/${what}`),
  ...WATCH_FAULTS.map((what) => `watch/${what}`),
  ...HELM_BEHAVIOURS.filter((what) => what !== 'missing').map((what) => `helm/${what}`),
  'helm/lost',
  ...[...CHECKPOINTS, 'now', 'before-a-call', 'after-a-call'].map((what) => `kill/${what}`),
  'fault/between',
  ...PHASES.filter((phase) => phase !== 'UNINSTALLING').map((phase) => `edge/${phase}→UNINSTALLING`),
  'edge/UNINSTALLING→GONE',
  'edge/UNINSTALLING→FAILED',
  'edge/UNINSTALLING→APPLIED',
  'edge/APPLIED→GONE',
  'edge/APPLIED→FAILED',
  'edge/null→APPLIED',
  'edge/null→UNINSTALLING',
  ...['UNINSTALLED', 'PLAN_REMOVED', 'RECREATED'].map((why) => `gone/${why}`),
  ...['accepted', 'already', 'refused', 'unanswered'].map((what) => `answer/${what}`),
]
