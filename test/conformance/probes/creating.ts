import type { Subject } from '../probe.ts'
import { configMap, defineWidgets, secret } from './objects.ts'

export const creating: Subject = {
  name: 'creating',
  probes: [
    {
      name: 'what the server sets itself, and what it lets nobody set',
      async run(s) {
        const path = s.path('configmaps')
        await s.call('POST', path, { body: configMap('a', { key: 'value' }) })
        await s.call('POST', path, {
          body: configMap(
            'b',
            {},
            {
              uid: 'mine',
              generation: 7,
              creationTimestamp: '2001-01-01T00:00:00Z',
              deletionTimestamp: '2001-01-01T00:00:00Z',
              selfLink: '/x',
              labels: {},
              annotations: {},
              finalizers: [],
            },
          ),
        })
        await s.call('POST', path, { body: { metadata: { name: 'c' } } })
        await s.call('POST', path, {
          body: { ...configMap('d'), data: null, immutable: null, status: { x: 1 } },
        })
      },
    },
    {
      name: 'a name that exists: AlreadyExists, not Conflict',
      async run(s) {
        await s.prepare('POST', s.path('configmaps'), configMap('a'))
        await s.call('POST', s.path('configmaps'), { body: configMap('a') })
        await s.call('POST', s.path('configmaps'), { body: configMap('A') })
        const { path, widget } = await defineWidgets(s)
        await s.prepare('POST', path, widget('a'))
        await s.call('POST', path, { body: widget('a') })
        await s.call('POST', '/api/v1/namespaces', { body: { metadata: { name: s.namespace } } })
      },
    },
    {
      name: 'names: generated, missing, too long, of another form',
      async run(s) {
        const path = s.path('configmaps')
        await s.call('POST', path, { body: { metadata: { generateName: 'run-' } } })
        await s.call('POST', path, { body: { metadata: {} } })
        await s.call('POST', path, { body: {} })
        await s.call('POST', path, { body: configMap('Upper_Case') })
        await s.call('POST', path, { body: configMap('a.b-c.d') })
        await s.call('POST', path, { body: configMap('-a') })
        await s.call('POST', path, { body: configMap('x'.repeat(254)) })
        await s.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'a.b' } } })
        await s.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'x'.repeat(64) } } })
        await s.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'Upper' } } })
      },
    },
    {
      name: 'a version, another namespace, another kind, another apiVersion',
      async run(s) {
        const path = s.path('configmaps')
        await s.call('POST', path, { body: configMap('a', {}, { resourceVersion: '5' }) })
        await s.call('POST', path, { body: configMap('a', {}, { namespace: 'elsewhere' }) })
        await s.call('POST', path, { body: secret('a') })
        await s.call('POST', path, { body: { ...configMap('a'), apiVersion: 'v2' } })
        await s.call('POST', path, { body: { ...configMap('a'), kind: 'Nonsense' } })
        await s.call('POST', path, { body: { ...configMap('a'), apiVersion: 'example.com/v1' } })
        await s.call('POST', '/api/v1/namespaces/none-of-the-kind/configmaps', { body: configMap('a') })
      },
    },
    {
      name: 'labels, annotations, finalizers and owners that cannot be',
      async run(s) {
        const path = s.path('configmaps')
        await s.call('POST', path, { body: configMap('a', {}, { labels: { '-x': 'y' } }) })
        await s.call('POST', path, { body: configMap('a', {}, { labels: { x: 'not ok' } }) })
        await s.call('POST', path, { body: configMap('a', {}, { labels: { x: 'y'.repeat(64) } }) })
        await s.call('POST', path, { body: configMap('a', {}, { labels: { 'a/b/c': 'y' } }) })
        await s.call('POST', path, { body: configMap('a', {}, { labels: { 'UP/b': 'y' } }) })
        await s.call('POST', path, { body: configMap('a', {}, { annotations: { 'not ok': 'y' } }) })
        await s.call('POST', path, { body: configMap('a', {}, { annotations: { x: 'y'.repeat(262_144) } }) })
        await s.call('POST', path, { body: configMap('a', {}, { finalizers: ['plain'] }) })
        await s.call('POST', path, { body: configMap('a', {}, { finalizers: ['not ok/x'] }) })
        await s.call('POST', path, {
          body: configMap('a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x' }] }),
        })
        await s.call('POST', path, { body: configMap('a', {}, { labels: { x: 5 } }), anyMessage: true })
        await s.call('POST', path, { body: configMap('a', {}, { finalizers: 'x' }), anyMessage: true })
        await s.call('POST', path, { body: { ...configMap('a'), metadata: 'x' }, anyMessage: true })
      },
    },
    {
      name: 'bodies that are no object',
      async run(s) {
        const path = s.path('configmaps')
        await s.call('POST', path, { body: '{', anyMessage: true })
        await s.call('POST', path, { body: '[]', anyMessage: true })
        await s.call('POST', path, { body: '', anyMessage: true })
        await s.call('POST', path, { body: 'null', anyMessage: true })
        await s.call('POST', path, { body: '"text"', anyMessage: true })
        await s.call('POST', path, { body: '{}', type: 'text/plain' })
        await s.call('POST', path, { body: '{}', type: 'application/merge-patch+json' })
      },
    },
    {
      name: 'custom kinds want kind and apiVersion',
      async run(s) {
        const { path, widget, kind } = await defineWidgets(s)
        await s.call('POST', path, { body: widget('a') })
        await s.call('POST', path, { body: { metadata: { name: 'b' } } })
        await s.call('POST', path, { body: { kind, metadata: { name: 'b' } } })
        await s.call('POST', path, { body: { ...widget('b'), kind: 'Other' } })
        await s.call('POST', path, { body: { ...widget('b'), apiVersion: 'v1' } })
        await s.call('POST', path, { body: { ...widget('b'), status: { phase: 'Applied' } } })
        await s.call('POST', path, { body: { ...widget('c'), spec: { empty: null, list: [null], map: {} } } })
        await s.call('POST', path, { body: widget('d', { labels: {}, finalizers: [] }) })
        await s.call('POST', path, { body: widget('Upper') })
        await s.call('POST', path, { body: '[]', anyMessage: true })
      },
    },
    {
      name: 'a dry run answers and keeps nothing',
      async run(s) {
        const path = s.path('configmaps')
        await s.call('POST', `${path}?dryRun=All`, { body: configMap('a') })
        await s.call('GET', `${path}/a`)
        await s.call('POST', `${path}?dryRun=Some`, { body: configMap('a') })
      },
    },
    {
      name: 'fields that a kind does not have: told, refused or let pass',
      async run(s) {
        const path = s.path('configmaps')
        const body = { ...configMap('a'), nonsense: 1 }
        await s.call('POST', `${path}?dryRun=All`, { body, showHeaders: ['warning'] })
        await s.call('POST', `${path}?dryRun=All&fieldValidation=Ignore`, { body, showHeaders: ['warning'] })
        await s.call('POST', `${path}?dryRun=All&fieldValidation=Nonsense`, { body })
      },
    },
  ],
}
