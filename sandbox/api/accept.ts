/** The form objects are answered in: whole, their metadata only, or as rows for kubectl. */
export type Shape = 'full' | 'partial' | 'table'

/** What a caller is about to get. */
export type Purpose = 'one' | 'list' | 'watch'

/**
 * Reads an `Accept` header. The first clause this server can answer wins; a problem means 406.
 * Without a header anything goes.
 */
export function negotiate(accept: string | undefined, purpose: Purpose): Shape | { problem: string } {
  for (const clause of (accept ?? '*/*').split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim())
    if (!['application/json', 'application/*', '*/*', ''].includes(type)) continue
    const options = new Map(parameters.map((part) => splitOnce(part)))
    const as = options.get('as')
    if (as === undefined) return 'full'
    if (options.get('g') !== 'meta.k8s.io' || options.get('v') !== 'v1') continue
    if (as === 'Table') return 'table'
    if (as === 'PartialObjectMetadata' && purpose === 'list') {
      return { problem: 'you requested PartialObjectMetadata, but the requested object is a list' }
    }
    if (as === 'PartialObjectMetadataList' && purpose !== 'list') {
      return { problem: 'you requested PartialObjectMetadataList, but the requested object is not a list' }
    }
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return 'partial'
  }
  return { problem: 'only the following media types are accepted: application/json' }
}

/** The content type of aggregated discovery. */
export const aggregatedDiscoveryType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** True when a client asks for aggregated discovery in the one version this server writes. */
export function wantsAggregatedDiscovery(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((clause) => {
    const parts = clause.split(';').map((part) => part.trim())
    return aggregatedDiscoveryType.split(';').every((part) => parts.includes(part))
  })
}

function splitOnce(text: string): [string, string] {
  const sign = text.indexOf('=')
  return sign < 0 ? [text, ''] : [text.slice(0, sign).trim(), text.slice(sign + 1).trim()]
}
