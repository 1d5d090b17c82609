import type { Json } from '../json.ts'
import type { Subject } from '../probe.ts'
import { mergePatch } from '../session.ts'
import { configMap, crdsPath, defineWidgets, secret, widgetDefinition, widgetsOf } from './objects.ts'

const held = { finalizers: ['example.com/hold'] }
/** The order of the conditions is that in which controllers came by. */
const shown = ({ kind, metadata, spec, status }: Json): unknown => ({
  kind,
  metadata,
  spec,
  status: {
    ...status,
    conditions: [...(status?.conditions ?? [])].sort((one, other) => (one.type < other.type ? -1 : 1)),
  },
})

export const customKinds: Subject = {
  name: 'customKinds',
  probes: [
    {
      name: 'a kind is served once its definition is established',
      async run(s) {
        const { path, crd, widget } = widgetsOf(s)
        const definition = widgetDefinition(s)
        await s.call('GET', path)
        await s.call('POST', path, { body: widget('a') })
        s.owns(crd)
        await s.call('POST', crdsPath, {
          body: definition,
          // What it is answered with at once is a race between the server's controllers.
          show: ({ kind, metadata, spec }) => ({ kind, name: metadata.name, spec }),
        })
        await s.until('the kind is served', path, ({ status }) => status === 200)
        await s.until('the definition is settled', crd, ({ body }) => body.status?.conditions?.length === 2)
        await s.call('GET', crd, { show: shown })
        await s.call('POST', crdsPath, { body: definition })
        await s.call('GET', path)
      },
    },
    {
      name: 'deleting a definition deletes its objects, ends its streams, and then nothing is served',
      async run(s) {
        const { path, crd, widget } = await defineWidgets(s)
        await s.prepare('POST', path, widget('free'))
        await s.prepare('POST', path, widget('held', held))
        const { metadata } = await s.prepare('GET', path)
        const watch = await s.watch(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}`)
        await s.call('DELETE', crd, {
          show: ({ kind, metadata: { name, finalizers } }) => ({ kind, name, finalizers }),
        })
        await watch.events(2)
        await s.until('the definition waits', crd, ({ body }) =>
          body.status?.conditions?.some((one: Json) => one.type === 'Terminating' && one.status === 'True'),
        )
        await s.call('POST', path, { body: widget('new') })
        await s.call('GET', path, { show: ({ items }) => items.map((one: Json) => one.metadata) })
        await s.call('PATCH', `${path}/held`, { body: { metadata: { finalizers: null } }, type: mergePatch })
        await watch.end()
        await s.until('nothing is served', path, ({ status }) => status === 404)
        await s.call('GET', path)
        await s.call('GET', `${path}/held`)
        await s.call('GET', crd)
      },
    },
    {
      name: 'a definition that comes back has none of the old objects',
      async run(s) {
        const { path, crd, widget } = await defineWidgets(s)
        await s.prepare('POST', path, widget('a'))
        await s.prepare('DELETE', crd)
        await s.until('the definition is gone', crd, ({ status }) => status === 404)
        await s.until('nothing is served', path, ({ status }) => status === 404)
        await s.prepare('POST', crdsPath, widgetDefinition(s))
        await s.until('the kind is served', path, ({ status }) => status === 200)
        await s.call('GET', path)
        await s.call('GET', `${path}/a`)
      },
    },
    {
      name: 'definitions that cannot be',
      async run(s) {
        const definition = widgetDefinition(s)
        const { spec } = definition
        const post = (body: unknown) => s.call('POST', crdsPath, { body, anyMessage: true })
        await post({ ...definition, metadata: { name: 'other' } })
        await post({ ...definition, spec: { ...spec, scope: 'Nonsense' } })
        await post({ ...definition, spec: { ...spec, versions: [] } })
        await post({ ...definition, spec: { ...spec, versions: [{ ...spec.versions[0], storage: false }] } })
        await post({
          ...definition,
          spec: { ...spec, versions: [{ name: 'v1', served: true, storage: true }] },
        })
      },
    },
    {
      name: 'objects that are owned go after their owner',
      needs: 'controllers',
      async run(s) {
        const { metadata } = await s.prepare('POST', s.path('configmaps'), configMap('owner'))
        const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid }]
        await s.prepare('POST', s.path('secrets'), secret('owned', { ownerReferences }))
        await s.prepare('DELETE', s.path('configmaps/owner'))
        await s.until('the owned object is gone', s.path('secrets/owned'), ({ status }) => status === 404)
        await s.call('GET', s.path('secrets/owned'))
      },
    },
  ],
}
