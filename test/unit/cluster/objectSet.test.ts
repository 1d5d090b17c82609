import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../services/cluster/kinds.ts'
import { type Kept, ObjectSet } from '../../../services/cluster/objectSet.ts'
import type { WatchEvent } from '../../../services/cluster/watchStream.ts'
import { pod } from './support/fakeApi.ts'
import { short, type Trimmed, trimPod } from './support/harness.ts'

const at = (object: KubeObject, resourceVersion: number | string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(resourceVersion) },
})
const event = (type: WatchEvent['type'], object: KubeObject): WatchEvent => ({
  type,
  object: structuredClone(object),
})

function makeSet() {
  const bad: unknown[] = []
  return { set: new ObjectSet<Trimmed>(trimPod, (error) => bad.push(error)), bad }
}

describe('ObjectSet', () => {
  test('an object that trim does not want is not there, and comes and goes as trim says', () => {
    const set = new ObjectSet<Trimmed>(
      (raw) => (trimPod(raw).phase === 'Hidden' ? null : trimPod(raw)),
      () => {},
    )
    expect(set.apply(event('ADDED', at(pod('a', { phase: 'Hidden' }), 1)))).toEqual([])
    expect(short(set.apply(event('MODIFIED', at(pod('a'), 2))))).toEqual(['+a Running event'])
    expect(short(set.apply(event('MODIFIED', at(pod('a', { phase: 'Hidden' }), 3))))).toEqual(['-a event'])
    expect(set.apply(event('DELETED', at(pod('a'), 4)))).toEqual([])
  })

  test('an object that trim throws at stays as it was known, also in a list', () => {
    const { set, bad } = makeSet()
    set.apply(event('ADDED', at(pod('a'), 1)))
    const broken = at({ ...pod('a'), status: null }, 2)
    expect(set.apply(event('MODIFIED', broken))).toEqual([])
    expect(set.replace([set.keep(structuredClone(at(broken, 3)))])).toEqual([])
    expect(bad).toHaveLength(2)
    expect(short(set.apply(event('DELETED', at(pod('a'), 4))))).toEqual(['-a event'])
  })

  test('equal content under a new version keeps the object itself', () => {
    const { set } = makeSet()
    const [added] = set.apply(event('ADDED', at(pod('a'), 1)))
    set.apply(event('MODIFIED', at(pod('a'), 2)))
    const [changed] = set.apply(event('MODIFIED', at(pod('a', { phase: 'Failed' }), 3)))
    expect(changed?.old).toBe(added?.now)
  })

  test('a DELETED that carries the last version instead of a new one is taken as well', () => {
    const { set } = makeSet()
    set.apply(event('ADDED', at(pod('a'), 1)))
    expect(short(set.apply(event('DELETED', at(pod('a'), 1))))).toEqual(['-a event'])
    expect(set.apply(event('ADDED', at(pod('a'), 1)))).toEqual([])
  })

  test('a list is the truth: it may bring back what was deleted, and old versions', () => {
    const { set } = makeSet()
    set.apply(event('ADDED', at(pod('a'), 1)))
    set.apply(event('MODIFIED', at(pod('a', { phase: 'Failed' }), 2)))
    expect(short(set.replace([set.keep(at(pod('a'), 1))]))).toEqual(['~a Failed>Running relist'])
    // The server was restored: it gives out again the versions it had given out before.
    expect(short(set.apply(event('MODIFIED', at(pod('a', { phase: 'Other' }), 2))))).toEqual([
      '~a Running>Other event',
    ])
    set.apply(event('DELETED', at(pod('a'), 3)))
    expect(short(set.replace([set.keep(at(pod('a'), 1))]))).toEqual(['+a Running relist'])
  })

  test('clear lets everything go as unreadable', () => {
    const { set } = makeSet()
    set.apply(event('ADDED', at(pod('a'), 1)))
    expect(short(set.clear())).toEqual(['-a unreadable'])
    expect(set.size).toBe(0)
    expect(short(set.apply(event('ADDED', at(pod('a'), 1))))).toEqual(['+a Running event'])
  })

  test('folding the changes gives what the API server has, whatever breaks on the way', () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('put' as const), name: fc.nat(4), phase: fc.nat(3) }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), name: fc.nat(4) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('recreate' as const), name: fc.nat(4) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('replay' as const), from: fc.nat(20) }) },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('away' as const),
          during: fc.array(fc.nat(4), { maxLength: 3 }),
        }),
      },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { set } = makeSet()
        const server = new Map<string, KubeObject>()
        const sent: WatchEvent[] = []
        const folded = new Map<string, Trimmed>()
        let version = 0
        const fold = (changes: ReturnType<typeof set.apply>) => {
          for (const { old, now, name } of changes) {
            expect(old).toEqual(folded.get(name))
            expect(now).not.toEqual(old)
            if (now) folded.set(name, now)
            else folded.delete(name)
          }
        }
        const tell = (type: WatchEvent['type'], object: KubeObject) => {
          sent.push(event(type, object))
          fold(set.apply(event(type, object)))
        }
        const remove = (name: string) => {
          const object = server.get(name)
          if (!object) return
          server.delete(name)
          tell('DELETED', at(object, ++version))
        }
        const put = (name: string, phase: string, uid: string) => {
          const type = server.has(name) ? 'MODIFIED' : 'ADDED'
          const object = at(pod(name, { phase, uid }), ++version)
          server.set(name, object)
          tell(type, object)
        }
        for (const one of steps) {
          if (one.do === 'put') {
            const name = `p${one.name}`
            put(name, `Phase${one.phase}`, server.get(name)?.metadata.uid ?? `uid-${version}`)
          } else if (one.do === 'remove') remove(`p${one.name}`)
          else if (one.do === 'recreate') {
            remove(`p${one.name}`)
            put(`p${one.name}`, 'Fresh', `uid-${version}`)
          } else if (one.do === 'replay') {
            for (const old of sent.slice(-one.from)) fold(set.apply(structuredClone(old)))
          } else {
            for (const name of one.during) {
              if (server.has(`p${name}`)) server.delete(`p${name}`)
              else server.set(`p${name}`, at(pod(`p${name}`, { uid: `uid-${version}` }), ++version))
            }
            const listed: Kept<Trimmed>[] = [...server.values()].map((object) =>
              set.keep(structuredClone(object)),
            )
            fold(set.replace(listed))
            sent.length = 0
          }
          expect(Object.fromEntries(folded)).toEqual(
            Object.fromEntries([...server].map(([name, object]) => [name, trimPod(object)])),
          )
        }
      }),
    )
  })
})
