import { describe, expect, test } from 'vitest'
import { pod } from './support/fakeApi.ts'
import { short, startReflector } from './support/harness.ts'
import { until } from './support/until.ts'

describe('list and watch', () => {
  test('lists, watches from the version of the list and reports each change once', async () => {
    const { api, reflector, changes, seen } = await startReflector({
      before: (api) => {
        api.put(pod('a'))
        api.put(pod('b'))
      },
    })
    await until('the watch', () => reflector.status().open)
    expect(short(changes)).toEqual(['+a Running relist', '+b Running relist'])
    expect(api.watchRequests[0]?.query.get('resourceVersion')).toBe('102')
    changes.length = 0
    api.put(pod('a', { phase: 'Failed' }))
    api.put(pod('c'))
    api.remove('team-a', 'b')
    await seen()
    expect(short(changes)).toEqual(['~a Running>Failed event', '+c Running event', '-b event'])
    expect(reflector.status()).toMatchObject({ state: 'synced', synced: true, lastError: null, oddLines: 0 })
  })

  test('asks for bookmarks, a server-side end between 240 and 300 s, and pages of 500', async () => {
    const { api, reflector } = await startReflector({
      labelSelector: 'app=x',
      namespace: 'team-a',
      random: () => 0.25,
    })
    await until('the watch', () => reflector.status().open)
    const query = Object.fromEntries(api.watchRequests[0]?.query ?? [])
    expect(query).toMatchObject({
      allowWatchBookmarks: 'true',
      timeoutSeconds: '255',
      labelSelector: 'app=x',
    })
    expect(Object.fromEntries(api.lists[0]?.query ?? [])).toEqual({ limit: '500', labelSelector: 'app=x' })
    expect(api.lists[0]?.path).toBe('/api/v1/namespaces/team-a/pods')
  })

  test('a bookmark moves the version from which the next watch starts', async () => {
    const { api, reflector, seen, changes } = await startReflector()
    await until('the watch', () => reflector.status().open)
    api.bookmark()
    await seen()
    api.watch.response.end()
    await until('a second watch', () => api.watchRequests.length === 2)
    expect(api.watchRequests[1]?.query.get('resourceVersion')).toBe('101')
    expect(changes).toEqual([])
  })

  test('another uid under the same name is a deletion and an addition, in a stream and in a list', async () => {
    const { api, reflector, changes, seen, clock, settle } = await startReflector({
      before: (api) => api.put(pod('a')),
    })
    await until('the watch', () => reflector.status().open)
    changes.length = 0
    api.put(pod('a', { uid: 'other', phase: 'Pending' }))
    await seen()
    expect(short(changes)).toEqual(['-a event', '+a Pending event'])
    changes.length = 0
    api.put(pod('a', { uid: 'third', phase: 'Pending' }), false)
    api.watch.send('ERROR', { kind: 'Status', code: 410, reason: 'Expired' })
    await clock.advance(1000, settle)
    await until('the list', () => changes.length === 2)
    expect(short(changes)).toEqual(['-a relist', '+a Pending relist'])
  })
})
