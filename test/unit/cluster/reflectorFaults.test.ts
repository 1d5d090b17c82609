import { describe, expect, test } from 'vitest'
import { KubeError } from '../../../services/cluster/errors.ts'
import { Kinds } from '../../../services/cluster/kinds.ts'
import { Reflector } from '../../../services/cluster/reflector.ts'
import { type FakeApi, failure, json, notServed, pod } from './support/fakeApi.ts'
import { short, startReflector } from './support/harness.ts'
import { turn, until } from './support/until.ts'

const EXPIRED = { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', message: 'too old' }

const withPods =
  (...names: string[]) =>
  (api: FakeApi) => {
    for (const name of names) api.put(pod(name))
  }

const isWatch = (request: { query: URLSearchParams }) => request.query.get('watch') === 'true'

describe('a version that is too old', () => {
  test('B038 (a) 410 as the HTTP status: forgets the version, lists, compares, watches on', async () => {
    const { api, reflector, changes, seen } = await startReflector({ before: withPods('a', 'b') })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    let answered = 0
    api.intercept = (request, response) =>
      isWatch(request) && answered++ === 0 && failure(response, 410, 'Expired')
    api.put(pod('a', { phase: 'Failed' }), false)
    api.watch.response.end()
    await until('the third watch', () => api.watchRequests.length === 3 && reflector.status().open)
    expect(short(changes)).toEqual(['~a Running>Failed relist'])
    api.put(pod('c'))
    await seen()
    expect(short(changes)).toEqual(['~a Running>Failed relist', '+c Running event'])
    expect(reflector.status()).toMatchObject({ state: 'synced', lastError: null })
  })

  test('B038 (b) 410 inside the stream: the same, and nothing is repeated', async () => {
    const { api, reflector, changes, seen } = await startReflector({ before: withPods('a', 'b') })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    api.put(pod('b', { phase: 'Failed' }), false)
    api.watch.send('ERROR', EXPIRED)
    await until('the list', () => api.lists.length === 2 && reflector.status().open)
    await until('the old watch is closed', () => api.watches.size === 1)
    api.put(pod('c'))
    await seen()
    expect(short(changes)).toEqual(['~b Running>Failed relist', '+c Running event'])
  })

  test('B038 (c) 410 to every watch for five minutes: growing pauses, right through the lists', async () => {
    let seed = 1
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const { api, reflector, state, clock, settle, lines } = await startReflector({
      random,
      before: (api) => {
        api.put(pod('a'))
        api.intercept = (request, response) => isWatch(request) && failure(response, 410, 'Expired')
      },
    })
    await settle()
    api.put(pod('b'))
    await clock.advance(300_000, settle)
    expect(api.lists.length).toBeGreaterThan(3)
    expect(api.lists.length).toBeLessThan(20)
    expect(state()).toEqual(['a Running', 'b Running'])
    expect(reflector.status()).toMatchObject({ state: 'failing', synced: true })
    expect(lines.filter((line) => line.level === 'warn')).toHaveLength(1)
    api.intercept = () => false
    await clock.advance(60_000, settle)
    expect(reflector.status()).toMatchObject({ state: 'synced', open: true, lastError: null })
  })
})

describe('deletions that were missed', () => {
  test('B039 (a) while the connection was down: found by comparison', async () => {
    const { api, reflector, changes, clock, settle } = await startReflector({ before: withPods('x', 'y') })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    api.intercept = (request, response) => isWatch(request) && failure(response, 410, 'Expired')
    api.watch.response.destroy()
    api.remove('team-a', 'x', false)
    await until('the list', () => api.lists.length === 2)
    api.intercept = () => false
    await clock.advance(10_000, settle)
    expect(short(changes)).toEqual(['-x relist'])
    expect(reflector.status().open).toBe(true)
  })

  test('B039 (b) between the list and the watch: the watch starts at the version of the list', async () => {
    const { changes, seen } = await startReflector({
      before: (api) => {
        api.put(pod('x'))
        const listed = api.version
        api.intercept = (request, response) => {
          if (!isWatch(request)) return false
          const watch = api.openWatch(request, response)
          expect(request.query.get('resourceVersion')).toBe(String(listed))
          watch.send('DELETED', { ...pod('x'), metadata: { ...pod('x').metadata, resourceVersion: '150' } })
          return true
        }
      },
    })
    await seen(150)
    expect(short(changes)).toEqual(['+x Running relist', '-x event'])
  })

  test('B039 (c) what an ended stream had sent does not bring an object back after the list', async () => {
    const { api, reflector, changes, state, seen } = await startReflector({ before: withPods('y') })
    await until('the watch', () => reflector.status().open)
    const z = { ...pod('z'), metadata: { ...pod('z').metadata, resourceVersion: '103' } }
    const old = api.watch
    // In one write: the end of the stream, and behind it an event that nobody may apply any more.
    old.raw(
      `${JSON.stringify({ type: 'ERROR', object: EXPIRED })}\n${JSON.stringify({ type: 'ADDED', object: z })}\n`,
    )
    await until('the next watch', () => api.watchRequests.length === 2 && reflector.status().open)
    old.raw(`${JSON.stringify({ type: 'ADDED', object: z })}\n`)
    api.put(pod('w'))
    await seen()
    expect(state()).toEqual(['w Running', 'y Running'])
    expect(short(changes)).toEqual(['+y Running relist', '+w Running event'])
  })
})

describe('connections', () => {
  test('B041 a silent connection is cut after 75 to 90 s and what was missed is found', async () => {
    const { api, reflector, changes, clock, settle } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    api.remove('team-a', 'x', false)
    await clock.advance(74_000, settle)
    expect(api.watchRequests).toHaveLength(1)
    expect(reflector.status()).toMatchObject({ open: true, openSince: clock.now() - 74_000 })
    await clock.advance(16_000, settle)
    await until('the next watch', () => api.watchRequests.length === 2 && reflector.status().open)
    expect(short(changes)).toEqual(['-x relist'])
    await until('one watch', () => api.watches.size === 1)
  })

  test('without bookmarks, but with events, a connection is not taken for silent', async () => {
    const { api, reflector, clock, settle, seen } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    for (let minute = 0; minute < 3; minute++) {
      await clock.advance(60_000, settle)
      api.put(pod('x', { phase: `Phase${minute}` }))
      await seen()
    }
    expect(api.watchRequests).toHaveLength(1)
    expect(api.lists).toHaveLength(1)
  })

  test.each([
    ['(1) the socket is destroyed after the headers', 'destroy'],
    ['(2) the connection is reset in mid-stream', 'reset'],
    ['(3) HTTP 500', 500],
    ['(4) HTTP 503', 503],
    ['(5) a clean end', 'end'],
  ] as const)('B042 %s: the next change is seen', async (_, how) => {
    const { api, reflector, changes, clock, settle } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    if (typeof how === 'number') {
      let refusals = 0
      api.intercept = (request, response) =>
        isWatch(request) && refusals++ < 2 && failure(response, how, 'InternalError')
    }
    if (how === 'reset') {
      api.watch.raw('{"type":"MODI')
      api.watch.response.socket?.resetAndDestroy()
    } else if (how === 'destroy') api.watch.response.destroy()
    else api.watch.response.end()
    // Nobody is told while the watch is away; the next watch or list has to bring it.
    await until('the old watch is gone', () => api.watches.size === 0 || api.watchRequests.length > 1)
    api.put(pod('x', { phase: 'Failed' }))
    await clock.advance(5_000, settle)
    await until('a watch', () => reflector.status().open && api.watches.size === 1)
    if (changes.length === 0) {
      api.put(pod('x', { phase: 'Gone' }))
      await until('the change', () => changes.length > 0)
    }
    expect(changes.length).toBe(1)
    expect(reflector.status()).toMatchObject({ state: 'synced', lastError: null })
  })

  test('B042 (6) a watch that ends at once again and again is slowed down, and each change is seen', async () => {
    const { api, reflector, changes, clock, settle, lines } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    let round = 0
    api.intercept = (request, response) => {
      if (!isWatch(request)) return false
      const watch = api.openWatch(request, response)
      const stored = api.put(pod('x', { phase: `Round${++round}` }), false)
      watch.send('MODIFIED', stored)
      response.end()
      return true
    }
    api.watch.response.end()
    await clock.advance(60_000, settle)
    // 0, then halves of 1, 2, 4, 8, 16, 32 … s.
    expect(api.watchRequests.length).toBeGreaterThan(5)
    expect(api.watchRequests.length).toBeLessThan(10)
    expect(changes).toHaveLength(round)
    expect(api.lists).toHaveLength(1)
    expect(reflector.status()).toMatchObject({ state: 'failing', synced: true })
    expect(lines.filter((line) => line.level === 'warn')).toHaveLength(1)
  })

  test('B043 many breaks and many clean ends: one watch at a time, no event twice, nothing left after stop', async () => {
    const { api, reflector, stop, changes, clock, settle } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    const timers = clock.pending
    for (let round = 0; round < 220; round++) {
      const before = api.watchRequests.length
      if (round < 20) api.watch.response.destroy()
      else api.watch.response.end()
      await until('the end', () => !reflector.status().open || api.watchRequests.length > before)
      for (let tries = 0; api.watchRequests.length === before && tries < 100; tries++) {
        await clock.advance(31_000, settle)
      }
      await until('the next watch', () => api.watchRequests.length === before + 1 && reflector.status().open)
      // A good watch, so that the next break is answered at once.
      await clock.advance(31_000, settle)
      api.put(pod('x', { phase: `Round${round}` }))
      await until('the event', () => changes.length === round + 1)
    }
    expect(api.peakWatches).toBe(1)
    expect(clock.pending).toBe(timers)
    stop()
    await until('no watch', () => api.watches.size === 0)
    const requests = api.requests.length
    await clock.advance(600_000, settle)
    expect(api.requests).toHaveLength(requests)
    expect(clock.pending).toBe(0)
  })

  test('B044 a refused connection and odd lines do no harm; the good event behind them is applied', async () => {
    const { api, reflector, changes, clock, settle, lines, seen } = await startReflector({
      before: withPods('x'),
    })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    const good = JSON.stringify({ type: 'MODIFIED', object: api.put(pod('x', { phase: 'Failed' }), false) })
    const odd = [
      '{"type":"ADD',
      '',
      'null',
      '{"object":{}}',
      '{"type":"NEW","object":{}}',
      '{"type":"ADDED"}',
      '7',
    ]
    api.watch.raw(`${[...odd, good].join('\n')}\n`)
    await seen()
    expect(short(changes)).toEqual(['~x Running>Failed event'])
    expect(reflector.status()).toMatchObject({ oddLines: 6, state: 'synced', open: true })
    expect(lines.filter((line) => line.level === 'warn')).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain('"ADD')

    let refusals = 0
    api.intercept = (request, response) => {
      if (refusals++ >= 6) return false
      request.query.has('watch')
      response.destroy()
      return true
    }
    api.watch.response.destroy()
    api.put(pod('y'), false)
    await clock.advance(120_000, settle)
    await until('a list', () => changes.length === 2)
    expect(short(changes)[1]).toBe('+y Running relist')
    expect(reflector.status().state).toBe('synced')
  })

  test('a line that is cut off by the end of the stream is no event', async () => {
    const { api, reflector, changes, state } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    api.watch.raw('{"type":"DELETED","object":{"metadata":{"name":"x","namespa')
    api.watch.response.end()
    await until('the next watch', () => api.watchRequests.length === 2)
    expect(state()).toEqual(['x Running'])
    expect(changes).toHaveLength(1)
    expect(reflector.status().oddLines).toBe(1)
  })

  test('a character that is split over two chunks arrives whole', async () => {
    const { api, reflector, changes, seen } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    const bytes = Buffer.from(
      `${JSON.stringify({ type: 'MODIFIED', object: api.put(pod('x', { phase: 'Läuft 🚀' }), false) })}\n`,
    )
    const inside = bytes.indexOf(Buffer.from('🚀')) + 2
    api.watch.raw(bytes.subarray(0, inside))
    await new Promise((resolve) => api.watch.response.write('', resolve))
    await new Promise((resolve) => setImmediate(resolve))
    api.watch.raw(bytes.subarray(inside))
    await seen()
    expect(changes.at(-1)?.now).toEqual({ name: 'x', phase: 'Läuft 🚀' })
  })
})

describe('replays', () => {
  test('B045 identical objects after a reconnect, new versions of the same and a second ADDED change nothing', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `p${index}`)
    const { api, reflector, changes, settle, clock } = await startReflector({ before: withPods(...names) })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    for (let round = 0; round < 10; round++) {
      await clock.advance(31_000, settle)
      const before = api.watchRequests.length
      api.watch.response.end()
      await until('the next watch', () => api.watchRequests.length === before + 1 && reflector.status().open)
      for (const object of api.objects.values()) api.watch.send('ADDED', object)
      // A new version whose kept part is the same, as the kubelet writes every few seconds.
      for (const name of names.slice(0, 10)) api.put(pod(name))
      const last = api.put(pod('p0'))
      api.watch.send('ADDED', last)
      await until('all applied', () => reflector.status().resourceVersion === last.metadata.resourceVersion)
    }
    expect(changes).toEqual([])
  })

  test('B045 items of a list without kind and apiVersion are kept like those of a watch', async () => {
    const { api, reflector, changes, seen } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    const [listed] = api.objects.values()
    api.watch.send('MODIFIED', {
      ...listed,
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { ...listed?.metadata, resourceVersion: '500' },
    })
    await seen(500)
    expect(changes).toHaveLength(1)
  })

  test('older versions that are sent again do not turn back what is known', async () => {
    const { api, reflector, changes, state, seen } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    const [first] = api.objects.values()
    const second = api.put(pod('x', { phase: 'Failed' }))
    api.put(pod('y'))
    api.remove('team-a', 'y')
    await seen()
    changes.length = 0
    const y = { ...pod('y'), metadata: { ...pod('y').metadata, resourceVersion: '103' } }
    for (const object of [first, second, y]) api.watch.send('ADDED', object)
    api.bookmark()
    await seen()
    expect(changes).toEqual([])
    expect(state()).toEqual(['x Failed'])
  })

  test('an object that leaves the selector and comes back is taken away and added', async () => {
    const { api, reflector, changes, seen } = await startReflector({
      labelSelector: 'app=x',
      before: withPods('x'),
    })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    api.remove('team-a', 'x')
    api.put(pod('x'))
    await seen()
    expect(short(changes)).toEqual(['-x event', '+x Running event'])
  })
})

