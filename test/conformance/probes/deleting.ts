import type { Subject } from '../probe.ts'
import { mergePatch } from '../session.ts'
import { configMap, defineWidgets, lease, leaseGroup, secret } from './objects.ts'

const held = { finalizers: ['example.com/hold'] }

export const deleting: Subject = {
  name: 'deleting',
  probes: [
    {
      name: 'gone at once: a Status with the uid; not there: 404',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        await s.prepare('POST', s.path('configmaps'), configMap('a'))
        await s.prepare('POST', s.path('secrets'), secret('a'))
        await s.prepare('POST', s.path('leases', leaseGroup), lease('a', {}))
        await s.prepare('POST', path, widget('a'))
        const paths = [
          s.path('configmaps/a'),
          s.path('secrets/a'),
          s.path('leases/a', leaseGroup),
          `${path}/a`,
        ]
        for (const one of paths) {
          await s.call('DELETE', one)
          await s.call('DELETE', one)
        }
      },
    },
    {
      name: 'preconditions: a wrong uid and a wrong version are both Conflict',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        const made = await s.call('POST', s.path('configmaps'), { body: configMap('a') })
        const custom = await s.call('POST', path, { body: widget('a') })
        for (const [one, { uid, resourceVersion }] of [
          [s.path('configmaps/a'), made.body.metadata],
          [`${path}/a`, custom.body.metadata],
        ] as const) {
          const options = (preconditions: unknown) => ({
            body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions },
          })
          await s.call('DELETE', one, options({ uid: 'another' }))
          await s.call('DELETE', one, options({ resourceVersion: '5' }))
          await s.call('DELETE', one, options({ uid, resourceVersion: '5' }))
          await s.call('DELETE', one, options({ uid: 'another', resourceVersion: '5' }))
          await s.call('DELETE', one, options({ uid, resourceVersion }))
          await s.call('DELETE', one, options({ uid }))
        }
      },
    },
    {
      name: 'held by a finalizer: the object, also the second time, until the last finalizer is taken off',
      async run(s) {
        const path = s.path('configmaps/a')
        const merge = (body: unknown) => s.call('PATCH', path, { body, type: mergePatch })
        await s.prepare('POST', s.path('configmaps'), configMap('a', {}, held))
        await s.call('DELETE', path)
        await s.call('DELETE', path)
        await s.call('GET', path)
        await merge({ metadata: { labels: { still: 'here' } } })
        await merge({ metadata: { finalizers: ['example.com/hold', 'example.com/more'] } })
        await s.call('POST', s.path('configmaps'), { body: configMap('a') })
        await merge({ metadata: { finalizers: null } })
        await s.call('GET', path)
      },
    },
    {
      name: 'a custom object that is held: grace 0 and a new generation',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        await s.call('POST', path, { body: widget('a', held) })
        await s.call('DELETE', `${path}/a`)
        await s.call('DELETE', `${path}/a`, { body: { gracePeriodSeconds: 30 } })
        await s.call('PATCH', `${path}/a/status`, {
          body: { status: { phase: 'Deleting' } },
          type: mergePatch,
        })
        await s.call('PATCH', `${path}/a`, { body: { spec: { size: 2 } }, type: mergePatch })
        const { body } = await s.call('GET', `${path}/a`)
        await s.call('PUT', `${path}/a`, {
          body: { ...body, metadata: { ...body.metadata, finalizers: [] } },
        })
        await s.call('GET', `${path}/a`)
      },
    },
    {
      name: 'options: in the body, in the query, ones that cannot be',
      async run(s) {
        const path = s.path('configmaps')
        for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await s.prepare('POST', path, configMap(name))
        await s.call('DELETE', `${path}/a`, { body: { propagationPolicy: 'Foreground' } })
        await s.call('DELETE', `${path}/b?propagationPolicy=Orphan`)
        await s.call('DELETE', `${path}/c?gracePeriodSeconds=-1`)
        await s.call('DELETE', `${path}/d`, { body: { propagationPolicy: 'Nonsense' } })
        await s.call('DELETE', `${path}/d`, {
          body: { propagationPolicy: 'Background', orphanDependents: true },
        })
        await s.call('DELETE', `${path}/d?dryRun=All`)
        await s.call('GET', `${path}/d`)
        await s.call('DELETE', `${path}/e`, { body: '{', anyMessage: true })
        await s.call('DELETE', `${path}/e`, { body: { kind: 'Nonsense', apiVersion: 'v1' } })
        await s.call('DELETE', `${path}/f`, { body: 'x', type: 'text/plain' })
      },
    },
    {
      name: 'a whole collection, or what a selector leaves of it',
      async run(s) {
        const path = s.path('secrets')
        for (const name of ['a', 'b', 'c']) {
          await s.prepare('POST', path, secret(name, { labels: { app: name === 'a' ? 'x' : 'y' } }))
        }
        await s.call('DELETE', `${path}?labelSelector=app%3Dx`)
        await s.call('GET', path, { show: ({ items }) => items.length })
        await s.call('DELETE', path)
        await s.call('DELETE', path)
      },
    },
  ],
}
