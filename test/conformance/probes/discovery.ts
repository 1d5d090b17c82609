import type { Json } from '../json.ts'
import type { Subject } from '../probe.ts'
import { defineWidgets } from './objects.ts'

/** The kinds that the sandbox serves; a real server serves more. */
const groups = ['apps', 'batch', 'coordination.k8s.io', 'apiextensions.k8s.io']
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const resource = (list: string[]) => (one: Json) => list.includes(one.name)
const plain = ({ storageVersionHash: _hash, categories: _groups, ...one }: Json): Json => one

export const discovery: Subject = {
  name: 'discovery',
  probes: [
    {
      name: 'plain discovery: versions, groups, resources of a group',
      async run(s) {
        await s.call('GET', '/api', { show: ({ kind, versions }) => ({ kind, versions }) })
        await s.call('GET', '/apis', {
          show: ({ kind, apiVersion, groups: all }) => ({
            kind,
            apiVersion,
            groups: groups.map((name) => {
              const found = all.find((one: Json) => one.name === name)
              return { name, preferredVersion: found?.preferredVersion }
            }),
          }),
        })
        await s.call('GET', '/apis/coordination.k8s.io', {
          show: ({ kind, apiVersion, name, preferredVersion }) => ({
            kind,
            apiVersion,
            name,
            preferredVersion,
          }),
        })
        const some = (names: string[]) => (body: Json) => ({
          ...body,
          resources: body.resources
            .filter(resource(names))
            .map(plain)
            .sort((a: Json, b: Json) => (a.name < b.name ? -1 : 1)),
        })
        const core = ['configmaps', 'pods', 'pods/status', 'pods/eviction', 'namespaces', 'nodes', 'secrets']
        await s.call('GET', '/api/v1', { show: some([...core, 'namespaces/finalize', 'namespaces/status']) })
        await s.call('GET', '/apis/coordination.k8s.io/v1', { show: some(['leases']) })
        await s.call('GET', '/apis/apps/v1', {
          show: some(['controllerrevisions', 'deployments', 'deployments/status']),
        })
      },
    },
    {
      name: 'aggregated discovery',
      async run(s) {
        const show = ({ kind, apiVersion, metadata, items }: Json): unknown => ({
          kind,
          apiVersion,
          metadata,
          leases: items
            .find((one: Json) => one.metadata.name === 'coordination.k8s.io')
            ?.versions.find((one: Json) => one.version === 'v1')
            ?.resources.find((one: Json) => one.resource === 'leases'),
        })
        await s.call('GET', '/apis', { accept: `${aggregated},application/json`, show })
      },
    },
    {
      name: 'a custom kind is discovered',
      async run(s) {
        const { group } = await defineWidgets(s)
        const path = `/apis/${group}/v1alpha1`
        await s.until('it is discovered', path, ({ body }) => (body?.resources ?? []).length > 0)
        await s.call('GET', path, { show: (body) => ({ ...body, resources: body.resources.map(plain) }) })
        await s.call('GET', `/apis/${group}`)
      },
    },
    {
      name: 'the version',
      async run(s) {
        await s.call('GET', '/version', {
          show: (body) => Object.keys(body).sort().slice(0, 0).concat(body.major, body.minor),
        })
        await s.call('GET', '/version', {
          show: ({ gitVersion }) => /^v\d+\.\d+\.\d+/.test(gitVersion),
        })
      },
    },
  ],
}
