/** The audit rows of uninstalls: made of what the mark keeps, so that whoever finishes can close them. */
import type { Run, RunEnd } from '../audit/run.ts'
import type { Actor } from '../auth/actor.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import type { MarkedRun } from '../plans/markedRun.ts'
import type { PlanObject } from '../plans/planObject.ts'
import type { OpenUninstall } from './tracker.ts'

/** What the run of an uninstall says when another writer took its mark away. */
export const MARK_REMOVED = 'mark removed by another writer'

/** The STARTED row of a run that a mark keeps. */
export function startedRun(ref: ReleaseRef, run: MarkedRun, objectUid: string | null): Run {
  return {
    id: run.id,
    namespace: ref.namespace,
    name: ref.name,
    backend: run.backend,
    action: 'UNINSTALL',
    outcome: 'STARTED',
    actor: run.actor,
    note: run.note,
    planHash: run.planHash,
    revision: run.revision,
    changed: true,
    error: null,
    output: null,
    startedAt: run.startedAt,
    endedAt: null,
    objectUid,
  }
}

/** What a mark keeps of the run of an uninstall that has just been asked for. */
export function newRun(of: {
  id: string
  ref: ReleaseRef
  actor: Actor
  note: string | null
  /** Milliseconds. */
  now: number
  plan: PlanObject | null
  revision: number | null
  chart?: string | null
  helmUid?: string | null
  llmServiceUid?: string
}): MarkedRun {
  return {
    id: of.id,
    release: of.ref,
    backend: of.llmServiceUid === undefined ? 'HELM' : 'LLMSERVICE',
    actor: of.actor.name,
    note: of.note,
    startedAt: new Date(of.now).toISOString(),
    planHash: of.plan?.document.hash ?? null,
    revision: of.revision,
    attempts: 0,
    chart: of.chart ?? null,
    planUid: of.plan?.uid ?? null,
    llmServiceUid: of.llmServiceUid ?? null,
    helmUid: of.helmUid ?? null,
    helmEnded: null,
  }
}

/**
 * The run of an uninstall. What nobody asked Swiss for (another tool's mark, a deleted LLMService) keeps none:
 * its row has no actor, and an id made of the object's uid, so that several gateways mean the same one.
 */
export function runOf(open: OpenUninstall, now: string): Run {
  const { marked, service, ref } = open
  const kept = marked?.status?.run
  if (kept) return startedRun(ref, kept, kept.llmServiceUid ?? marked.uid)
  const objectUid = service?.metadata.uid ?? marked?.uid ?? null
  return {
    ...startedRun(ref, unasked(open, now), objectUid),
    id: `unasked-${objectUid ?? `${ref.namespace}.${ref.name}`}`,
    backend: open.backend,
  }
}

function unasked({ ref, marked, plan, service }: OpenUninstall, now: string): MarkedRun {
  const status = marked?.status
  return {
    id: '',
    release: ref,
    backend: 'HELM',
    actor: status?.actor ?? null,
    note: status?.note ?? null,
    startedAt: status?.startedAt ?? status?.updatedAt ?? service?.metadata.deletionTimestamp ?? now,
    attempts: 0,
    planUid: plan?.uid ?? null,
    llmServiceUid: service?.metadata.uid ?? null,
    helmUid: null,
    helmEnded: null,
    chart: null,
    planHash: plan?.document.hash ?? null,
    revision: service?.status?.helm?.revision || status?.revision || null,
  }
}

export const succeeded = (endedAt: string, output: string | null = null): RunEnd => ({
  outcome: 'SUCCEEDED',
  error: null,
  output,
  endedAt,
})

export const failed = (endedAt: string, error: string, output: string | null = null): RunEnd => ({
  outcome: 'FAILED',
  error,
  output,
  endedAt,
})
