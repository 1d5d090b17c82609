/** The payload of a record in helm's storage: base64 over base64 over gzip over JSON. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

/** What is read of a payload. */
export interface HelmPayload {
  name: string | null
  namespace: string | null
  chart: { name: string; version: string | null } | null
  /** YAML documents, as helm rendered them; empty when there are none. */
  manifest: string
}

/** A Secret ends at 1 MiB, which unfolds to some 10 MiB of manifests; nothing honest comes near this. */
const MAX_JSON_BYTES = 64 * 1024 * 1024

const unzip = promisify(gunzip)

/**
 * Decodes `data.release` of a record. Null when it cannot be decoded, which never means "no release": the
 * labels still tell.
 */
export async function decodePayload(release: unknown): Promise<HelmPayload | null> {
  if (typeof release !== 'string') return null
  try {
    const inner = Buffer.from(Buffer.from(release, 'base64').toString('latin1'), 'base64')
    // Records from before helm compressed them have no gzip header.
    const zipped = inner[0] === 0x1f && inner[1] === 0x8b
    const json = zipped ? await unzip(inner, { maxOutputLength: MAX_JSON_BYTES }) : inner
    return payloadOf(JSON.parse(json.toString('utf8')))
  } catch {
    return null
  }
}

function payloadOf(value: unknown): HelmPayload | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { name, namespace, chart, manifest } = value as Record<string, unknown>
  return {
    name: text(name),
    namespace: text(namespace),
    chart: chartOf(chart),
    manifest: typeof manifest === 'string' ? manifest : '',
  }
}

function chartOf(chart: unknown): HelmPayload['chart'] {
  const metadata = (chart as { metadata?: { name?: unknown; version?: unknown } } | null)?.metadata
  const name = text(metadata?.name)
  return name === null ? null : { name, version: text(metadata?.version) }
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