describe('a busy or failing API server', () => {
  test('B049 429 with Retry-After: 7 on lists: at least 7 s between tries, with jitter', async () => {
    const times: number[] = []
    const box: { now?: () => number } = {}
    const { clock, settle, reflector, api } = await startReflector({
      random: () => 0.9,
      before: (api) => {
        api.intercept = (_, response) => {
          times.push(box.now?.() ?? 0)
          return failure(response, 429, 'TooManyRequests', { 'Retry-After': '7' })
        }
      },
    })
    box.now = clock.now
    times.length = 0
    await clock.advance(60_000, settle)
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    expect(gaps.length).toBeGreaterThan(0)
    for (const gap of gaps) expect(gap).toBeGreaterThan(7_000)
    expect(reflector.status()).toMatchObject({ state: 'failing', synced: false })
    api.intercept = () => false
    await clock.advance(60_000, settle)
    expect(reflector.status()).toMatchObject({ state: 'synced', synced: true, open: true })
  })

  test('B049 20,000 events at once and then a close: all applied, without holding up the event loop', async () => {
    const { api, reflector, state, changes, seen } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    const lines: string[] = []
    for (let count = 0; count < 20_000; count++) {
      lines.push(
        JSON.stringify({ type: 'MODIFIED', object: api.put(pod('x', { phase: `N${count}` }), false) }),
      )
    }
    const bytes = Buffer.from(`${lines.join('\n')}\n`)
    for (let at = 0; at < bytes.length; at += 65_536) api.watch.raw(bytes.subarray(at, at + 65_536))
    api.watch.response.end()
    let most = 0
    for (let before = changes.length; state()[0] !== 'x N19999'; before = changes.length) {
      await turn()
      most = Math.max(most, changes.length - before)
    }
    await seen()
    expect(changes).toHaveLength(20_001)
    // Other work had its turns in between; how long each took is for the benchmark.
    expect(most).toBeLessThan(2_500)
    await until('the next watch', () => api.watchRequests.length === 2)
  })

  test('an expired continue token starts the list over, and no object is lost or doubled', async () => {
    let expired = 0
    const { api, reflector, state } = await startReflector({
      before: (api) => {
        for (let count = 0; count < 1_200; count++) api.put(pod(`p${count}`))
        api.intercept = (request, response) =>
          request.query.get('continue') === '500' && expired++ === 0 && failure(response, 410, 'Expired')
      },
    })
    await until('the watch', () => reflector.status().open)
    expect(state()).toHaveLength(1_200)
    expect(api.lists.map((request) => request.query.get('continue'))).toEqual([
      null,
      '500',
      null,
      '500',
      '1000',
    ])
  })

  test('an answer that is no list never reads as an empty one', async () => {
    const { api, reflector, state, clock, settle } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    api.intercept = (request, response) =>
      isWatch(request)
        ? failure(response, 410, 'Expired')
        : json(response, 200, { kind: 'Nonsense', metadata: { resourceVersion: '900' } })
    api.watch.response.end()
    await clock.advance(5_000, settle)
    expect(state()).toEqual(['x Running'])
    expect(reflector.status()).toMatchObject({ state: 'failing', synced: true })
    api.intercept = (_, response) => {
      response.end('<html>please log in</html>')
      return true
    }
    await clock.advance(60_000, settle)
    expect(state()).toEqual(['x Running'])
  })

  test('a list of nothing with items: null is an empty list', async () => {
    const { reflector } = await startReflector({
      before: (api) => {
        api.intercept = (request, response) =>
          !isWatch(request) &&
          json(response, 200, {
            kind: 'PartialObjectMetadataList',
            metadata: { resourceVersion: '7' },
            items: null,
          })
      },
    })
    await until('the watch', () => reflector.status().open)
    expect(reflector.status()).toMatchObject({ state: 'synced', resourceVersion: '7' })
  })

  test('B048 a 401 is never read as "nothing there": objects stay until the new token works', async () => {
    const { api, reflector, state, changes, clock, settle } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    api.intercept = (_, response) => failure(response, 401, 'Unauthorized')
    api.watch.response.end()
    await clock.advance(60_000, settle)
    expect(state()).toEqual(['x Running'])
    expect(reflector.status()).toMatchObject({ state: 'failing', synced: true })
    expect(reflector.status().lastError).toContain('Unauthorized')
    api.intercept = () => false
    await clock.advance(60_000, settle)
    expect(reflector.status()).toMatchObject({ state: 'synced', open: true })
    expect(changes).toHaveLength(1)
  })

  test('a server that was restored to an older state is found out by a list', async () => {
    const { api, reflector, state, clock, settle } = await startReflector({ before: withPods('x', 'y') })
    await until('the watch', () => reflector.status().open)
    // A watch from a version in the future is silent.
    api.version = 50
    api.objects.delete('team-a/y')
    await clock.advance(95_000, settle)
    await until('the list', () => state().length === 1)
    expect(state()).toEqual(['x Running'])
    expect(reflector.status().resourceVersion).toBe('50')
  })
})

