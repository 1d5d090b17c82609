import type { Json } from '../json.ts'
import type { Subject } from '../probe.ts'
import { mergePatch } from '../session.ts'
import { configMap, secret } from './objects.ts'

const revisions = 'apps/v1'

export const configMaps: Subject = {
  name: 'configMaps',
  probes: [
    {
      name: 'sizes: over 1 MiB of data is 422, a body over 3 MiB is 413',
      async run(s) {
        const mib = 1024 * 1024
        const show = ({ kind }: Json): unknown => kind
        await s.call('POST', s.path('configmaps'), { body: configMap('fits', { a: 'x'.repeat(mib) }), show })
        await s.call('POST', s.path('configmaps'), { body: configMap('big', { a: 'x'.repeat(mib + 1) }) })
        await s.call('POST', s.path('configmaps'), { body: configMap('huge', { a: 'x'.repeat(3 * mib) }) })
        await s.call('PATCH', s.path('configmaps/fits'), { body: { data: { b: 'x' } }, type: mergePatch })
        await s.call('PATCH', s.path('configmaps/fits'), {
          body: { data: { b: 'x'.repeat(3 * mib) } },
          type: mergePatch,
        })
        const data = { a: Buffer.alloc(mib + 1).toString('base64') }
        await s.call('POST', s.path('secrets'), { body: secret('big', {}, { data }) })
      },
    },
    {
      name: 'immutable ConfigMaps',
      async run(s) {
        const path = s.path('configmaps')
        const patch = (body: unknown) => s.call('PATCH', `${path}/a`, { body, type: mergePatch })
        await s.call('POST', path, { body: { ...configMap('a', { k: '1' }), immutable: true } })
        await patch({ data: { k: '2' } })
        await patch({ binaryData: { k: 'AA==' } })
        await patch({ immutable: false })
        await patch({ immutable: null, data: { k: '2' } })
        await patch({ metadata: { labels: { x: 'y' } } })
        await patch({ data: { k: '1' } })
        await s.call('DELETE', `${path}/a`)
      },
    },
    {
      name: 'immutable Secrets, and the type that never changes',
      async run(s) {
        const path = s.path('secrets')
        const patch = (name: string, body: unknown) =>
          s.call('PATCH', `${path}/${name}`, { body, type: mergePatch })
        await s.call('POST', path, { body: secret('a', {}, { immutable: true, stringData: { k: 'one' } }) })
        await patch('a', { stringData: { k: 'two' } })
        await patch('a', { data: { more: 'AA==' } })
        await patch('a', { immutable: null })
        await patch('a', { metadata: { labels: { x: 'y' } } })
        await s.call('POST', path, {
          body: secret('b', {}, { data: { k: 'AA==' }, stringData: { k: 'one' } }),
        })
        await patch('b', { type: 'example.com/other' })
        await patch('b', { stringData: { l: 'two' } })
        await s.call('PUT', `${path}/b`, { body: secret('b', {}, { stringData: { only: 'x' } }) })
      },
    },
    {
      name: 'keys and values that cannot be',
      async run(s) {
        const path = s.path('configmaps')
        await s.call('POST', path, { body: configMap('a', { 'not ok': '1' }) })
        await s.call('POST', path, { body: configMap('a', { '..': '1' }) })
        await s.call('POST', path, { body: configMap('a', { '': '1' }) })
        await s.call('POST', path, { body: { ...configMap('a', { k: '1' }), binaryData: { k: 'AA==' } } })
        await s.call('POST', path, { body: configMap('a', { k: 1 }), anyMessage: true })
        await s.call('POST', path, { body: configMap('a', { k: null }) })
        await s.call('POST', path, {
          body: { ...configMap('b'), binaryData: { k: 'not base64!' } },
          anyMessage: true,
        })
        await s.call('POST', s.path('secrets'), {
          body: secret('a', {}, { data: { k: 'not base64!' } }),
          anyMessage: true,
        })
        await s.call('POST', s.path('secrets'), { body: secret('a', {}, { data: { 'not ok': 'AA==' } }) })
      },
    },
    {
      name: 'ControllerRevisions: data never changes, the revision may',
      async run(s) {
        const path = s.path('controllerrevisions', revisions)
        const made = (name: string, rest: Json) => ({
          apiVersion: revisions,
          kind: 'ControllerRevision',
          metadata: { name },
          ...rest,
        })
        const patch = (body: unknown) => s.call('PATCH', `${path}/a`, { body, type: mergePatch })
        await s.call('POST', path, { body: made('a', { data: { spec: { n: 1 } }, revision: 1 }) })
        await patch({ data: { spec: { n: 2 } } })
        await patch({ revision: 2 })
        await patch({ metadata: { labels: { x: 'y' } } })
        await patch({ revision: -1 })
        await s.call('POST', path, { body: made('b', { revision: 1 }) })
        await s.call('POST', path, { body: made('c', { data: { x: null, list: [] } }) })
        await s.call('POST', path, { body: made('d', { data: { x: 1 }, revision: -1 }) })
        await s.call('GET', path)
        await s.call('DELETE', `${path}/a`)
      },
    },
  ],
}
