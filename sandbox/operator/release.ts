import type { KubeObject } from '../api/types.ts'
import { goTimestamp } from '../helm/payload.ts'
import { DEPLOYMENT, SECRET, SERVICE } from '../resourceTypes.ts'
import { helmSecret } from '../samples/helmRelease.ts'
import { type Context, confirm } from './context.ts'
import { Foreign, isRefusal, Stale } from './errors.ts'
import { type LlmService, revisionHash } from './llmService.ts'
import {
  type HelmRecord,
  hashLabels,
  isOfRevision,
  markRecord,
  readable,
  readRecords,
  recordOf,
  releaseOf,
} from './records.ts'
import type { Rendered } from './render.ts'
import { keptRevisions } from './revisions.ts'
import { deleteOwned, headsOf, idOf, isOwn, readOwned } from './workload.ts'

/** helm's revision after an apply, or why the API server would not have the objects. */
export type Applied = { revision: number } | { revision: number; refused: string }

/**
 * Makes the release what the spec says, as `helm upgrade --install` does, without waiting for its pods. It can be
 * broken off anywhere: the next call finds in the record which spec is being worked on and goes on with it.
 *
 * Whoever replaces a record that is pending marks it first, and before each object is written the own record is
 * looked at again; so of two operators at work none lays an old spec over a newer one. Throws Stale when another
 * writer was faster.
 */
export async function applyRelease(
  context: Context,
  service: LlmService,
  rendered: Rendered,
): Promise<Applied> {
  const { client } = context
  const { namespace = '', name } = service.metadata
  const records = await readRecords(client, namespace, name)
  const newest = records.at(-1)
  const hash = revisionHash(service)
  const isOurs = newest !== undefined && isOfRevision(newest, hash)
  if (isOurs && newest.status === 'deployed') return { revision: newest.revision }
  const pending = isOurs && isPending(newest) ? newest : await begin(context, service, records, rendered)
  const earlier = records.filter((record) => record.revision < pending.revision)
  try {
    for (const object of rendered.objects) await put(context, pending, object)
    const kept = new Set(rendered.objects.map((it) => idOf({ ...it, name: it.metadata.name })))
    const dropped = headsOf(readable(earlier)).filter((head) => !kept.has(idOf(head)))
    const owned = await readOwned(client, { namespace, name }, dropped)
    await confirmPending(context, pending)
    await deleteOwned(client, owned)
  } catch (error) {
    if (!isRefusal(error)) throw error
    await markRecord(client, pending, 'failed', error.message)
    return { revision: pending.revision, refused: error.message }
  }
  for (const record of readable(earlier)) {
    if (record.status === 'deployed') await markRecord(client, record, 'superseded', descriptionOf(record))
  }
  await markRecord(
    client,
    pending,
    'deployed',
    pending.status === 'pending-install' ? 'Install complete' : 'Upgrade complete',
  )
  for (const record of earlier.slice(0, Math.max(0, earlier.length + 1 - keptRevisions))) {
    await client.delete(SECRET, namespace, record.secret.metadata.name, uidOf(record.secret))
  }
  return { revision: pending.revision }
}

const isPending = ({ status }: HelmRecord) => status.startsWith('pending-')
const uidOf = ({ metadata: { uid } }: KubeObject) => (uid ? { uid } : {})

/** Writes the record of the next revision. */
async function begin(
  context: Context,
  service: LlmService,
  records: HelmRecord[],
  rendered: Rendered,
): Promise<HelmRecord> {
  const { client, clock } = context
  const { namespace = '', name } = service.metadata
  for (const record of readable(records)) {
    if (isPending(record)) await markRecord(client, record, 'failed', 'Superseded by a newer spec')
  }
  // After the list: what it has shown was of this spec or of an older one.
  await confirm(context, service)
  const now = goTimestamp(clock.now())
  const isFirst = !records.some(({ status }) => status === 'deployed' || status === 'superseded')
  const first = readable(records.slice(0, 1))[0]
  const secret = helmSecret({
    namespace,
    name,
    revision: (records.at(-1)?.revision ?? 0) + 1,
    status: isFirst ? 'pending-install' : 'pending-upgrade',
    chart: rendered.chart,
    config: rendered.values,
    objects: rendered.objects,
    description: isFirst ? 'Initial install underway' : 'Preparing upgrade',
    firstDeployed: (first && releaseOf(first).info.first_deployed) ?? now,
    lastDeployed: now,
  })
  const labels = { ...secret.metadata.labels, ...hashLabels(revisionHash(service)) }
  const { creationTimestamp: _at, ...metadata } = secret.metadata
  return recordOf(await client.create(SECRET, { ...secret, metadata: { ...metadata, labels } }, namespace))
}

/** Creates or updates one object of the release. */
async function put(context: Context, pending: HelmRecord, object: KubeObject): Promise<void> {
  const { client } = context
  const type = object.kind === 'Service' ? SERVICE : DEPLOYMENT
  const { namespace = '', name, labels, annotations } = object.metadata
  const present = await client.get(type, namespace, name)
  await confirmPending(context, pending)
  if (!present) {
    const made = await client.create(type, object, namespace)
    // Taken away in between, by somebody who may not have seen this one. In any other state of the record another
    // operator has gone on with it.
    if (await isTakenAway(context, pending)) await deleteOwned(client, [{ type, object: made }])
    return
  }
  const called = `${type.kind} ${namespace}/${name}`
  if (!isOwn(present, releaseOf(pending))) throw new Foreign(`${called} exists and is not of this release`)
  if (present.metadata.deletionTimestamp !== undefined) throw new Error(`an earlier ${called} is still going`)
  await client.replace(type, {
    ...present,
    metadata: {
      ...present.metadata,
      labels: { ...present.metadata.labels, ...labels },
      annotations: { ...present.metadata.annotations, ...annotations },
    },
    // What the API server has filled in (an address, say) stays.
    spec: { ...(present.spec as object), ...(object.spec as object) },
  })
}

/** The record as it stands now; undefined when it has gone. */
async function liveRecord({ client }: Context, { secret }: HelmRecord): Promise<HelmRecord | undefined> {
  const { namespace = '', name, uid } = secret.metadata
  const live = await client.get(SECRET, namespace, name)
  return live?.metadata.uid === uid && live ? recordOf(live) : undefined
}

/** Throws Stale unless the record is still the one that is being worked on. */
async function confirmPending(context: Context, record: HelmRecord): Promise<void> {
  const live = await liveRecord(context, record)
  if (!live || !isPending(live)) throw new Stale(`Secret ${record.secret.metadata.name}`)
}

async function isTakenAway(context: Context, record: HelmRecord): Promise<boolean> {
  const live = await liveRecord(context, record)
  return !live || live.status === 'uninstalling' || live.status === 'uninstalled'
}

const descriptionOf = (record: HelmRecord) => releaseOf(record).info.description ?? ''