describe('forbidden and absent kinds', () => {
  test('B083 an optional kind that is forbidden is settled as none, looked for every 30 s, and comes by itself', async () => {
    const { api, reflector, changes, clock, settle, lines } = await startReflector({
      kind: Kinds.LLMService,
      optional: true,
      before: (api) => {
        api.put(pod('talk'))
        api.intercept = (_, response) => failure(response, 403, 'Forbidden')
      },
    })
    // An API server that has just started would answer the same, for a moment.
    await clock.advance(13_000, settle)
    expect(reflector.status()).toMatchObject({ state: 'forbidden', synced: true, open: false })
    const before = api.requests.length
    await clock.advance(300_000, settle)
    expect(api.requests.length - before).toBe(10)
    expect(lines.filter((line) => line.level !== 'debug')).toHaveLength(1)
    api.intercept = () => false
    await clock.advance(31_000, settle)
    await until('the watch', () => reflector.status().open)
    expect(short(changes)).toEqual(['+talk Running relist'])
    expect(reflector.status()).toMatchObject({ state: 'synced', lastError: null })
  })

  test('a CRD that appears later is found within 30 s, and watched', async () => {
    const { api, reflector, changes, clock, settle, seen } = await startReflector({
      kind: Kinds.LLMService,
      optional: true,
      before: (api) => {
        api.intercept = (_, response) => notServed(response)
      },
    })
    await until('settled', () => reflector.status().state === 'absent')
    expect(reflector.status().synced).toBe(true)
    api.intercept = () => false
    api.put(pod('talk'))
    await clock.advance(31_000, settle)
    await until('the watch', () => reflector.status().open)
    api.put(pod('talk', { phase: 'Failed' }))
    await seen()
    expect(short(changes)).toEqual(['+talk Running relist', '~talk Running>Failed event'])
  })

  test('a CRD that is taken away while it is watched: the stream ends, the objects leave as unreadable', async () => {
    const { api, reflector, changes } = await startReflector({
      kind: Kinds.LLMService,
      optional: true,
      before: withPods('talk', 'rank'),
    })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    api.intercept = (_, response) => notServed(response)
    api.watch.response.end()
    await until('absent', () => reflector.status().state === 'absent')
    expect(short(changes)).toEqual(['-talk unreadable', '-rank unreadable'])
  })

  test('an optional kind that fails in another way keeps its objects', async () => {
    const { api, reflector, state, clock, settle } = await startReflector({
      kind: Kinds.LLMService,
      optional: true,
      before: withPods('talk'),
    })
    await until('the watch', () => reflector.status().open)
    api.intercept = (_, response) => failure(response, 500, 'InternalError')
    api.watch.response.destroy()
    await clock.advance(600_000, settle)
    expect(state()).toEqual(['talk Running'])
    expect(reflector.status().state).toBe('failing')
    api.intercept = () => false
    await clock.advance(61_000, settle)
    expect(reflector.status().state).toBe('synced')
  })

  test('B081 a kind that may not be listed is reported so, which is not the same as empty', async () => {
    const { api, reflector, state, clock, settle } = await startReflector({
      namespace: 'team-b',
      before: (api) => {
        api.intercept = (_, response) => failure(response, 403, 'Forbidden')
      },
    })
    await clock.advance(13_000, settle)
    expect(reflector.status()).toMatchObject({ state: 'forbidden', synced: true, namespace: 'team-b' })
    expect(reflector.status().lastError).toContain('team-b')
    expect(state()).toEqual([])
    api.intercept = () => false
    api.put(pod('x', { namespace: 'team-b' }))
    await clock.advance(31_000, settle)
    expect(state()).toEqual(['x Running'])
  })

  test('a right that is taken away for a while does not empty a kind that has to be there', async () => {
    const { api, reflector, state, clock, settle } = await startReflector({ before: withPods('x') })
    await until('the watch', () => reflector.status().open)
    api.intercept = (_, response) => failure(response, 403, 'Forbidden')
    api.watch.response.end()
    await clock.advance(60_000, settle)
    expect(reflector.status().state).toBe('forbidden')
    expect(state()).toEqual(['x Running'])
  })

  test('an API server that has just started and refuses everybody for a moment takes nothing away', async () => {
    const { api, reflector, state, changes, clock, settle } = await startReflector({
      kind: Kinds.LLMService,
      optional: true,
      before: withPods('talk'),
    })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    api.intercept = (_, response) => failure(response, 403, 'Forbidden')
    api.watch.response.destroy()
    await until('the list', () => api.lists.length === 2)
    await clock.advance(6_000, settle)
    expect(state()).toEqual(['talk Running'])
    expect(reflector.status()).toMatchObject({ state: 'failing', synced: true })
    api.intercept = () => false
    await clock.advance(2_600, settle)
    await until('the watch', () => reflector.status().open)
    expect(reflector.status().state).toBe('synced')
    expect(changes).toEqual([])
  })

  test('nor does it make anybody believe that there is nothing when it is asked for the first time', async () => {
    const { api, reflector, state, clock, settle } = await startReflector({
      before: (api) => {
        api.put(pod('x'))
        api.intercept = (_, response) => failure(response, 403, 'Forbidden')
      },
    })
    await clock.advance(6_000, settle)
    expect(reflector.status()).toMatchObject({ state: 'failing', synced: false })
    api.intercept = () => false
    await clock.advance(2_600, settle)
    await until('the watch', () => reflector.status().open)
    expect(state()).toEqual(['x Running'])
  })

  test('a right that is taken away for good empties an optional kind after ten seconds', async () => {
    const { api, reflector, changes, clock, settle } = await startReflector({
      kind: Kinds.LLMService,
      optional: true,
      before: withPods('talk'),
    })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    api.intercept = (_, response) => failure(response, 403, 'Forbidden')
    api.watch.response.destroy()
    await until('the list', () => api.lists.length === 2)
    await clock.advance(9_000, settle)
    expect(changes).toEqual([])
    await clock.advance(4_000, settle)
    expect(short(changes)).toEqual(['-talk unreadable'])
    expect(reflector.status().state).toBe('forbidden')
  })

  test('where only the watch is forbidden the lists go on, slowly, and the trouble is shown', async () => {
    const { api, reflector, state, clock, settle, lines } = await startReflector({
      kind: Kinds.LLMService,
      optional: true,
      before: (api) => {
        api.put(pod('talk'))
        api.intercept = (request, response) => isWatch(request) && failure(response, 403, 'Forbidden')
      },
    })
    await clock.advance(300_000, settle)
    expect(state()).toEqual(['talk Running'])
    expect(api.lists.length).toBeLessThan(20)
    expect(reflector.status()).toMatchObject({ state: 'failing', synced: true })
    expect(lines.filter((line) => line.level === 'warn')).toHaveLength(1)
  })

  test('a kind that has to be there and answers 404 is a failure, not an absence', async () => {
    const { reflector, clock, settle } = await startReflector({
      before: (api) => {
        api.intercept = (_, response) => notServed(response)
      },
    })
    await clock.advance(60_000, settle)
    expect(reflector.status()).toMatchObject({ state: 'failing', synced: false })
  })
})

