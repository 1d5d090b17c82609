/**
 * The mark of an uninstall in the cluster: on the plan, or beside it where the plan cannot carry it. Every
 * write is compare-and-swap over a fresh read and keeps what others wrote.
 */
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import { STATUS_KEY } from '../plans/document.ts'
import { changeMarkedRun, markFailed, markUninstalling, putBack } from '../plans/mark.ts'
import type { MarkedRun } from '../plans/markedRun.ts'
import {
  markName,
  PHASE_LABEL,
  planName,
  TRACKING_LABEL,
  TRACKING_UNINSTALL,
  UNINSTALLING,
} from '../plans/names.ts'
import { type PlanObject, planData, trimPlan } from '../plans/planObject.ts'
import type { UninstallFailure } from './outcome.ts'

/** The plan and the mark of a release, read live by name, whatever their labels. */
export interface LiveMarks {
  plan: PlanObject | null
  mark: PlanObject | null
}

export type MarkOutcome =
  | ({ kind: 'marked'; replaced: string | null } & LiveMarks)
  /** Somebody else marked it between the look and the write. */
  | ({ kind: 'already' } & LiveMarks)
  /** The plan that was looked at is gone, or another one stands in its place. */
  | { kind: 'changed' }

/** Conflicts in a row after which a write is given up; another writer at every 50 ms does not reach this. */
const ATTEMPTS = 20

type ConfigMap = KubeObject & { data?: Record<string, string> }

export class Marks {
  readonly #client: KubeClient

  constructor(client: KubeClient) {
    this.#client = client
  }

  /** Throws KubeError when either cannot be read: no answer is never "not there". */
  async read(ref: ReleaseRef): Promise<LiveMarks> {
    const [plan, mark] = await Promise.all([
      this.#get(ref.namespace, planName(ref.name)),
      this.#get(ref.namespace, markName(ref.name)),
    ])
    return { plan: plan && trimPlan(plan), mark: mark && trimPlan(mark) }
  }

  /**
   * Marks the release in one write, before anything is done. A plan that refuses it for good (422: it is
   * immutable or full) is marked beside it, and so is a release without a plan.
   */
  async put(ref: ReleaseRef, plan: PlanObject | null, run: MarkedRun): Promise<MarkOutcome> {
    if (plan === null) return this.#putBeside(ref, null, run)
    for (let attempt = 1; ; attempt++) {
      const live = await this.#get(ref.namespace, planName(ref.name))
      if (live?.metadata.uid !== plan.uid) return { kind: 'changed' }
      const now = trimPlan(live)
      if (now?.marked) return { kind: 'already', plan: now, mark: null }
      try {
        const written = await this.#client.update<ConfigMap>(Kinds.ConfigMap, {
          ...live,
          metadata: { ...live.metadata, labels: { ...live.metadata.labels, [PHASE_LABEL]: UNINSTALLING } },
          data: { ...live.data, [STATUS_KEY]: markUninstalling(planData(live), run, this.#client.now()) },
        })
        return {
          kind: 'marked',
          plan: trimPlan(written),
          mark: null,
          replaced: live.metadata.resourceVersion,
        }
      } catch (error) {
        if (isKubeError(error, 'Invalid', 'TooLarge')) return this.#putBeside(ref, now, run)
        if (isKubeError(error, 'Unavailable')) return this.#writtenAfterAll(ref, run, live, error)
        if (!isKubeError(error, 'Conflict') || attempt >= ATTEMPTS) throw error
      }
    }
  }

