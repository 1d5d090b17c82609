import type { Json } from '../json.ts'
import type { Subject } from '../probe.ts'
import { asTable, mergePatch, partial, partialList } from '../session.ts'
import { configMap, defineWidgets, pod, secret } from './objects.ts'

const initial = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

export const watches: Subject = {
  name: 'watches',
  probes: [
    {
      name: 'every change once, in order, from the version of a list; a write that changes nothing sends none',
      async run(s) {
        const path = s.path('secrets')
        await s.prepare('POST', path, secret('before'))
        const { metadata } = await s.prepare('GET', path)
        const watch = await s.watch(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}`)
        await s.prepare('POST', path, secret('a'))
        await s.prepare('PATCH', `${path}/a`, { metadata: { labels: { x: '1' } } }, { type: mergePatch })
        await s.prepare('PATCH', `${path}/a`, { metadata: { labels: { x: '1' } } }, { type: mergePatch })
        await s.prepare('PATCH', `${path}/a`, { metadata: { labels: { x: '2' } } }, { type: mergePatch })
        await s.prepare('DELETE', `${path}/a`)
        await s.prepare('POST', path, secret('a'))
        await watch.events(5)
      },
    },
    {
      name: 'from a version back then: what has been missed, and then what comes',
      async run(s) {
        const path = s.path('secrets')
        const { metadata } = await s.prepare('GET', path)
        await s.prepare('POST', path, secret('a'))
        await s.prepare('PATCH', `${path}/a`, { metadata: { labels: { x: '1' } } }, { type: mergePatch })
        await s.prepare('DELETE', `${path}/a`)
        const watch = await s.watch(`${path}?watch=1&resourceVersion=${metadata.resourceVersion}`)
        await watch.events(3)
        await s.prepare('POST', path, secret('b'))
        await watch.events(1)
      },
    },
    {
      name: 'without a version, and from version 0: what is there first',
      async run(s) {
        const path = s.path('secrets')
        await s.prepare('POST', path, secret('a'))
        await s.prepare('POST', path, secret('b'))
        const without = await s.watch(`${path}?watch=true`)
        await without.events(2)
        const zero = await s.watch(`${path}?watch=true&resourceVersion=0`)
        await zero.events(2)
        await s.prepare('POST', path, secret('c'))
        await without.events(1)
        await zero.events(1)
      },
    },
    {
      name: 'an object that leaves a label selector is told as DELETED, with its old labels and the new version',
      async run(s) {
        const path = s.path('secrets')
        const { metadata } = await s.prepare('GET', path)
        const watch = await s.watch(
          `${path}?watch=true&labelSelector=app%3Dx&resourceVersion=${metadata.resourceVersion}`,
        )
        await s.prepare('POST', path, secret('a', { labels: { app: 'x' } }))
        await s.prepare('POST', path, secret('other', { labels: { app: 'y' } }))
        await s.prepare('PATCH', `${path}/a`, { metadata: { labels: { app: 'y' } } }, { type: mergePatch })
        await s.prepare('PATCH', `${path}/a`, { metadata: { labels: { more: '1' } } }, { type: mergePatch })
        await s.prepare('PATCH', `${path}/a`, { metadata: { labels: { app: 'x' } } }, { type: mergePatch })
        await s.prepare('DELETE', `${path}/other`)
        await s.prepare('DELETE', `${path}/a`)
        await watch.events(4)
        await s.call('GET', `${path}/a`)
      },
    },
    {
      name: 'a field selector, as kubectl waits for one object',
      async run(s) {
        const path = s.path('pods')
        await s.prepare('POST', path, pod('a'))
        await s.prepare('POST', path, pod('b'))
        const watch = await s.watch(`${path}?${initial}&fieldSelector=metadata.name%3Da`, {
          accept: partial,
        })
        await watch.events(2)
        await s.prepare('DELETE', `${path}/b`)
        await s.prepare('DELETE', `${path}/a`)
        await watch.events(1)
        const none = await s.watch(`${path}?${initial}&fieldSelector=metadata.name%3Dnone`, {
          accept: partial,
        })
        await none.events(1)
        const phase = await s.watch(`${path}?watch=true&fieldSelector=status.phase%3DRunning`)
        await s.prepare('POST', path, pod('c', { nodeName: 'nowhere' }))
        for (const to of ['Running', 'Failed']) {
          await s.prepare('PATCH', `${path}/c/status`, { status: { phase: to } }, { type: mergePatch })
        }
        await phase.events(2)
      },
    },
    {
      name: 'sendInitialEvents: the list as events, its end as a bookmark with a mark',
      async run(s) {
        const path = s.path('secrets')
        const empty = await s.watch(`${path}?${initial}`)
        await empty.events(1)
        await s.prepare('POST', path, secret('a'))
        await s.prepare('POST', path, secret('b', { labels: { app: 'x' } }))
        const whole = await s.watch(`${path}?${initial}`)
        await whole.events(3)
        const some = await s.watch(`${path}?${initial}&labelSelector=app%3Dx`)
        await some.events(2)
        const metadataOnly = await s.watch(`${path}?${initial}`, { accept: partial })
        await metadataOnly.events(3)
        const { metadata } = await s.prepare('GET', path)
        const since = await s.watch(`${path}?${initial}&resourceVersion=${metadata.resourceVersion}`)
        await since.events(3)
        await s.prepare('DELETE', `${path}/a`)
        await whole.events(1)
        await metadataOnly.events(1)
        await since.events(1)
      },
    },
    {
      name: 'sendInitialEvents: no bookmarks asked for, and none of the list',
      async run(s) {
        const path = s.path('secrets')
        await s.prepare('POST', path, secret('a'))
        const options = 'watch=true&resourceVersionMatch=NotOlderThan'
        const silent = await s.watch(`${path}?${options}&sendInitialEvents=true`)
        const never = await s.watch(`${path}?${options}&sendInitialEvents=false&allowWatchBookmarks=true`)
        await silent.events(1)
        await s.prepare('POST', path, secret('b'))
        await silent.events(1)
        await never.events(1)
      },
    },
    {
      name: 'options that make no sense',
      async run(s) {
        const path = s.path('secrets')
        await s.watch(`${path}?watch=true&sendInitialEvents=true`)
        await s.watch(`${path}?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact`)
        await s.watch(`${path}?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=5000`)
        await s.watch(`${path}?watch=true&resourceVersion=abc`)
        await s.watch(`${path}?watch=true`, { accept: partialList })
        await s.watch(`${path}?watch=true`, { accept: 'application/xml' })
        await s.watch(s.path('configmaps/none?watch=true'))
        await s.watch(s.path('widgets?watch=true', 'nowhere.example.com/v1'))
      },
    },
    {
      name: 'a version in the future: silence until the stream ends',
      async run(s) {
        const path = s.path('secrets')
        const watch = await s.watch(`${path}?watch=true&resourceVersion=99999999&timeoutSeconds=1`)
        await s.prepare('POST', path, secret('a'))
        await watch.end()
      },
    },
    {
      name: 'timeoutSeconds ends a stream cleanly',
      async run(s) {
        const watch = await s.watch(s.path('secrets?watch=true&timeoutSeconds=1'))
        await s.prepare('POST', s.path('secrets'), secret('a'))
        await watch.end()
      },
    },
    {
      name: 'a version that the server no longer has: 410',
      needs: 'compaction',
      async run(s) {
        const { metadata } = await s.prepare('GET', `/api/v1/namespaces/${s.namespace}`)
        // The cache of a kind begins when the kind does, and what is older was compacted away.
        await s.hooks.compact?.()
        const { path, widget } = await defineWidgets(s)
        await s.prepare('POST', path, widget('a'))
        await s.hooks.compact?.()
        const watch = await s.watch(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}`)
        await watch.end()
        const since = await s.watch(`${path}?${initial}&resourceVersion=${metadata.resourceVersion}`)
        await since.events(2)
      },
    },
    {
      name: 'metadata only, and as a table',
      async run(s) {
        const path = s.path('configmaps')
        const selected = 'watch=true&labelSelector=app%3Dx'
        const metadataOnly = await s.watch(`${path}?${selected}`, { accept: partial })
        const rows = await s.watch(`${path}?${selected}`, {
          accept: asTable,
          show: ({ kind, columnDefinitions, rows: [row] }: Json) => ({
            kind,
            columns: columnDefinitions?.map((one: Json) => one.name) ?? null,
            cells: row.cells.slice(0, -1),
            object: row.object,
          }),
        })
        await s.prepare('POST', path, configMap('a', { key: 'value' }, { labels: { app: 'x' } }))
        await s.prepare('PATCH', `${path}/a`, { data: { other: '1' } }, { type: mergePatch })
        await s.prepare('DELETE', `${path}/a`)
        await metadataOnly.events(3)
        await rows.events(3)
      },
    },
    {
      name: 'a pod that is deleted with a grace period: each step an event',
      async run(s) {
        const path = s.path('pods')
        await s.prepare('POST', path, pod('a', { nodeName: 'nowhere' }))
        const { metadata } = await s.prepare('GET', path)
        const watch = await s.watch(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}`, {
          show: ({ kind, metadata: seen }) => ({ kind, metadata: seen }),
        })
        await s.prepare('DELETE', `${path}/a`)
        await s.prepare('DELETE', `${path}/a?gracePeriodSeconds=0`)
        await watch.events(2)
      },
    },
  ],
}
