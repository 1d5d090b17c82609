import { describe, expect, it } from 'vitest'
import type { StreamInfo } from '../../../sandbox/api/types.ts'
import type { CachePosition } from '../../cases/gateway.ts'
import { unseen } from '../../cases/streamPositions.ts'

const sent = (over: Partial<StreamInfo> = {}): StreamInfo => ({
  ...{ kind: 'Pod', namespace: '', labelSelector: '', userAgent: 'swiss-gateway', token: 't' },
  ...{ sent: '7', silent: false },
  ...over,
})
const seen = (over: Partial<CachePosition> = {}): CachePosition => ({
  ...{ kind: 'Pod', namespace: '', labelSelector: '', resourceVersion: '7', open: true },
  ...over,
})

describe('unseen', () => {
  it('is empty when each cache is where its stream is', () => {
    const selected = { kind: 'ConfigMap', namespace: 'a', labelSelector: 'x=y' }
    expect(
      unseen(
        [sent(), sent({ ...selected, sent: '9' })],
        [seen({ ...selected, resourceVersion: '9' }), seen()],
      ),
    ).toEqual([])
  })

  it('names a cache that is behind', () => {
    expect(unseen([sent({ sent: '8' })], [seen()])).toEqual(['watch Pod (sent 8, seen 7)'])
  })

  it('tells caches of one kind apart by namespace and selector', () => {
    const one = { labelSelector: 'a=b' }
    expect(unseen([sent({ ...one, sent: '8' })], [seen({ resourceVersion: '8' }), seen(one)])).toEqual([
      'watch Pod a=b (sent 8, seen 7)',
      'watch Pod (open, but not at the API server)',
    ])
  })

  it('names a stream that one side only knows of', () => {
    expect(unseen([sent()], [])).toEqual(['watch Pod (sent 7, no cache)'])
    expect(unseen([sent()], [seen({ open: false })])).toEqual(['watch Pod (sent 7, not open)'])
    expect(unseen([], [seen()])).toEqual(['watch Pod (open, but not at the API server)'])
  })

  it('does not wait for a cut stream or a silent one, nor lets that stand for the one after it', () => {
    expect(unseen([], [seen({ open: false })])).toEqual([])
    expect(unseen([sent({ silent: true, sent: '9' })], [seen()])).toEqual([])
    expect(unseen([sent({ silent: true }), sent({ sent: '9' })], [seen({ resourceVersion: '9' })])).toEqual(
      [],
    )
    expect(unseen([sent({ silent: true }), sent({ sent: '9' })], [seen()])).toEqual([
      'watch Pod (sent 9, seen 7)',
    ])
  })
})
