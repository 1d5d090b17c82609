import type { Json } from '../json.ts'
import type { Subject } from '../probe.ts'
import { mergePatch } from '../session.ts'
import { configMap, defineWidgets, lease, leaseGroup, pod } from './objects.ts'

const held = { finalizers: ['example.com/hold'] }

export const namespaces: Subject = {
  name: 'namespaces',
  probes: [
    {
      name: 'a namespace as it is made',
      async run(s) {
        const name = `${s.namespace}-more`
        s.owns(`/api/v1/namespaces/${name}`)
        await s.call('POST', '/api/v1/namespaces', {
          body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { x: 'y' } } },
        })
        await s.call('GET', `/api/v1/namespaces/${name}`)
        await s.call('GET', `/api/v1/namespaces?fieldSelector=metadata.name%3D${name}`)
        await s.call('PATCH', `/api/v1/namespaces/${name}`, {
          body: { metadata: { labels: { x: null } } },
          type: mergePatch,
        })
      },
    },
    {
      name: 'while it is being deleted nothing can be made in it, Leases included; what is there can be changed',
      needs: 'controllers',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        await s.prepare('POST', s.path('configmaps'), configMap('held', {}, held))
        await s.call('DELETE', `/api/v1/namespaces/${s.namespace}`, {
          show: ({ kind, metadata, spec, status }) => ({ kind, metadata, spec, phase: status.phase }),
        })
        await s.call('POST', s.path('configmaps'), { body: configMap('new') })
        await s.call('POST', s.path('leases', leaseGroup), { body: lease('new', {}) })
        await s.call('PUT', s.path('leases/new', leaseGroup), { body: lease('new', {}) })
        await s.call('POST', s.path('pods'), { body: pod('new') })
        await s.call('POST', path, { body: widget('new') })
        await s.call('POST', s.path('configmaps'), { body: { metadata: { generateName: 'new-' } } })
        await s.call('POST', `${s.path('configmaps')}?dryRun=All`, { body: configMap('new') })
        await s.call('POST', s.path('configmaps'), { body: configMap('held') })
        await s.call('DELETE', `/api/v1/namespaces/${s.namespace}`, {
          show: ({ kind, status }: Json) => ({ kind, status: status.phase ?? status }),
        })
        await s.until('the held object is being deleted', s.path('configmaps/held'), ({ body }) =>
          Boolean(body.metadata?.deletionTimestamp),
        )
        const labels = { metadata: { labels: { x: 'y' } } }
        await s.call('PATCH', s.path('configmaps/held'), { body: labels, type: mergePatch })
        await s.call('GET', `/api/v1/namespaces/${s.namespace}`, {
          show: ({ metadata, spec, status }) => ({
            metadata: { ...metadata, resourceVersion: undefined },
            spec,
            phase: status.phase,
          }),
        })
        await s.call('PATCH', s.path('configmaps/held'), {
          body: { metadata: { finalizers: null } },
          type: mergePatch,
        })
        await s.until('it is gone', `/api/v1/namespaces/${s.namespace}`, ({ status }) => status === 404)
        await s.call('GET', `/api/v1/namespaces/${s.namespace}`)
        await s.call('GET', s.path('configmaps'))
        await s.call('POST', s.path('configmaps'), { body: configMap('new') })
      },
    },
    {
      name: 'namespaces that nobody may delete',
      async run(s) {
        for (const name of ['default', 'kube-system', 'kube-public']) {
          await s.call('DELETE', `/api/v1/namespaces/${name}`)
        }
        await s.call('DELETE', '/api/v1/namespaces')
      },
    },
  ],
}
