import type { Subject } from '../probe.ts'
import { configMap, defineWidgets, lease, leaseGroup, secret } from './objects.ts'

export const updating: Subject = {
  name: 'updating',
  probes: [
    {
      name: 'compare and swap: a stale version, none, another uid',
      async run(s) {
        const path = s.path('configmaps')
        const { body } = await s.call('POST', path, { body: configMap('a', { n: '1' }) })
        await s.call('PUT', `${path}/a`, { body: { ...body, data: { n: '2' } } })
        await s.call('PUT', `${path}/a`, { body: { ...body, data: { n: '3' } } })
        await s.call('PUT', `${path}/a`, { body: configMap('a', { n: '4' }) })
        await s.call('PUT', `${path}/a`, { body: configMap('a', { n: '5' }, { uid: 'another' }) })
        await s.call('PUT', `${path}/a`, { body: configMap('a', { n: '5' }, { resourceVersion: '0' }) })
        await s.call('PUT', `${path}/a`, { body: configMap('a', { n: '6' }, { resourceVersion: 'abc' }) })
        await s.call('GET', `${path}/a`)
      },
    },
    {
      name: 'without a version: Leases and custom kinds are refused',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        const leases = s.path('leases', leaseGroup)
        await s.prepare('POST', path, widget('a'))
        await s.prepare('POST', leases, lease('a', {}))
        await s.call('PUT', `${path}/a`, { body: widget('a') })
        await s.call('PUT', `${leases}/a`, { body: lease('a', { leaseDurationSeconds: 9 }) })
        await s.call('PUT', `${path}/a`, { body: widget('a', { uid: 'another' }) })
      },
    },
    {
      name: 'a name that is not there, or another one',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        await s.call('PUT', s.path('configmaps/none'), { body: configMap('none') })
        await s.call('PUT', s.path('secrets/none'), { body: secret('none') })
        await s.call('PUT', `${path}/none`, { body: widget('none') })
        await s.call('PUT', s.path('configmaps/none'), {
          body: configMap('none', {}, { resourceVersion: '5' }),
        })
        await s.call('PUT', s.path('configmaps/none'), { body: configMap('none', {}, { uid: 'another' }) })
        await s.prepare('POST', s.path('configmaps'), configMap('a'))
        await s.call('PUT', s.path('configmaps/a'), { body: configMap('b') })
        await s.call('PUT', s.path('configmaps/a'), { body: { data: {} } })
      },
    },
    {
      name: 'a write that changes nothing keeps the version',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        const { body } = await s.call('POST', s.path('configmaps'), { body: configMap('a', { n: '1' }) })
        await s.call('PUT', s.path('configmaps/a'), { body })
        const custom = await s.call('POST', path, { body: widget('a') })
        await s.call('PUT', `${path}/a`, { body: custom.body })
      },
    },
    {
      name: 'the metadata that only the server sets stays as it is',
      async run(s) {
        const path = s.path('configmaps')
        const { body } = await s.call('POST', path, { body: configMap('a') })
        const { resourceVersion } = body.metadata
        await s.call('PUT', `${path}/a`, {
          body: configMap(
            'a',
            {},
            {
              resourceVersion,
              creationTimestamp: '2001-01-01T00:00:00Z',
              generation: 9,
              labels: { x: 'y' },
            },
          ),
        })
        await s.call('PUT', `${path}/a`, {
          body: configMap('a', {}, { deletionTimestamp: '2001-01-01T00:00:00Z' }),
        })
        await s.call('PUT', `${path}/a`, { body: configMap('a', {}, { labels: { x: 'not ok' } }) })
      },
    },
    {
      name: 'status has a door of its own, and the generation counts the rest',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        const merge = 'application/merge-patch+json'
        const { body } = await s.call('POST', path, {
          body: widget('a', {}, { status: { phase: 'Applied' } }),
        })
        const status = { phase: 'Applied' }
        await s.call('PUT', `${path}/a/status`, { body: { ...body, spec: { size: 2 }, status } })
        await s.call('PATCH', `${path}/a`, {
          body: { status: { phase: 'Failed' }, spec: { size: 3 } },
          type: merge,
        })
        await s.call('PATCH', `${path}/a/status`, {
          body: { status: { phase: 'Failed' }, metadata: { labels: { x: 'y' } } },
          type: merge,
        })
        await s.call('PATCH', `${path}/a`, { body: { metadata: { labels: { x: 'y' } } }, type: merge })
        await s.call('PATCH', `${path}/a`, { body: { more: 1 }, type: merge })
        await s.call('GET', `${path}/a/status`)
        await s.call('PUT', `${path}/a/status`, { body: widget('a', {}, { status }) })
        await s.call('PUT', `${path}/none/status`, { body: widget('none', {}, { status }) })
        await s.call('DELETE', `${path}/a/status`)
      },
    },
  ],
}
