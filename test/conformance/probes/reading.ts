import type { Subject } from '../probe.ts'
import { asTable, partial, partialList } from '../session.ts'
import { configMap, defineWidgets } from './objects.ts'

export const reading: Subject = {
  name: 'reading',
  probes: [
    {
      name: 'a kind or a path that is not served, and an object that is not there',
      async run(s) {
        await s.call('GET', s.path('configmaps/none'))
        await s.call('GET', s.path('widgets', 'nowhere.example.com/v1'))
        await s.call('GET', s.path('widgets/none', 'nowhere.example.com/v1'))
        await s.call('GET', '/apis/nowhere.example.com')
        await s.call('GET', s.path('widgets', 'v1'))
        await s.call('GET', s.path('widgets', 'apps/v1'))
        await s.call('GET', s.path('deployments', 'apps/v9'))
        await s.call('GET', '/apis/apps/v9')
        await s.call('GET', '/nowhere')
        await s.call('GET', '/api/v9')
        await s.call('GET', s.path('configmaps/none/status'))
        await s.call('GET', '/api/v1/namespaces/none-of-the-kind/configmaps/none')
        await s.call('GET', '/api/v1/namespaces/none-of-the-kind/configmaps')
        await s.call('GET', '/api/v1/namespaces/none-of-the-kind')
      },
    },
    {
      name: 'a custom kind: what is there, what is not, what is not served',
      async run(s) {
        const { path, group, widget } = await defineWidgets(s)
        await s.call('GET', `${path}/none`)
        await s.call('GET', path)
        await s.prepare('POST', path, widget('a'))
        await s.call('GET', `${path}/a`)
        await s.call('GET', `${path}/a/status`)
        await s.call('GET', `${path}/a/scale`)
        await s.call('GET', s.path('gadgets', `${group}/v1alpha1`))
        await s.call('GET', s.path('widgets', `${group}/v1`))
        await s.call('GET', `/apis/${group}/v1`)
      },
    },
    {
      name: 'methods that a path does not take',
      async run(s) {
        await s.call('PUT', s.path('configmaps'), { body: configMap('a') })
        await s.call('PATCH', s.path('configmaps'), { body: {}, type: 'application/merge-patch+json' })
        await s.call('POST', s.path('configmaps/a'), { body: configMap('a') })
        await s.call('DELETE', '/api/v1/configmaps')
        await s.call('POST', '/api/v1/configmaps', { body: configMap('a') })
        await s.call('GET', '/api/v1/configmaps/a')
        await s.call('POST', s.path('pods/a/status'), { body: {} })
      },
    },
    {
      name: 'one object: whole, its metadata only, as a table row, in no form that there is',
      async run(s) {
        await s.prepare(
          'POST',
          s.path('configmaps'),
          configMap('a', { key: 'value' }, { labels: { x: 'y' } }),
        )
        const path = s.path('configmaps/a')
        await s.call('GET', path)
        await s.call('GET', path, { accept: partial })
        await s.call('GET', path, { accept: partialList })
        await s.call('GET', path, { accept: 'application/xml' })
        await s.call('GET', path, { accept: `${partial},application/json` })
        await s.call('GET', path, { accept: 'application/json;as=Table;v=v9;g=meta.k8s.io,application/json' })
        await s.call('GET', path, { accept: 'application/json;as=Nothing;v=v1;g=meta.k8s.io' })
        await s.call('GET', path, {
          accept: asTable,
          show: ({ kind, apiVersion, rows, columnDefinitions }) => ({
            kind,
            apiVersion,
            columns: columnDefinitions.map((one: { name: string }) => one.name),
            rows: rows.map((row: { cells: unknown[]; object: unknown }) => ({
              cells: row.cells.slice(0, -1),
              object: row.object,
            })),
          }),
        })
      },
    },
    {
      name: 'every answer says what time it is',
      async run(s) {
        for (const path of [s.path('configmaps/none'), s.path('configmaps'), '/version', '/nowhere']) {
          const { headers } = await s.head(path)
          const off = Math.abs(Date.parse(headers.date ?? '') - Date.now())
          s.note(`the Date header of ${path} is within five seconds of the time`, off < 5000)
        }
      },
    },
  ],
}