  /** A write that got no answer may have happened; only a fresh read tells. Throws the first error when it does not. */
  async #writtenAfterAll(
    ref: ReleaseRef,
    run: MarkedRun,
    before: ConfigMap,
    error: unknown,
  ): Promise<MarkOutcome> {
    const live = await this.read(ref).catch(() => null)
    if (live?.plan?.status?.run?.id !== run.id) throw error
    return { kind: 'marked', ...live, replaced: before.metadata.resourceVersion }
  }

  /** Remembers an uninstall whose plan somebody has deleted, so that a restart does not lose it. */
  async remember(ref: ReleaseRef, run: MarkedRun): Promise<PlanObject | null> {
    const outcome = await this.#putBeside(ref, null, run)
    return outcome.kind === 'changed' ? null : outcome.mark
  }

  /** Changes what the mark keeps of the run. Nothing happens when the mark has been taken away. */
  async noteRun(ref: ReleaseRef, changes: Partial<MarkedRun>): Promise<void> {
    await this.#changeMarked(ref, (object) => {
      const status = changeMarkedRun(planData(object), changes, this.#client.now())
      return status === null ? object : { ...object, data: { ...object.data, [STATUS_KEY]: status } }
    })
  }

  /** Ends the mark with a failure: the plan keeps the error; a mark beside it goes. */
  async fail(ref: ReleaseRef, failure: UninstallFailure): Promise<void> {
    const { mark } = await this.#changeMarked(ref, (object, role) => {
      if (role === 'mark') return object
      const { [PHASE_LABEL]: _, ...labels } = object.metadata.labels ?? {}
      return {
        ...object,
        metadata: { ...object.metadata, labels },
        data: {
          ...object.data,
          [STATUS_KEY]: markFailed(planData(object), failure.error, this.#client.now()),
        },
      }
    })
    if (mark) await this.deleteMark(mark)
  }

  /** Takes the mark away as if it had never been there: the plan's status says again what it said. */
  async putBack(ref: ReleaseRef): Promise<void> {
    const { mark } = await this.#changeMarked(ref, (object, role) => {
      if (role === 'mark') return object
      const { [PHASE_LABEL]: _, ...labels } = object.metadata.labels ?? {}
      const { [STATUS_KEY]: __, ...data } = object.data ?? {}
      const status = putBack(planData(object))
      return {
        ...object,
        metadata: { ...object.metadata, labels },
        data: status === null ? data : { ...data, [STATUS_KEY]: status },
      }
    })
    if (mark) await this.deleteMark(mark)
  }

  /** Deletes the mark beside the plan, if it still is the one that was looked at. NotFound is fine. */
  async deleteMark(mark: PlanObject): Promise<void> {
    await this.#delete(mark)
  }

  /** Deletes the plan, if it still is exactly the one that was looked at. A later write is a Conflict. */
  async deletePlan(plan: PlanObject): Promise<void> {
    await this.#delete(plan)
  }

  async #delete(object: PlanObject): Promise<void> {
    const { uid, resourceVersion, namespace, objectName } = object
    try {
      await this.#client.delete(
        Kinds.ConfigMap,
        { namespace, name: objectName },
        { preconditions: { uid, resourceVersion } },
      )
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error
    }
  }

  /** Changes the object that carries the mark: the plan, else the mark beside it. Returns what was read. */
  async #changeMarked(
    ref: ReleaseRef,
    change: (object: ConfigMap, role: PlanObject['role']) => ConfigMap,
  ): Promise<LiveMarks> {
    for (let attempt = 1; ; attempt++) {
      const plan = await this.#get(ref.namespace, planName(ref.name))
      const mark = await this.#get(ref.namespace, markName(ref.name))
      const live = { plan: plan && trimPlan(plan), mark: mark && trimPlan(mark) }
      const object = live.plan?.marked ? plan : mark
      if (!object) return live
      const changed = change(object, live.plan?.marked ? 'plan' : 'mark')
      if (changed === object) return live
      try {
        await this.#client.update(Kinds.ConfigMap, changed)
        return live
      } catch (error) {
        if (!isKubeError(error, 'Conflict') || attempt >= ATTEMPTS) throw error
      }
    }
  }

  async #putBeside(ref: ReleaseRef, plan: PlanObject | null, run: MarkedRun): Promise<MarkOutcome> {
    const name = markName(ref.name)
    try {
      const written = await this.#client.create<ConfigMap>(Kinds.ConfigMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          namespace: ref.namespace,
          name,
          labels: { [TRACKING_LABEL]: TRACKING_UNINSTALL },
        },
        data: { [STATUS_KEY]: markUninstalling({}, run, this.#client.now()) },
      })
      return { kind: 'marked', plan, mark: trimPlan(written), replaced: null }
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error
      const live = await this.#get(ref.namespace, name)
      if (!live) return { kind: 'changed' }
      const mark = trimPlan(live)
      // Ours: an earlier try got no answer.
      if (mark?.status?.run?.id === run.id) return { kind: 'marked', plan, mark, replaced: null }
      return { kind: 'already', plan, mark }
    }
  }

  async #get(namespace: string, name: string): Promise<ConfigMap | null> {
    try {
      return await this.#client.get<ConfigMap>(Kinds.ConfigMap, { namespace, name })
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return null
      throw error
    }
  }
}