test('after a stop nothing is applied, not even what came in the same chunk', async () => {
  const first = await startReflector()
  const { api, client, clock, logger } = first
  await until('the watch of another one', () => first.reflector.status().open)
  const names: string[] = []
  let stop = (): void => {}
  const reflector = new Reflector<{ name: string }>({
    client,
    kind: Kinds.Pod,
    clock,
    logger,
    random: () => 0.5,
    trim: ({ metadata }) => ({ name: metadata.name }),
    onChange: ({ name }) => {
      names.push(name)
      stop()
    },
  })
  stop = reflector.start()
  await until('both watches', () => api.watches.size === 2 && reflector.status().open)
  expect(() => reflector.start()).toThrow(/started before/)
  const [, own] = api.watches
  const line = (name: string) => JSON.stringify({ type: 'ADDED', object: api.put(pod(name), false) })
  own?.raw(`${line('a')}\n${line('b')}\n`)
  await until('the end', () => api.watches.size === 1)
  expect(names).toEqual(['a'])
})

test('a killed client ends the reflector: no request, no timer, no change', async () => {
  const { api, client, reflector, changes, clock, settle } = await startReflector({ before: withPods('x') })
  await until('the watch', () => reflector.status().open)
  const requests = api.requests.length
  client.kill()
  await until('no watch', () => api.watches.size === 0)
  await clock.advance(600_000, settle)
  expect(api.requests).toHaveLength(requests)
  expect(clock.pending).toBe(0)
  expect(changes).toHaveLength(1)
  await expect(client.get(Kinds.Pod, { namespace: 'team-a', name: 'x' })).rejects.toThrow(KubeError)
})
