import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChangeCause, VersionedChange } from '../../../services/cluster/changes.ts'
import { SharedObject } from '../../../services/cluster/overlap.ts'

const deliver = (version: number, cause: ChangeCause = 'event', uid = 'u'): VersionedChange<number> => ({
  old: undefined,
  now: version,
  cause,
  namespace: 'team-a',
  name: 'x',
  uid,
  resourceVersion: String(version),
})
const leave: VersionedChange<number> = { ...deliver(0), now: undefined }

describe('an object that two streams deliver', () => {
  test('leaves only when it has left both', () => {
    const object = new SharedObject<number>()
    object.apply(0, deliver(1))
    object.apply(1, deliver(1))
    object.apply(0, leave)
    expect(object.value).toBe(1)
    object.apply(1, leave)
    expect(object.value).toBeUndefined()
  })

  test('a slower stream does not turn it back', () => {
    const object = new SharedObject<number>()
    object.apply(0, deliver(1))
    object.apply(1, deliver(1))
    object.apply(0, deliver(2))
    object.apply(0, deliver(3))
    object.apply(1, deliver(2))
    expect(object.value).toBe(3)
    object.apply(1, deliver(3))
    object.apply(1, deliver(4))
    expect(object.value).toBe(4)
    object.apply(0, deliver(4))
    expect(object.value).toBe(4)
  })

  test('a stream that comes to it later brings news, and the other one catches up in silence', () => {
    const object = new SharedObject<number>()
    object.apply(0, deliver(1))
    // Stream 1 selects the mark, which version 3 has; stream 0 has yet to deliver 2 and 3.
    expect(object.apply(1, deliver(3)).now?.value).toBe(3)
    object.apply(0, deliver(2))
    expect(object.value).toBe(3)
    object.apply(0, deliver(3))
    expect(object.value).toBe(3)
  })

  test('a stream that comes to it late brings nothing old', () => {
    const object = new SharedObject<number>()
    for (const version of [1, 2, 3]) object.apply(0, deliver(version))
    object.apply(1, deliver(2))
    expect(object.value).toBe(3)
  })

  test('a list that skipped versions is news', () => {
    const object = new SharedObject<number>()
    object.apply(0, deliver(1))
    object.apply(1, deliver(1))
    object.apply(0, deliver(2))
    object.apply(1, deliver(5, 'relist'))
    expect(object.value).toBe(5)
  })

  test('never goes back and ends at the newest, in every interleaving', () => {
    // Version v matches stream 0 always, and stream 1 where `marked` says so. Stream 0 has begun: whose first
    // sight of an object is the older one cannot be known from versions that are only compared for equality.
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.boolean()),
        (marked, coin) => {
          const object = new SharedObject<number>()
          const first = marked.map((_, index) => deliver(index + 1))
          const second: VersionedChange<number>[] = []
          marked.forEach((here, index) => {
            if (here) second.push(deliver(index + 1))
            else if (index > 0 && marked[index - 1]) second.push(leave)
          })
          const seen: number[] = []
          let one = 0
          let two = 0
          for (const heads of coin) {
            const useFirst = one === 0 || two >= second.length || (heads && one < first.length)
            const next = useFirst ? first[one++] : second[two++]
            if (!next) break
            object.apply(useFirst ? 0 : 1, next)
            if (object.value !== undefined && object.value !== seen.at(-1)) seen.push(object.value)
            if (one >= first.length && two >= second.length) break
          }
          expect(object.value).toBe(marked.length)
          // Where the mark is taken off while stream 0 is behind, its own older version is all that is known.
          if (marked.every((here, index) => here || !marked[index - 1])) {
            expect(seen).toEqual([...seen].sort((a, b) => a - b))
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
