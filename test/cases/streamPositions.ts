import type { StreamInfo } from '../../sandbox/api/types.ts'
import type { CachePosition } from './gateway.ts'

/**
 * Names each watch stream of one gateway whose cache has not seen all that was sent, and each one that the two
 * sides do not agree about (just opened, or just cut and not noticed). A silenced stream is not waited for.
 */
export function unseen(sent: StreamInfo[], seen: CachePosition[]): string[] {
  const left = [...seen]
  const reasons: string[] = []
  // A silenced stream that the gateway has given up must not take the place of the one that came after it.
  for (const stream of [...sent].sort((a, b) => Number(a.silent) - Number(b.silent))) {
    const same = (cache: CachePosition) =>
      cache.kind === stream.kind &&
      cache.namespace === stream.namespace &&
      cache.labelSelector === stream.labelSelector
    // Where several caches ask for the same, each stream has one of its own.
    const exact = left.findIndex(
      (cache) => same(cache) && cache.open && (stream.silent || cache.resourceVersion === stream.sent),
    )
    const at = exact >= 0 ? exact : left.findIndex(same)
    const [cache] = at >= 0 ? left.splice(at, 1) : []
    if (exact < 0 && !stream.silent) {
      const position =
        cache === undefined ? 'no cache' : cache.open ? `seen ${cache.resourceVersion}` : 'not open'
      reasons.push(`${describe(stream)} (sent ${stream.sent}, ${position})`)
    }
  }
  for (const cache of left)
    if (cache.open) reasons.push(`${describe(cache)} (open, but not at the API server)`)
  return reasons
}

const describe = (stream: { kind: string; namespace: string; labelSelector: string }) =>
  ['watch', stream.kind, stream.namespace, stream.labelSelector].filter((part) => part !== '').join(' ')
