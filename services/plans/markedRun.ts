import type { Backend, ReleaseRef } from '../deployments/row.ts'
import { mapAt, textAt } from './document.ts'
import type { PlanMap } from './scalars.ts'

/**
 * The open run of an uninstall as its mark carries it: whoever finishes the uninstall can close the run with
 * it, even when the audit store has lost everything (contract, 1.3a).
 */
export interface MarkedRun {
  id: string
  release: ReleaseRef
  backend: Backend
  actor: string | null
  note: string | null
  /** RFC 3339 in UTC. */
  startedAt: string
  planHash: string | null
  revision: number | null
  /** helm runs that ended without an exit code while their gateway lived. */
  attempts: number
  /** Name of the chart, for the pods' `app` label, should the plan not tell. */
  chart: string | null
  planUid: string | null
  llmServiceUid: string | null
  /** uid of helm's newest record when the release was marked: another release of that name has another. */
  helmUid: string | null
  /** Set when helm has said that it is done and its record is still there: nobody starts it again unasked. */
  helmEnded: string | null
}

/** Reads the `run` of a mark; null when it has no id, release or start. */
export function readMarkedRun(run: PlanMap | null): MarkedRun | null {
  const id = textAt(run, 'id')
  const started = Date.parse(textAt(run, 'startedAt') ?? '')
  const namespace = textAt(mapAt(run, 'release'), 'namespace')
  const name = textAt(mapAt(run, 'release'), 'name')
  if (id === null || Number.isNaN(started) || namespace === null || name === null) return null
  const uids = mapAt(run, 'uids')
  const llmServiceUid = textAt(uids, 'llmService')
  const attempts = Number(textAt(run, 'attempts') ?? 0)
  const revision = Number(textAt(run, 'revision') ?? 0)
  return {
    id,
    release: { namespace, name },
    backend: textAt(run, 'backend') === 'LLMSERVICE' || llmServiceUid !== null ? 'LLMSERVICE' : 'HELM',
    actor: textAt(run, 'actor'),
    note: textAt(run, 'note'),
    startedAt: new Date(started).toISOString(),
    planHash: textAt(run, 'planHash'),
    revision: Number.isSafeInteger(revision) && revision > 0 ? revision : null,
    attempts: Number.isSafeInteger(attempts) && attempts > 0 ? attempts : 0,
    chart: textAt(run, 'chart'),
    planUid: textAt(uids, 'plan'),
    llmServiceUid,
    helmUid: textAt(uids, 'helm'),
    helmEnded: textAt(run, 'helmEnded'),
  }
}

/** The `run` of a mark as it is written; what is null is left out. */
export function writeMarkedRun(run: MarkedRun): PlanMap {
  const { planUid, llmServiceUid, helmUid, release, ...rest } = run
  return compact({
    ...rest,
    release: { ...release },
    uids: compact({ plan: planUid, llmService: llmServiceUid, helm: helmUid }),
  })
}

function compact(map: PlanMap): PlanMap {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null))
}
