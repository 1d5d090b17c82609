import { gunzipSync, gzipSync } from 'node:zlib'

export type ReleaseStatus =
  | 'unknown'
  | 'deployed'
  | 'uninstalled'
  | 'superseded'
  | 'failed'
  | 'uninstalling'
  | 'pending-install'
  | 'pending-upgrade'
  | 'pending-rollback'

/** A release as helm 3 and 4 store it. What is not named here is kept as it was. */
export interface HelmRelease {
  name: string
  info: {
    first_deployed?: string
    last_deployed?: string
    /** helm 3 writes an empty text where helm 4 leaves the key out. */
    deleted?: string
    description?: string
    status: ReleaseStatus
    notes?: string
    [key: string]: unknown
  }
  chart: {
    metadata: { name: string; version: string; appVersion?: string; [key: string]: unknown }
    [key: string]: unknown
  } | null
  config?: Record<string, unknown>
  /** The rendered documents, each behind a line `---`. */
  manifest: string
  hooks?: HelmHook[]
  version: number
  namespace: string
  [key: string]: unknown
}

export interface HelmHook {
  name: string
  kind: string
  path: string
  manifest: string
  events: string[]
  last_run: { started_at?: string; completed_at?: string; phase: string }
  weight?: number
  [key: string]: unknown
}

/** A time as Go writes it into JSON: RFC 3339 without zeros at the end of the fraction. */
export const goTimestamp = (ms: number) => new Date(ms).toISOString().replace(/\.?0+Z$/, 'Z')

/**
 * The value of `data.release` in a helm Secret: base64 (the Secret's) over base64 (helm's) over gzip over JSON.
 *
 * @param level gzip level; helm uses 9
 */
export function encodeRelease(release: HelmRelease, level = 9): string {
  // Go's encoder writes these characters escaped.
  const json = JSON.stringify(release).replace(
    /[<>&\u2028\u2029]/g,
    (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const zipped = gzipSync(json, { level })
  // "Unknown operating system", as Go's writer says, whatever this machine is.
  zipped[9] = 255
  return Buffer.from(zipped.toString('base64')).toString('base64')
}

/**
 * Reads `data.release` of a helm Secret. Records from before helm compressed them are plain JSON and read as well.
 * Throws when it is neither.
 */
export function decodeRelease(data: string): HelmRelease {
  const inner = Buffer.from(Buffer.from(data, 'base64').toString('latin1'), 'base64')
  const zipped = inner.length > 3 && inner[0] === 0x1f && inner[1] === 0x8b && inner[2] === 0x08
  return JSON.parse((zipped ? gunzipSync(inner) : inner).toString('utf8')) as HelmRelease
}
