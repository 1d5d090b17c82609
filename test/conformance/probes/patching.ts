import type { Subject } from '../probe.ts'
import { jsonPatch, mergePatch, strategicPatch } from '../session.ts'
import { configMap, defineWidgets } from './objects.ts'

export const patching: Subject = {
  name: 'patching',
  probes: [
    {
      name: 'a merge patch: sets, takes away, changes nothing, creates nothing',
      async run(s) {
        const path = s.path('configmaps/a')
        const patch = (body: unknown) => s.call('PATCH', path, { body, type: mergePatch })
        await s.prepare(
          'POST',
          s.path('configmaps'),
          configMap('a', { keep: '1', drop: '2' }, { labels: { x: 'y' } }),
        )
        await patch({ data: { drop: null, add: '3' }, metadata: { labels: { x: null, n: 'm' } } })
        await patch({ data: { add: '3' } })
        await patch({})
        await patch({ data: null })
        await patch({ metadata: { labels: null } })
        await s.call('PATCH', s.path('configmaps/none'), { body: {}, type: mergePatch })
      },
    },
    {
      name: 'a merge patch with a stale version, another uid, another name',
      async run(s) {
        const path = s.path('configmaps/a')
        const patch = (body: unknown, anyMessage = false) =>
          s.call('PATCH', path, { body, type: mergePatch, anyMessage })
        const { metadata } = await s.prepare('POST', s.path('configmaps'), configMap('a'))
        await patch({ metadata: { labels: { x: 'y' } } })
        await patch({ metadata: { resourceVersion: metadata.resourceVersion, labels: { x: 'z' } } })
        await patch({ metadata: { uid: 'another' } })
        await patch({ metadata: { name: 'b' } })
        await patch({ metadata: { namespace: 'elsewhere' } })
        await patch({ metadata: { resourceVersion: null, labels: { x: 'free' } } })
        await patch({ kind: 'Secret' }, true)
        await patch({ apiVersion: 'v2' }, true)
        await patch({ metadata: { creationTimestamp: null } })
      },
    },
    {
      name: 'a merge patch that cannot be, or leaves what cannot be',
      async run(s) {
        const path = s.path('configmaps/a')
        const patch = (body: unknown, anyMessage = false) =>
          s.call('PATCH', path, { body, type: mergePatch, anyMessage })
        await s.prepare('POST', s.path('configmaps'), configMap('a'))
        await patch('[]', true)
        await patch('{', true)
        await patch('', true)
        await patch({ metadata: { labels: { x: 5 } } }, true)
        await patch({ metadata: { labels: { x: 'not ok' } } })
        await patch({ data: { 'not ok': '1' } })
        await patch({ data: 'x' }, true)
      },
    },
    {
      name: 'a JSON patch: all or nothing',
      async run(s) {
        const path = s.path('configmaps/a')
        const patch = (body: unknown) => s.call('PATCH', path, { body, type: jsonPatch })
        await s.prepare('POST', s.path('configmaps'), configMap('a', { k: '1' }, { labels: { x: 'y' } }))
        await patch([{ op: 'add', path: '/metadata/labels/n', value: 'm' }])
        await patch([
          { op: 'test', path: '/metadata/labels/x', value: 'z' },
          { op: 'add', path: '/metadata/labels/o', value: 'p' },
        ])
        await patch([
          { op: 'test', path: '/metadata/labels/x', value: 'y' },
          { op: 'replace', path: '/data/k', value: '2' },
          { op: 'remove', path: '/metadata/labels/n' },
        ])
        await patch([{ op: 'remove', path: '/metadata/labels/none' }])
        await patch([{ op: 'replace', path: '/data/none', value: '1' }])
        await patch([{ op: 'add', path: '/metadata/annotations/x', value: 'y' }])
        await patch([{ op: 'add', path: '/metadata/annotations', value: { 'a/b': 'c' } }])
        await patch([{ op: 'test', path: '/metadata/annotations/a~1b', value: 'c' }])
        await patch([{ op: 'test', path: '/metadata/none', value: null }])
        await patch([{ op: 'copy', from: '/data/k', path: '/data/l' }])
        await patch([{ op: 'move', from: '/data/l', path: '/data/m' }])
        await patch([])
        await s.call('PATCH', s.path('configmaps/none'), { body: [], type: jsonPatch })
      },
    },
    {
      name: 'a JSON patch that cannot be',
      async run(s) {
        const path = s.path('configmaps/a')
        const patch = (body: unknown) => s.call('PATCH', path, { body, type: jsonPatch, anyMessage: true })
        const { metadata } = await s.prepare('POST', s.path('configmaps'), configMap('a', { k: '1' }))
        await patch({})
        await patch('[')
        await patch([{ op: 'nonsense', path: '/data/k' }])
        await patch([{ op: 'replace', path: '/metadata/uid', value: 'another' }])
        await patch([{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }])
        await patch([{ op: 'replace', path: '/metadata/name', value: 'b' }])
        await patch([{ op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion }])
      },
    },
    {
      name: 'custom kinds: merge and JSON patches, no strategic ones',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        await s.prepare('POST', path, widget('a'))
        await s.call('PATCH', `${path}/a`, { body: { spec: { size: 2, more: { n: 1 } } }, type: mergePatch })
        await s.call('PATCH', `${path}/a`, { body: { spec: { size: 2 } }, type: mergePatch })
        await s.call('PATCH', `${path}/a`, { body: [{ op: 'remove', path: '/spec/more' }], type: jsonPatch })
        await s.call('PATCH', `${path}/a`, {
          body: [{ op: 'test', path: '/spec/size', value: 9 }],
          type: jsonPatch,
        })
        await s.call('PATCH', `${path}/a`, { body: { spec: {} }, type: strategicPatch })
        await s.call('PATCH', `${path}/a`, { body: { metadata: { uid: 'another' } }, type: mergePatch })
        await s.call('PATCH', `${path}/a`, { body: { metadata: { resourceVersion: '5' } }, type: mergePatch })
        await s.call('PATCH', `${path}/a`, { body: { spec: null }, type: mergePatch })
        await s.call('PATCH', `${path}/none`, { body: {}, type: mergePatch })
      },
    },
    {
      name: 'patches of no known type',
      async run(s) {
        await s.prepare('POST', s.path('configmaps'), configMap('a'))
        await s.call('PATCH', s.path('configmaps/a'), { body: {}, type: 'application/json' })
        await s.call('PATCH', s.path('configmaps/a'), { body: {}, type: 'text/plain' })
      },
    },
  ],
}
