/**
 * The mark of an uninstall: what `status.yaml` says from the moment an uninstall is accepted until it is
 * over. It carries the open run and the status it replaced, so that a restart loses neither.
 */
import { mapAt, type PlanData, STATUS_KEY } from './document.ts'
import { type MarkedRun, readMarkedRun, writeMarkedRun } from './markedRun.ts'
import { PHASE_LABEL, UNINSTALLING } from './names.ts'
import type { PlanMap, PlanValue } from './scalars.ts'
import { changedMap, readStatusMap, revisionAt, rfc3339 } from './status.ts'
import { readYamlMap, writeYaml } from './yaml.ts'

/** True when the label or the status of a plan says that its release is being uninstalled. */
export function isMarked(object: {
  labels?: Readonly<Record<string, string>> | undefined
  data?: PlanData | undefined
}): boolean {
  if (object.labels?.[PHASE_LABEL] === UNINSTALLING) return true
  return markMap(object.data ?? {}) !== null
}

/**
 * The status of a release whose uninstall is accepted: text for `status.yaml`. It keeps the one it replaces
 * as `previous`; over a status that is a mark already, the first `previous` stays.
 *
 * @param data of the plan, or nothing where the mark lies beside it
 */
export function markUninstalling(data: PlanData, run: MarkedRun, now: number): string {
  const before = readStatusMap(data)
  const known = typeof before === 'string' ? null : before
  const again = known !== null && known.phase === UNINSTALLING
  const map = changedMap(known, {
    phase: UNINSTALLING,
    action: 'uninstall',
    revision: revisionAt(known, 'revision') ?? run.revision,
    startedAt: run.startedAt,
    error: null,
    note: run.note,
    forced: null,
    actor: run.actor,
    now,
  })
  const previous = again ? known.previous : previousOf(data[STATUS_KEY])
  delete map.previous
  if (previous !== undefined) map.previous = previous
  map.run = writeMarkedRun(run)
  return writeYaml(map)
}

/**
 * The status as it was before the mark, byte for byte; null when there was none. A text that is no mark of
 * ours (another tool has written meanwhile) is answered as it is.
 */
export function putBack(data: PlanData): string | null {
  const mark = markMap(data)
  if (mark === null) return data[STATUS_KEY] ?? null
  const previous = mark.previous
  if (previous === undefined || previous === null) return null
  return typeof previous === 'string' ? previous : writeYaml(previous)
}

/** The status of an uninstall that has failed: no mark any more, and the error kept. Unknown keys stay. */
export function markFailed(data: PlanData, error: string, now: number): string {
  const before = readStatusMap(data)
  const map = changedMap(typeof before === 'string' ? null : before, {
    phase: 'failed',
    action: 'uninstall',
    error,
    now,
  })
  delete map.previous
  delete map.run
  return writeYaml(map)
}

/** The mark with its run changed (another attempt, the chart's name); null when the status is no mark. */
export function changeMarkedRun(data: PlanData, change: Partial<MarkedRun>, now: number): string | null {
  const mark = markMap(data)
  const run = mark === null ? null : readMarkedRun(mapAt(mark, 'run'))
  if (mark === null || run === null) return null
  return writeYaml({ ...mark, updatedAt: rfc3339(now), run: writeMarkedRun({ ...run, ...change }) })
}

/** The keys of a status that is a mark; null when it is none. */
function markMap(data: PlanData): PlanMap | null {
  const map = readStatusMap(data)
  return map !== null && typeof map !== 'string' && map.phase === UNINSTALLING ? map : null
}

/**
 * What `previous` holds for a status text: its keys where they give the very same text again, as other tools
 * expect, else the text itself (comments, another style, no YAML at all).
 */
function previousOf(text: string | undefined): PlanValue | undefined {
  if (text === undefined) return undefined
  const reading = readYamlMap(text)
  return reading.ok && Object.keys(reading.value).length > 0 && writeYaml(reading.value) === text
    ? reading.value
    : text
}
