import type { KubeObject } from '../api/types.ts'
import type { KubeClient } from '../client.ts'
import { decodeRelease, type HelmRelease, type ReleaseStatus } from '../helm/payload.ts'
import { releaseSecret } from '../helm/storage.ts'
import { SECRET } from '../resourceTypes.ts'
import { group } from './llmService.ts'

/** On helm's records that the operator has made: the hash of spec and annotations behind them (helm keeps it). */
const hashLabel = `${group}/revision-hash`
const hashLength = 40

/** One of helm's records of a release. */
export interface HelmRecord {
  secret: KubeObject
  revision: number
  /** As the label says, which is what helm looks records up by. */
  status: string
  /** Undefined for one that somebody else has made. */
  hash: string | undefined
}

export const hashLabels = (hash: string) => ({ [hashLabel]: hash.slice(0, hashLength) })
export const isOfRevision = (record: HelmRecord, hash: string) => record.hash === hash.slice(0, hashLength)

export function recordOf(secret: KubeObject): HelmRecord {
  const { labels = {} } = secret.metadata
  return {
    secret,
    revision: Number(labels.version ?? 0),
    status: labels.status ?? '',
    hash: labels[hashLabel],
  }
}

/** helm's records of a release, oldest first. */
export async function readRecords(
  client: KubeClient,
  namespace: string,
  name: string,
): Promise<HelmRecord[]> {
  const { items } = await client.list(SECRET, { namespace, labelSelector: `name=${name},owner=helm` })
  return items.map(recordOf).sort((a, b) => a.revision - b.revision)
}

/** What a record says of its release. Throws when it cannot be read. */
export const releaseOf = ({ secret }: HelmRecord): HelmRelease =>
  decodeRelease(String((secret.data as { release?: string } | undefined)?.release))

/** Writes another status into a record, if nobody has written it since it was read. */
export async function markRecord(
  client: KubeClient,
  record: HelmRecord,
  status: ReleaseStatus,
  description: string,
): Promise<HelmRecord> {
  const release = releaseOf(record)
  const marked = { ...release, info: { ...release.info, status, description } }
  const { name, namespace, uid, resourceVersion, labels = {} } = record.secret.metadata
  const secret = releaseSecret(marked, labels)
  return recordOf(
    await client.replace(SECRET, {
      ...secret,
      metadata: {
        ...secret.metadata,
        name,
        ...(namespace ? { namespace } : {}),
        ...(uid ? { uid } : {}),
        ...(resourceVersion ? { resourceVersion } : {}),
      },
    }),
  )
}

/** Those of the records that can be read. */
export const readable = (records: HelmRecord[]) =>
  records.filter((record) => {
    try {
      return releaseOf(record)
    } catch {
      return false
    }
  })
