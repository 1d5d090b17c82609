/** Live reads of helm's storage. */
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds } from '../cluster/kinds.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import { decodePayload, type HelmPayload } from './payload.ts'
import { type HelmState, helmState, recordName, trimHelmRecord } from './records.ts'

/** What is asked of the cluster here. */
export type LookupClient = Pick<KubeClient, 'list' | 'get'>

/** helm's own limit, which keeps a release's name within a label. */
const MAX_RELEASE_NAME = 53

/** Whether helm has a release now: one metadata-only list. Throws KubeError; a failed look is never "no". */
export async function lookupHelm(client: Pick<LookupClient, 'list'>, ref: ReleaseRef): Promise<HelmState> {
  if (ref.name.length > MAX_RELEASE_NAME) return helmState([])
  const { items } = await client.list(Kinds.Secret, {
    namespace: ref.namespace,
    labelSelector: `owner=helm,name=${ref.name}`,
    metadataOnly: true,
  })
  const records = items.flatMap((secret) => trimHelmRecord(secret) ?? [])
  return helmState(
    records.filter(({ namespace, release }) => namespace === ref.namespace && release === ref.name),
  )
}

/**
 * The payload of a release's newest record, for its chart or manifest; null when there is no record or it
 * cannot be decoded. Throws KubeError.
 */
export async function readHelmPayload(client: LookupClient, ref: ReleaseRef): Promise<HelmPayload | null> {
  const { newest } = await lookupHelm(client, ref)
  if (newest === null) return null
  try {
    const name = recordName(newest.release, newest.revision)
    const secret = await client.get(Kinds.Secret, { namespace: ref.namespace, name })
    return await decodePayload((secret.data as { release?: unknown } | undefined)?.release)
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return null
    throw error
  }
}

/** Name and version of the chart in the newest record; null when nobody can tell. Throws KubeError. */
export async function readHelmChart(
  client: LookupClient,
  ref: ReleaseRef,
): Promise<{ name: string; version: string | null } | null> {
  return (await readHelmPayload(client, ref))?.chart ?? null
}
