import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../api/types.ts'
import { isConflict } from '../apiError.ts'
import { controllerOf, controllerReference } from '../controllers/owners.ts'
import { CONTROLLER_REVISION } from '../resourceTypes.ts'
import type { Context } from './context.ts'
import { Stale } from './errors.ts'
import {
  appliedSpec,
  type HistoryEntry,
  type LlmService,
  planAnnotations,
  revisionHash,
  serviceLabel,
  specOf,
} from './llmService.ts'

/** How many revisions are kept, as many as helm keeps. */
export const keptRevisions = 10

interface Snapshot {
  spec?: { suspend?: boolean }
  annotations?: Record<string, string>
}

/**
 * Keeps spec and annotations of a revision as a ControllerRevision, which goes with the LLMService. Answers with
 * its name. Throws Stale after taking away one that an earlier LLMService of this name has left.
 */
export async function keepSnapshot(
  { client }: Context,
  service: LlmService,
  revision: number,
): Promise<string> {
  const { namespace = '', name } = service.metadata
  const snapshot: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name}-v${revision}-${revisionHash(service).slice(0, 10)}`,
      namespace,
      labels: { [serviceLabel]: name },
      ownerReferences: [{ ...controllerReference(service) }],
    },
    revision,
    data: { spec: specOf(service), annotations: planAnnotations(service) },
  }
  try {
    await client.create(CONTROLLER_REVISION, snapshot, namespace)
  } catch (error) {
    if (!isConflict(error)) throw error
    const present = await client.get(CONTROLLER_REVISION, namespace, snapshot.metadata.name)
    if (!present || controllerOf(present)?.uid !== service.metadata.uid) {
      if (present) await remove(client, present)
      throw new Stale(`ControllerRevision ${snapshot.metadata.name}`)
    }
  }
  return snapshot.metadata.name
}

/** True when the newest revision is of spec and annotations as they stand now. */
export async function isNewestRevision({ client }: Context, service: LlmService): Promise<boolean> {
  const newest = service.status?.history?.[0]
  if (!newest) return false
  const { namespace = '' } = service.metadata
  const snapshot = await client.get(CONTROLLER_REVISION, namespace, newest.controllerRevision)
  const { spec, annotations = {} } = (snapshot?.data ?? {}) as Snapshot
  if (!spec) return false
  const { suspend: _suspend, ...rest } = spec
  return (
    isDeepStrictEqual(rest, appliedSpec(service)) && isDeepStrictEqual(annotations, planAnnotations(service))
  )
}

/** Deletes the ControllerRevisions of an LLMService. Those of a successor under its name stay. */
export async function dropSnapshots(context: Context, service: LlmService): Promise<void> {
  for (const snapshot of await snapshotsOf(context, service)) {
    const owner = controllerOf(snapshot)
    if (!owner || owner.uid === service.metadata.uid) await remove(context.client, snapshot)
  }
}

/**
 * Deletes the ControllerRevisions that the history does not name any more. One of a later revision is not yet
 * named: another operator has made it and is about to write the status.
 */
export async function trimSnapshots(
  context: Context,
  service: LlmService,
  history: HistoryEntry[],
): Promise<void> {
  const newest = history[0]?.revision ?? 0
  const kept = new Set(history.map((entry) => entry.controllerRevision))
  for (const snapshot of await snapshotsOf(context, service)) {
    if (Number(snapshot.revision) <= newest && !kept.has(snapshot.metadata.name)) {
      await remove(context.client, snapshot)
    }
  }
}

async function snapshotsOf(
  { client }: Context,
  { metadata: { namespace = '', name } }: LlmService,
): Promise<KubeObject[]> {
  const labelSelector = `${serviceLabel}=${name}`
  return (await client.list(CONTROLLER_REVISION, { namespace, labelSelector })).items
}

function remove(client: Context['client'], { metadata: { namespace = '', name, uid } }: KubeObject) {
  return client.delete(CONTROLLER_REVISION, namespace, name, uid ? { uid } : {})
}
