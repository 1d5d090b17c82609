/** `status.yaml`: how the last operation on a release stands (contract, 1.1). */
import { boundText } from '../helm/bound.ts'
import { mapAt, type PlanData, STATUS_KEY, textAt } from './document.ts'
import { type MarkedRun, readMarkedRun } from './markedRun.ts'
import type { PlanMap, PlanValue } from './scalars.ts'
import { readYamlMap, writeYaml } from './yaml.ts'

export const PLAN_PHASES = ['applying', 'applied', 'failed', 'uninstalling'] as const
export type PlanPhase = (typeof PLAN_PHASES)[number]
export const PLAN_ACTIONS = ['install', 'apply', 'rollback', 'uninstall', 'autoscale'] as const
export type PlanAction = (typeof PLAN_ACTIONS)[number]

/** Bytes of an error or a note that are kept. */
const MAX_TEXT = 4096

/** Times are RFC 3339 in UTC with milliseconds, whatever precision was written. */
export interface PlanStatus {
  /** Null when it names none that is known. */
  phase: PlanPhase | null
  action: PlanAction | null
  /** Null when there is none; never 0. */
  revision: number | null
  startedAt: string | null
  updatedAt: string | null
  error: string | null
  note: string | null
  forced: boolean | null
  actor: string | null
  /** The open run of an uninstall, while it is marked. */
  run: MarkedRun | null
}

export interface StatusReading {
  /** Null when there is no status, or when it cannot be read. */
  status: PlanStatus | null
  /** Why it cannot be read; never quotes it. */
  unreadable: string | null
}

/** Reads `status.yaml`. No text, an empty one and a map without keys are no status. */
export function readStatus(data: PlanData): StatusReading {
  const map = readStatusMap(data)
  if (typeof map === 'string') return { status: null, unreadable: map }
  if (map === null) return { status: null, unreadable: null }
  return {
    status: {
      phase: oneOf(PLAN_PHASES, textAt(map, 'phase')),
      action: oneOf(PLAN_ACTIONS, textAt(map, 'action')),
      revision: revisionAt(map, 'revision'),
      startedAt: timeAt(map, 'startedAt'),
      updatedAt: timeAt(map, 'updatedAt'),
      error: textAt(map, 'error'),
      note: textAt(map, 'note'),
      forced: typeof map.forced === 'boolean' ? map.forced : null,
      actor: textAt(map, 'actor'),
      run: readMarkedRun(mapAt(map, 'run')),
    },
    unreadable: null,
  }
}

/** The keys of a status as they are written; null when there are none, a reason when they cannot be read. */
export function readStatusMap(data: PlanData): PlanMap | null | string {
  const text = data[STATUS_KEY]
  if (text === undefined) return null
  const reading = readYamlMap(text)
  if (!reading.ok) return `status.yaml ${reading.reason}`
  return Object.keys(reading.value).length === 0 ? null : reading.value
}

export interface StatusChange {
  phase: PlanPhase
  action: PlanAction
  /** Milliseconds since the epoch. */
  now: number
  /** Absent keeps it, null takes it away; so do the others. */
  revision?: number | null
  startedAt?: string | null
  error?: string | null
  note?: string | null
  forced?: boolean | null
  actor?: string | null
}

/**
 * The text of a status after an operation's next step. Keys that nobody here knows are kept; an unreadable
 * text is replaced. Errors and notes are bounded, since a ConfigMap ends at 1 MiB.
 */
export function changeStatus(data: PlanData, change: StatusChange): string {
  const before = readStatusMap(data)
  return writeYaml(changedMap(typeof before === 'string' ? null : before, change))
}

/** As `changeStatus`, on keys that have been read; `before` is left as it is. */
export function changedMap(before: PlanMap | null, change: StatusChange): PlanMap {
  const { now, error, note, ...plain } = change
  const next: Record<string, PlanValue | undefined> = {
    ...plain,
    updatedAt: rfc3339(now),
    ...(error === undefined ? {} : { error: error === null ? null : boundText(error, MAX_TEXT) }),
    ...(note === undefined ? {} : { note: note === null ? null : boundText(note, MAX_TEXT) }),
  }
  const map: PlanMap = {}
  for (const key of ['phase', 'action', 'revision', 'startedAt', 'updatedAt']) setFrom(map, key, next, before)
  for (const key of ['error', 'note', 'forced', 'actor']) setFrom(map, key, next, before)
  for (const [key, value] of Object.entries(before ?? {}))
    if (!Object.hasOwn(map, key) && !(key in next)) map[key] = value
  return map
}

function setFrom(
  map: PlanMap,
  key: string,
  next: Record<string, PlanValue | undefined>,
  before: PlanMap | null,
): void {
  const value = next[key] === undefined ? before?.[key] : next[key]
  if (value !== null && value !== undefined) map[key] = value
}

/** RFC 3339 in UTC, of milliseconds since the epoch. */
export const rfc3339 = (now: number): string => new Date(now).toISOString()

/** A time under a key, in UTC with milliseconds; null when there is none that can be read. */
export function timeAt(map: PlanMap | null, key: string): string | null {
  const text = textAt(map, key)
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? null : rfc3339(ms)
}

/** A revision under a key; null when it is none, 0 included. */
export function revisionAt(map: PlanMap | null, key: string): number | null {
  const text = textAt(map, key)
  return text !== null && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null
}

function oneOf<T extends string>(known: readonly T[], text: string | null): T | null {
  return known.find((item) => item === text) ?? null
}
